"""What a watcher sees of a run: a row per training job, and the whole in one picture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True)
class JobRow:
    """One training job, as a line of the live table.

    Args:
        name: The training job's name.
        number: Its 1-based number within the tuning job; 1 for a job of its own.
        status: `InProgress`, `Stopping`, `Completed`, `Failed` or `Stopped`.
        secondary_status: SageMaker's finer word (`Starting`, `Training`, `Uploading`, ...).
        hosts: How many hosts it has.
        reports: Objective reports so far; with no objective, the greatest iteration seen.
        rung: Where it stands on its bracket, as "9 of 30"; empty where there are no rungs.
        bracket: Its Hyperband bracket; None where there is none.
        objective: The latest objective value; None while nothing was reported.
        note: Why it was stopped or why it failed, as one sentence; empty otherwise.
        brief: The same in two or three words, where a study stopped it.
        settings: The tuned hyperparameters, as text.
        definition: The name of the definition that it is made of; empty where that has none.
    """

    name: str
    number: int
    status: str
    secondary_status: str
    hosts: int
    reports: int = 0
    rung: str = ""
    bracket: int | None = None
    objective: float | None = None
    note: str = ""
    brief: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    definition: str = ""


@dataclass(frozen=True)
class Snapshot:
    """A run at one moment.

    Args:
        name: The tuning job's or training job's name.
        kind: `tuning` or `training`.
        status: Its status.
        rows: Every training job started so far, in order of their numbers.
        total: Training jobs asked for.
        ended: Training jobs that are over, however they ended.
        running: Training jobs that are not over.
        stopped: Training jobs that ended as `Stopped`.
        failed: Training jobs that ended as `Failed`.
        best: The row of the best job so far; None while there is none.
        reports_run: Objective reports of all jobs together.
        elapsed: Seconds since the run began.
    """

    name: str
    kind: str
    status: str
    rows: tuple[JobRow, ...]
    total: int
    ended: int
    running: int
    stopped: int
    failed: int
    best: JobRow | None
    reports_run: int
    elapsed: float


class Observer(Protocol):
    """Who watches a run: a live table, plain lines, a test."""

    def changed(self, snapshot: Snapshot) -> None:
        """Take a new picture of the run; called at most ten times a second, and once at the end."""

    def said(self, text: str) -> None:
        """Take one plain line that is worth telling: a job started, was stopped, failed or finished."""


@dataclass(frozen=True)
class Outcome:
    """How a run ended.

    Args:
        name: The tuning job's or training job's name.
        status: `Completed`, `Failed` or `Stopped`.
        failure_reason: Why it failed; None unless it did.
    """

    name: str
    status: str
    failure_reason: str | None = None


class StopFlag:
    """What a signal handler sets and the live loop reads: nothing, stop cleanly, or kill."""

    def __init__(self) -> None:
        self.asked = False
        self.killed = False

    def ask(self) -> None:
        """Ask for a clean stop of every job (the first Ctrl-C)."""
        self.asked = True

    def kill(self) -> None:
        """Ask for every job to be killed at once (the second Ctrl-C)."""
        self.asked = True
        self.killed = True
