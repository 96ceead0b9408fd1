"""Reports once, on one host, and says when it did and when SIGTERM came, on all of them.

With --busy 1 it uses a processor all the time, else it sleeps.
"""

import argparse
import os
import signal
import sys
import time

import bandstand

parser = argparse.ArgumentParser()
parser.add_argument("--busy", type=int, default=0)
busy = parser.parse_known_args()[0].busy
reported = 0.0


def told(_number: int, _frame: object) -> None:
    now = time.clock_gettime(time.CLOCK_MONOTONIC)
    # At once, past Python's own buffers: the handler may have come in the middle of anything.
    os.write(1, f"stopped at={now!r} reported={reported!r}\n".encode())
    os._exit(0)


run = bandstand.start()
signal.signal(signal.SIGTERM, told)
run.barrier()
end = time.monotonic() + 0.3
while busy and time.monotonic() < end:
    pass
if run.is_leader:
    sys.stdout.flush()
    reported = time.clock_gettime(time.CLOCK_MONOTONIC)
    os.write(1, b"iteration=1 validation:score=0.5\n")
while True:
    if not busy:
        signal.pause()
