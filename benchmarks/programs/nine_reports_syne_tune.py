"""The same nine reports, told as Syne Tune's documentation shows it."""

# mypy: ignore-errors
# Types of the peer's environment are not those of the project's.

import argparse

from syne_tune import Reporter

parser = argparse.ArgumentParser()
parser.add_argument("--rate", type=float, required=True)
rate = parser.parse_known_args()[0].rate
report = Reporter()
for iteration in range(1, 10):
    report(iteration=iteration, score=rate * iteration)
