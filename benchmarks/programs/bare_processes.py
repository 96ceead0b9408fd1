"""Trivial jobs as processes and nothing else: what nobody can be faster than.

python bare_processes.py PROGRAM JOBS SLOTS
"""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

program, jobs, slots = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])


def run(number: int) -> None:
    subprocess.run(
        [sys.executable, program, "--rate", str(number / jobs)], check=True, stdout=subprocess.PIPE
    )


with ThreadPoolExecutor(slots) as threads:
    list(threads.map(run, range(jobs)))
