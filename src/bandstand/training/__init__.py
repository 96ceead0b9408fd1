"""What runs inside the image: start-up, rendezvous, ranks, the public run object."""
