"""What a finished or running job tells people."""
