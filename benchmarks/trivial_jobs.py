"""Trivial jobs: 30 jobs of nine reports on two slots, beside Syne Tune's local backend and Optuna."""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path

from benchmarks.bench import Bench, NotHereError
from benchmarks.children import bandstand_command, run_child
from benchmarks.findings import Findings, interleaved
from benchmarks.jobs import PROGRAMS
from benchmarks.peers import OPTUNA, SYNE_TUNE, Peer

SLOTS = 2
QUICK_POLLS = 0.1
OURS, BARE = "bandstand tune", "bare processes, no tuner"
DEFAULTS = "Syne Tune, as documented"
HURRIED = f"Syne Tune, polls every {QUICK_POLLS} s, no imports"
SUBPROCESSES = "Optuna, subprocesses"


def measure(bench: Bench) -> Findings:
    """Time a whole tuning job, from the command to its end; no side stops any job."""
    findings = Findings("trivial_jobs")
    jobs = bench.times(30, least=2)
    with bench.scratch() as folder:
        sides = {
            OURS: _bandstand(folder, jobs),
            BARE: _program(folder, sys.executable, "bare_processes.py", jobs),
        }
        found = _python(SYNE_TUNE, bench, findings)
        if found:
            home = {"SYNETUNE_FOLDER": str(folder / "syne-tune")}
            sides[DEFAULTS] = _program(
                folder,
                found,
                "syne_tune_local.py",
                jobs,
                program="nine_reports_syne_tune.py",
                environment=home,
            )
            sides[HURRIED] = _program(
                folder,
                found,
                "syne_tune_local.py",
                jobs,
                QUICK_POLLS,
                program="nine_reports_by_hand.py",
                environment=home,
            )
        found = _python(OPTUNA, bench, findings)
        if found:
            sides[SUBPROCESSES] = _program(folder, found, "optuna_subprocesses.py", jobs)
        wanted = {name: side for name, side in sides.items() if bench.wants(name)}
        seconds = interleaved(wanted, bench.repeats(3), bench.tell)
    spreads = {name: findings.side(name, "s", values) for name, values in seconds.items()}
    for name, spread in spreads.items():
        if OURS in spreads and name != OURS:
            ratio = findings.ratio(spreads[OURS], spread)
            if name == DEFAULTS:
                findings.aim(f"time of {jobs} jobs over Syne Tune's", ratio.median, 0.1)
    return findings


def _python(peer: Peer, bench: Bench, findings: Findings) -> Path | None:
    try:
        return peer.python(bench)
    except NotHereError as error:
        findings.notes.append(str(error))
        return None


def _bandstand(folder: Path, jobs: int) -> Callable[[], float]:
    job = folder / "job.toml"
    job.write_text(
        f"""name = "trivial"
program = "{PROGRAMS / "nine_reports.py"}"
output = "out"
[tuning]
metric = "validation:score"
goal = "maximize"
strategy = "random"
jobs = {jobs}
parallel = {SLOTS}
seed = 1
[ranges]
rate = {{ continuous = [0, 1] }}
""",
        encoding="utf-8",
    )
    homes = count()

    def run() -> float:
        home = folder / f"home-{next(homes)}"
        return run_child([*bandstand_command(), "tune", job, "--home", home]).seconds

    return run


def _program(
    folder: Path,
    python: str | Path,
    name: str,
    jobs: int,
    *more: object,
    program: str = "nine_reports.py",
    environment: dict[str, str] | None = None,
) -> Callable[[], float]:
    words: list[str | Path] = [PROGRAMS / name, PROGRAMS / program, str(jobs), str(SLOTS), *map(str, more)]
    return lambda: run_child([python, *words], folder=folder, environment=environment).seconds
