"""A trivial training program: nine reports and no work. Standard library only."""

import argparse

parser = argparse.ArgumentParser()
parser.add_argument("--rate", type=float, required=True)
rate = parser.parse_known_args()[0].rate
for iteration in range(1, 10):
    print(f"iteration={iteration} validation:score={rate * iteration}", flush=True)
