"""Stop latency: from a report printed in a host to SIGTERM seen by the program, in every host."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from itertools import count
from pathlib import Path

from benchmarks.bench import Bench, NotHereError
from benchmarks.children import bandstand_command, run_child
from benchmarks.findings import Findings
from benchmarks.jobs import PROGRAMS

AIM_MILLISECONDS = 50
_TOLD = re.compile(r"stopped at=(\S+) reported=(\S+)")
_BARE = """
import os, signal, time
def told(number, frame):
    os.write(1, repr(time.clock_gettime(time.CLOCK_MONOTONIC)).encode())
    os._exit(0)
signal.signal(signal.SIGTERM, told)
os.write(1, (repr(time.clock_gettime(time.CLOCK_MONOTONIC)) + "\\n").encode())
while True:
    signal.pause()
"""


def measure(bench: Bench) -> Findings:
    """Run tuning jobs whose training jobs are all stopped at their first report.

    The last host counts: the latency of a job is that of the host that sees SIGTERM last. Beside it, what
    nobody can be faster than: one process that reads a line from another's pipe and signals it.
    """
    findings = Findings("stop_latency")
    cases = [(hosts, busy) for hosts in (1, 3) for busy in (False, True)]
    if bench.scale < 0.1:
        cases = [cases[0], cases[-1]]
    found: dict[tuple[int, bool], list[float]] = {case: [] for case in cases}
    bare: list[float] = []
    with bench.scratch() as folder:
        homes = count()
        repeats = bench.repeats(3)
        for number in range(1, repeats + 1):
            for hosts, busy in cases:
                bench.tell(f"{number} of {repeats}: {_name(hosts, busy)}")
                home = folder / f"home-{next(homes)}"
                found[hosts, busy] += _stops(folder, home, hosts, busy, bench.times(12, least=1))
            bare += [_bare() for _ in range(bench.times(12, least=1))]
    findings.side("a pipe and a signal, nothing else", "ms", bare)
    for (hosts, busy), values in found.items():
        spread = findings.side(_name(hosts, busy), "ms", values)
        findings.aim(f"median, {_name(hosts, busy)}", spread.median, AIM_MILLISECONDS, "ms")
    return findings


def _name(hosts: int, busy: bool) -> str:
    return f"{hosts} host{'s' if hosts > 1 else ''}, {'4 busy jobs in parallel' if busy else 'one idle job'}"


def _stops(folder: Path, home: Path, hosts: int, busy: bool, jobs: int) -> list[float]:
    """Milliseconds of each job."""
    job = folder / "job.toml"
    job.write_text(
        f"""name = "stops"
program = "{PROGRAMS / "stopped_program.py"}"
output = "out"
[hyperparameters]
busy = {int(busy)}
[cluster]
hosts = {hosts}
threads = 1
[tuning]
metric = "validation:score"
goal = "maximize"
strategy = "hyperband"
min_resource = 1
max_resource = 1
jobs = {jobs}
parallel = {4 if busy else 1}
seed = 1
[ranges]
rate = {{ continuous = [0, 1] }}
""",
        encoding="utf-8",
    )
    run_child([*bandstand_command(), "tune", job, "--home", home])
    latencies = []
    for path in sorted((home / "jobs").iterdir()):
        told = [_TOLD.search(log.read_text()) for log in sorted((path / "logs").iterdir())]
        if not told or None in told:
            raise NotHereError(f"{path.name} was stopped, but not every host has said when.")
        at = [float(match[1]) for match in told if match]
        reported = max(float(match[2]) for match in told if match)
        latencies.append((max(at) - reported) * 1000)
    return latencies


def _bare() -> float:
    with subprocess.Popen([sys.executable, "-c", _BARE], stdout=subprocess.PIPE, text=True) as process:
        if process.stdout is None:
            raise NotHereError("The pipe of a process is not there.")
        reported = float(process.stdout.readline())
        os.kill(process.pid, signal.SIGTERM)
        return (float(process.stdout.read()) - reported) * 1000
