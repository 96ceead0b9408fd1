"""The record of all jobs and the live loop that joins study and backend."""
