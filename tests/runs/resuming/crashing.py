"""What tests of crashes share: a program that checkpoints, and what the record must say of it."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

from bandstand.runs.ledger import history
from bandstand.runs.record import Record
from bandstand.runs.stored import training_jobs
from bandstand.runs.views import show
from bandstand.study import StudySpec, replay

LAUNCH = Path(__file__).parents[1] / "launch.py"
DEADLINE_SECONDS = 120.0

STEPS = """
import fcntl, os, pathlib, sys, time

def setting(name, default):
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else default

rate, count, every = float(setting("--rate", 0.5)), int(setting("--count", 20)), int(setting("--every", 4))
folder = pathlib.Path(os.environ.get("SAGEMAKER_BASE_DIR", "/opt/ml"), "checkpoints")
lock = open(folder / "lock", "w")
fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # fails where the job runs already
saved = folder / "iteration"
begin = int(saved.read_text()) if every and saved.exists() else 0
for iteration in range(begin + 1, count + 1):
    print(f"iteration={iteration} score={rate * iteration} loss={1 / iteration}", flush=True)
    if every and iteration % every == 0:
        (folder / "fresh").write_text(str(iteration))
        (folder / "fresh").rename(saved)
    gate = setting("--gate", "")
    while gate and iteration >= int(setting("--until", 0)) and not pathlib.Path(gate).exists():
        time.sleep(0.01)
    time.sleep(0.01)
pathlib.Path(os.environ["SM_MODEL_DIR"], "model").write_text(f"{rate} {iteration}")
"""


def until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.005)


def running(mark: tuple[str, str]) -> list[int]:
    """Processes whose environment has a mark, the hosts of a test's jobs and all they started."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and "=".join(mark).encode() in (entry / "environ").read_bytes():
                found.append(int(entry.name))
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue
    return found


def lives(process: int) -> bool:
    """Whether a process is there; one that has ended and was not yet waited for has no command line."""
    try:
        return bool((Path("/proc") / str(process) / "cmdline").read_bytes())
    except (FileNotFoundError, ProcessLookupError):
        return False


def kill(processes: list[int]) -> None:
    for process in processes:
        try:
            os.kill(process, signal.SIGKILL)
        except ProcessLookupError:
            continue


def points(record: Record, job: str = "%") -> list[tuple[str, str, int, float]]:
    rows = record.read("SELECT * FROM points WHERE job LIKE ? ORDER BY job, seq", (job,))
    return [(row["job"], row["name"], row["iteration"], row["value"]) for row in rows]


def count(record: Record, table: str = "points") -> int:
    return record.read(f"SELECT COUNT(*) FROM {table}")[0][0]  # noqa: S608 - a table of ours


def ended(record: Record) -> dict[str, tuple[dict, bytes]]:
    """What is known of every training job that is over for good, and its model."""
    found = {}
    for row in training_jobs(record):
        if row.over and not row.interrupted:
            model = Path(row.model).read_bytes() if row.model else b""
            found[row.name] = (show(record, row.name), model)
    return found


def assert_each_point_once(record: Record) -> None:
    """No point twice; one that died in the pipe of a killed supervisor is missing, and that is told of."""
    for row in training_jobs(record):
        rate = float(row.settings.get("rate", 0.5))
        for metric, value in (("score", lambda n, rate=rate: rate * n), ("loss", lambda n: 1 / n)):
            of_it = [
                (iteration, found) for _, name, iteration, found in points(record, row.name) if name == metric
            ]
            assert of_it == [(n, value(n)) for n, _ in sorted(of_it)], row.name
            assert len({n for n, _ in of_it}) == len(of_it), row.name
            if of_it and of_it[-1][0] > len(of_it):
                assert any("were lost" in warning for warning in row.warnings), row.name


def assert_decisions_replay(record: Record, plan) -> None:
    again = replay(StudySpec.from_plan(plan, 7), history(record, "tuning"))
    assert again.differences == ()
    document = show(record, "tuning")
    best = again.study.best()
    assert (document["best"] or {}).get("number") == (best[0] if best else None)
    for row in document["training_jobs"]:
        assert again.study.reports(row["number"]) == row["iterations"]


def begun(record: Record, iteration: int) -> bool:
    return bool(record.read("SELECT 1 FROM points WHERE iteration >= ?", (iteration,)))
