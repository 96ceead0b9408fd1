"""A training program that reports a number of metric lines at once, or one each time it is asked to.

With the hyperparameter `asks` it prints a line whenever that file grows, and notes beside it when; else it
prints as many as `lines` says, and then stays until it is stopped if `stays` is given.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import bandstand

run = bandstand.start()
settings = run.hyperparameters
asks = settings.get("asks")
if asks is not None:
    seen = 0
    while not run.stopping:
        if Path(asks).stat().st_size > seen:
            seen += 1
            line = f"iteration={seen} loss={seen}\n"
            moment = time.clock_gettime(time.CLOCK_MONOTONIC)
            os.write(1, line.encode())
            Path(f"{asks}.{seen}.part").write_text(repr(moment))
            Path(f"{asks}.{seen}.part").rename(f"{asks}.{seen}")
        time.sleep(0.002)
else:
    for iteration in range(1, int(settings.get("lines", 1)) + 1):
        sys.stdout.write(f"iteration={iteration} loss={1 / iteration}\n")
    sys.stdout.flush()
    while settings.get("stays") and not run.stopping:
        time.sleep(0.2)
