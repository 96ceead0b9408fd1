"""What a channel holds: all below a folder or a prefix, one file, or what a manifest lists."""
