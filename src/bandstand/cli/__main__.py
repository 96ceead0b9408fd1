"""`python -m bandstand.cli` is the `bandstand` command."""

from bandstand.cli import main

main()
