"""Where one training job runs: its hosts, their lines, its end."""
