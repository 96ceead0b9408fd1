"""The rendezvous of one job's hosts and ranks: a star around the leader, in authenticated, bounded JSON."""
