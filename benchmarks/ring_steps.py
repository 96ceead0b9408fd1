"""Allreduce bandwidth and step time: Horovod's ring and Bandstand's steps beside torch DDP on gloo."""

from __future__ import annotations

import json
import sys
from importlib.util import find_spec

from benchmarks.bench import Bench, NotHereError
from benchmarks.children import run_child
from benchmarks.findings import Findings

WORKERS = 2
PROGRAM = "benchmarks.programs.ring_steps"


def measure(bench: Bench) -> Findings:
    """All sides in turn in the same two processes; ratios to torch's own ring and to DDP."""
    if find_spec("horovod") is None:
        raise NotHereError("Horovod is not installed here; run it by make bench-horovod.")
    findings = Findings("ring_steps")
    findings.notes.append(f"{WORKERS} ranks of one thread on this machine")
    used = run_child([sys.executable, "-m", PROGRAM, str(WORKERS), str(bench.repeats(7))])
    found: dict[str, list[float]] = json.loads(used.output.splitlines()[-1])
    spreads = {
        name: findings.side(name, "ms", [1000 * value for value in values]) for name, values in found.items()
    }
    for name, spread in spreads.items():
        side, _, what = name.partition(", ")
        other = "torch gloo" if what.startswith("allreduce") else "torch DDP on gloo"
        if side != other:
            findings.ratio(spread, spreads[f"{other}, {what}"])
    return findings
