"""Process 1 of a host: finds the program, meets the other hosts, starts the ranks, tells how they ended."""
