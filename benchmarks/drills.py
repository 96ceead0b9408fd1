"""Drills: tuning jobs killed hard at random moments and resumed, until nothing is left to kill.

Run it with `python -m benchmarks.drills --kills 100`. Each drill is one tuning job, run by the command line,
as users run it. Its launcher is killed with SIGKILL, alone, with the supervisors, or with every process there
is, and `bandstand tune --resume` goes on, to be killed again. At the end each point has to be there once, no
finished job may have changed, the decisions have to follow from the record, and no process may be left.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bandstand.runs.jobs import TrainingJob
from bandstand.runs.ledger import history
from bandstand.runs.record import Record
from bandstand.runs.stored import training_jobs, tuning_job
from bandstand.runs.views import show
from bandstand.study import StudySpec, replay
from benchmarks.bench import ROOT
from benchmarks.children import bandstand_command

REACHES = ("launcher", "supervisors", "everything")
PATIENCE_SECONDS = 300.0
MARK = "BANDSTAND_DRILL"
"""A variable of the hosts, by which the processes of a drill are found."""

_JOB = """
name = "drill"
program = "drilled.py"
code = "{code}"
output = "out"
[hyperparameters]
epochs = 12
[environment]
{mark} = "{value}"
[cluster]
instance_type = "ml.m5.large"
hosts = {hosts}
[tuning]
metric = "score"
goal = "maximize"
strategy = "hyperband"
min_resource = 1
max_resource = 9
jobs = 6
parallel = 2
seed = {seed}
[ranges]
rate = {{ continuous = [0.1, 1.0] }}
"""


class BrokenError(Exception):
    """What must not happen has happened."""


@dataclass
class Drill:
    """One tuning job that is killed and resumed.

    Args:
        folder: Where all of it lies.
        choose: Chooses moments and victims.
        kills: How often it has been killed, by reach.
        kept: What was known of each training job when it was seen to have ended.
    """

    folder: Path
    choose: random.Random
    kills: Counter[str] = field(default_factory=Counter)
    kept: dict[str, dict[str, Any]] = field(default_factory=dict)

    def run(self, most: int) -> None:
        """Run it to its end.

        Args:
            most: Most kills.

        Raises:
            BrokenError: The record, or a process that is left, is not as it has to be.
        """
        job = _JOB.format(
            code=ROOT / "benchmarks" / "programs",
            mark=MARK,
            value=self.folder.name,
            hosts=self.choose.choice((1, 2)),
            seed=self.choose.randrange(1000),
        )
        (self.folder / "job.toml").write_text(job)
        launcher = self._launch("job.toml")
        with Record.open(self.folder / "home") as record:
            while sum(self.kills.values()) < most and self._reached(record, launcher):
                reach = self.choose.choice(REACHES)
                kill(self.folder, launcher, reach)
                self.kills[reach] += 1
                if not record.read("SELECT 1 FROM tuning_jobs"):
                    launcher = self._launch("job.toml")
                    continue
                if self.choose.random() < 0.3:
                    self._look_on(record)
                self.kept = _ended(record) | self.kept
                launcher = self._launch("--resume", "drill")
            said = launcher.communicate(timeout=PATIENCE_SECONDS)[0]
            if launcher.returncode != 0 and "is over already: Completed" not in said:
                raise BrokenError(f"the launcher ended with {launcher.returncode}:\n{said}")
            self._check(record)

    def _launch(self, *words: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*bandstand_command(), "tune", *words, "--home", str(self.folder / "home")],
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def _reached(self, record: Record, launcher: subprocess.Popen[str]) -> bool:
        """Wait for the next moment to kill at, an event or any; False if the launcher ended first."""
        goal = _entries(record) + self.choose.randrange(0, 20)
        deadline = time.monotonic() + PATIENCE_SECONDS
        while _entries(record) < goal and launcher.poll() is None:
            if time.monotonic() > deadline:
                raise BrokenError("nothing happens any more")
            time.sleep(0.002)
        time.sleep(self.choose.random() * self.choose.choice((0.0, 0.05, 1.0)))
        return launcher.poll() is None

    def _look_on(self, record: Record) -> None:
        """Look at the job until nothing of it runs, which takes the lease's ten seconds where it is alive."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while show(record, "drill")["status"] in ("InProgress", "Stopping"):
            if time.monotonic() > deadline:
                raise BrokenError("the lease never ends")
            time.sleep(0.2)

    def _check(self, record: Record) -> None:
        document = show(record, "drill")
        if document["status"] != "Completed":
            raise BrokenError(f"it ended as {document['status']}: {document['failure_reason']}")
        now = _ended(record)
        changed = [name for name, facts in self.kept.items() if now.get(name) != facts]
        if changed:
            raise BrokenError(f"finished jobs have changed: {changed}")
        for row in training_jobs(record):
            check_points(record, row)
            if row.status == "Failed":
                raise BrokenError(f"{row.name} failed: {row.failure_reason}")
        job = tuning_job(record, "drill")
        again = replay(StudySpec.from_plan(job.plan, job.seed), history(record, "drill"))
        if again.differences:
            raise BrokenError(f"the decisions do not follow from the record: {again.differences}")
        reports = {row["number"]: row["iterations"] for row in document["training_jobs"]}
        if len(reports) != job.plan.jobs:
            raise BrokenError(f"{len(reports)} of {job.plan.jobs} training jobs were started")
        heard = {number: again.study.reports(number) for number in reports}
        if heard != reports:
            raise BrokenError(f"the study heard {heard} reports of {reports}")
        left = marked(self.folder.name)
        if left:
            raise BrokenError(f"processes are left: {left}")


def _entries(record: Record) -> int:
    return int(record.read("SELECT COUNT(*) FROM events")[0][0])


def _ended(record: Record) -> dict[str, dict[str, Any]]:
    rows = [row for row in training_jobs(record) if row.over and not row.interrupted]
    return {row.name: show(record, row.name) for row in rows}


def check_points(record: Record, row: TrainingJob) -> None:
    """Check that every value of a job is in the record once, in order, and right.

    Args:
        record: The store.
        row: The job, of the script `drilled.py`.

    Raises:
        BrokenError: One is missing, double or wrong.
    """
    rate = float(dict(row.plan.hyperparameters)["rate"])
    found = record.read("SELECT name, iteration, value FROM points WHERE job = ? ORDER BY seq", (row.name,))
    for metric in ("score", "loss"):
        values = [(each["iteration"], each["value"]) for each in found if each["name"] == metric]
        wanted = [(n, rate * n if metric == "score" else 1 / n) for n in range(1, len(values) + 1)]
        if values != wanted:
            raise BrokenError(f"{row.name}: {metric} is {values}; expected {wanted}")


def kill(folder: Path, launcher: subprocess.Popen[str], reach: str) -> None:
    """Kill a launcher, or the service, hard.

    Args:
        folder: The drill's own folder, by which its processes are found.
        launcher: The process.
        reach: One of REACHES: what is killed with it.
    """
    victims = [launcher.pid]
    if reach != "launcher":
        victims += processes_with(b"bandstand.backends.supervisor", os.fsencode(folder))
    if reach == "everything":
        victims += marked(folder.name)
    for process in victims:
        try:
            os.kill(process, signal.SIGKILL)
        except ProcessLookupError:
            continue
    launcher.communicate()


def processes_with(*words: bytes) -> list[int]:
    """Processes whose command line holds all of these words."""
    return [process for process, line in _read_all("cmdline") if all(word in line for word in words)]


def marked(value: str) -> list[int]:
    """The processes of a drill's hosts, by the value of their variable."""
    return [process for process, text in _read_all("environ") if f"{MARK}={value}".encode() in text]


def _read_all(name: str) -> list[tuple[int, bytes]]:
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit():
                found.append((int(entry.name), (entry / name).read_bytes()))
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue
    return found


def main(arguments: list[str] | None = None) -> int:
    """Run drills until enough was killed; print a line for each."""
    parser = argparse.ArgumentParser(prog="make drills", description=__doc__)
    parser.add_argument("--kills", type=int, default=100, help="how many kills in all")
    parser.add_argument("--seed", type=int, default=0, help="chooses moments and victims")
    chosen = parser.parse_args(arguments)
    kills: Counter[str] = Counter()
    number = 0
    begun = time.monotonic()
    while sum(kills.values()) < chosen.kills:
        number += 1
        folder = Path(tempfile.mkdtemp(prefix=f"bandstand-drill-{number}-"))
        drill = Drill(folder, random.Random(chosen.seed * 10_000 + number))
        try:
            drill.run(min(12, chosen.kills - sum(kills.values())))
        except (BrokenError, subprocess.TimeoutExpired) as error:
            print(f"drill {number}: BROKEN after {_words(drill.kills)}: {error}\nAll of it is in {folder}")
            return 1
        shutil.rmtree(folder)
        kills += drill.kills
        done = f"{sum(kills.values())} of {chosen.kills} kills, {time.monotonic() - begun:.0f} s"
        print(f"drill {number}: whole after {_words(drill.kills)} ({done})", flush=True)
    print(f"{number} drills, {_words(kills)}: nothing lost, nothing twice, nothing left running")
    return 0


def _words(kills: Counter[str]) -> str:
    parts = ", ".join(f"{kills[reach]} of {reach}" for reach in REACHES if kills[reach])
    return f"{sum(kills.values())} kills ({parts})" if parts else "no kill"


if __name__ == "__main__":
    sys.exit(main())
