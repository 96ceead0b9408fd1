"""`python -m bandstand.training [train]`: process 1 of a host."""

from __future__ import annotations

import sys

from bandstand.training import main

main(sys.argv[1:])
