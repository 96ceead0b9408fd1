"""The same nine reports in Syne Tune's form, without the time that importing it takes."""

import argparse
import json
import time

parser = argparse.ArgumentParser()
parser.add_argument("--rate", type=float, required=True)
rate = parser.parse_known_args()[0].rate
for iteration in range(1, 10):
    told = {"iteration": iteration, "score": rate * iteration, "st_worker_timestamp": time.time()}
    print(
        f"[tune-metric]: {json.dumps({**told, 'st_worker_time': 0.0, 'st_worker_iter': iteration - 1})}",
        flush=True,
    )
