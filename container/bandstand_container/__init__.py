"""The built-in algorithms, each written with what any script may use."""
