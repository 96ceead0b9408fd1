"""A training script that keeps its count in /opt/ml/checkpoints, and knows nothing but its arguments."""

import argparse
import pathlib
import time

parser = argparse.ArgumentParser()
parser.add_argument("--rounds", type=int)
parser.add_argument("--hold", type=pathlib.Path)
settings, _ = parser.parse_known_args()
saved = pathlib.Path("/opt/ml/checkpoints/count")
begin = int(saved.read_text()) if saved.exists() else 0
print(f"begins after {begin}", flush=True)
for count in range(begin + 1, settings.rounds + 1):
    print(f"count={count} score={count / 10};", flush=True)
    partial = saved.with_name("partial")
    partial.write_text(str(count))
    partial.rename(saved)
    while count == 3 and settings.hold.exists():
        time.sleep(0.05)
pathlib.Path("/opt/ml/model/count").write_text(str(count))
