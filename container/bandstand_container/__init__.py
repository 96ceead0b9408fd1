"""The built-in algorithms, each one file written against the public library alone."""
