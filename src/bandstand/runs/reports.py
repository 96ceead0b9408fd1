"""Which points of a job count as reports of its objective, and which ones a restart replaces."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from bandstand.metrics import Point
from bandstand.runs.faults import DoublePrint, lost_reports
from bandstand.runs.jobs import TrainingJob
from bandstand.runs.record import Record


@dataclass(frozen=True)
class Report:
    """One more report of a job's objective.

    Args:
        number: How many reports there are with it: the resource that Hyperband counts.
        iteration: The iteration that it is of.
        value: The objective.
        time: When it was printed, in epoch seconds.
    """

    number: int
    iteration: int
    value: float
    time: float


class Reports:
    """The reports of one job, over all its attempts.

    The objective has one writer: the first host that reports it. Each iteration counts once, so that neither
    a second writer nor a line printed twice looks like progress; both are warned of.

    An attempt that goes on from a checkpoint reports anew what came after it. Its first point says from where
    on: what earlier attempts had reported from that iteration on is of a training that is no more.

    Args:
        record: The store.
        job: The job, as it stands there.
    """

    def __init__(self, record: Record, job: TrainingJob) -> None:
        self.attempt = job.attempt
        self.resume_point = job.resume_point
        self._record = record
        self._job = job.name
        self._name = job.objective_name
        rows = record.read(
            "SELECT host, iteration FROM points WHERE job = ? AND name = ? ORDER BY seq",
            (job.name, self._name),
        )
        self.writer: str | None = rows[0]["host"] if rows else None
        self._iterations = {row["iteration"] for row in rows if row["host"] == self.writer}
        (lowest,) = record.read(
            "SELECT MIN(iteration) AS lowest FROM points WHERE job = ? AND attempt = ?",
            (job.name, job.attempt),
        )
        self._begin: int | None = lowest["lowest"]
        self._double = DoublePrint()
        self._gaps: list[str] = []

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self._iterations)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What looked wrong."""
        return (*self._double.warnings, *self._gaps)

    @property
    def is_silent(self) -> bool:
        """Whether the present attempt has not printed any metric yet."""
        return self._begin is None

    def begin(self, attempt: int, resume_point: int | None) -> None:
        """Take note that the job was begun once more.

        Args:
            attempt: Which attempt this is.
            resume_point: The iteration after which it goes on; None where that is not known.
        """
        self.attempt, self.resume_point, self._begin = attempt, resume_point, None

    def ordinals(self) -> Mapping[tuple[str, str], int]:
        """For each metric and host, how many values the present attempt has behind it."""
        known = self.is_silent and self.attempt > 1 and self.resume_point is not None
        rows = self._record.read(
            "SELECT name, host, COUNT(*) AS number FROM points WHERE job = ? AND iteration <= ?"
            " GROUP BY name, host",
            (self._job, self.resume_point if known else 2**62),
        )
        return {(row["name"], row["host"]): row["number"] for row in rows}

    def replaces(self, point: Point) -> int | None:
        """Take in any point of the present attempt.

        Returns:
            The iteration from which on the points of earlier attempts do not count any more, if it is news.
        """
        if self._begin is not None and point.iteration >= self._begin:
            return None
        if self.attempt == 1:
            self._begin = point.iteration
            return None
        before = self._begin
        self._begin = point.iteration
        if before is None:
            self._look_for_gap(point.iteration)
        self._iterations = {
            each
            for each in self._iterations
            if each < point.iteration or (before is not None and each >= before)
        }
        if not self._iterations:
            self.writer = None
        return point.iteration

    def _look_for_gap(self, begin: int) -> None:
        """Notice what the last attempt had trained and saved, but whose reports were lost on their way."""
        known = sorted(self._iterations)
        steps = [later - earlier for earlier, later in pairwise(known)]
        if steps and begin - known[-1] > min(steps):
            self._gaps.append(lost_reports(known[-1], begin))

    def take(self, point: Point) -> Report | None:
        """Take in a point; one that is one more report is returned as such."""
        if point.name != self._name:
            return None
        if self.writer is None:
            self.writer = point.host
        if point.host != self.writer:
            return None
        if point.iteration in self._iterations:
            self._double.seen(point)
            return None
        self._iterations.add(point.iteration)
        return Report(self.count, point.iteration, point.value, point.time)
