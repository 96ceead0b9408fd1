"""One training job, followed: its new log lines become points, its state becomes rows of the record."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from bandstand.backends.backend import Backend, JobState, LogLine
from bandstand.backends.job_folder import JobFolder
from bandstand.errors import InputError, PlatformError
from bandstand.metrics import MetricParser, Point
from bandstand.runs.faults import DoublePrint, distinct, silence
from bandstand.runs.record import Record
from bandstand.runs.stops import end_document, failed_state
from bandstand.runs.stored import TrainingJob

REMEMBERED_LINES = 1000
"""Last log lines that are searched for a near miss when a job ends without its objective."""

REMEMBERED_CHARACTERS = 1000
"""How much of each of them."""

NO_FOLDER = (
    "There is nothing of this job in its folder: its launcher ended before it had started the job, or the"
    " folder was removed. Start it again."
)


@dataclass(frozen=True)
class News:
    """What is new about a job since it was last looked at.

    Args:
        state: Where it stands.
        points: New points, in order of the log.
        reports: Those of them that count as one more report of the objective each.
        lines: New log lines; empty unless they were asked for.
        offsets: How far the logs are read with this news.
        more: Whether there may be more lines already.
    """

    state: JobState
    points: tuple[Point, ...]
    reports: tuple[Point, ...]
    lines: tuple[LogLine, ...]
    offsets: Mapping[str, int]
    more: bool


class Followed:
    """A training job that is not over.

    The objective has one writer: the first host that reports it. Each iteration counts once, so that neither
    a second writer nor a line printed twice looks like progress; both are warned of.

    Args:
        record: The store.
        job: The job, as it stands there.
        keep_lines: Whether news is to hold the log lines themselves.
    """

    def __init__(self, record: Record, job: TrainingJob, *, keep_lines: bool = False) -> None:
        self.job = job
        self.state = JobState(job.status, job.secondary_status, started=job.started, ended=job.ended)
        self.reports = job.reports
        self.iterations = job.iterations
        self.objective = job.objective
        self.note = job.failure_reason or (job.stop or {}).get("reason", "")
        self.brief = ""
        self.failure_reason = job.failure_reason
        self._keep_lines = keep_lines
        self._name = job.objective_name
        self._stored_offsets = json.dumps(job.offsets)
        self._offsets: Mapping[str, int] = job.offsets
        counts = record.read(
            "SELECT name, host, COUNT(*) AS number FROM points WHERE job = ? GROUP BY name, host", (job.name,)
        )
        self._parser = MetricParser(
            job.plan.metrics, {(row["name"], row["host"]): row["number"] for row in counts}
        )
        self._points = sum(row["number"] for row in counts)
        rows = record.read(
            "SELECT host, iteration FROM points WHERE job = ? AND name = ? ORDER BY seq",
            (job.name, self._name),
        )
        self._writer: str | None = rows[0]["host"] if rows else None
        self._reported = {row["iteration"] for row in rows if row["host"] == self._writer}
        self._double = DoublePrint()
        self._recent: deque[str] = deque(maxlen=REMEMBERED_LINES)
        self._warnings = list(job.warnings)
        files = JobFolder(job.folder)
        logs = (files.log(f"algo-{number}") for number in range(1, job.plan.hosts + 1))
        self._files = tuple(os.fspath(path) for path in (files.state, *logs))
        self._stamps: tuple[tuple[int, int, int], ...] = ()
        self._end: dict[str, Any] | None = None

    @property
    def name(self) -> str:
        """The job's name."""
        return self.job.name

    @property
    def over(self) -> bool:
        """Whether its final state has been taken in."""
        return self.state.is_ended

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a person should know, one sentence each."""
        return distinct([*self._warnings, *self._parser.warnings, *self._double.warnings])

    def stirred(self) -> bool:
        """Whether the job's files have changed since this was last asked; reads none of them.

        A supervisor that was killed changes no file: `look` is to be called now and then all the same.
        """
        files = tuple(_stamp(path) for path in self._files)
        changed = files != self._stamps
        self._stamps = files
        return changed

    def look(self, backend: Backend) -> News | None:
        """Read what is new; None where nothing is.

        The state is read before the lines, so that a final state comes with all lines there will ever be.
        """
        try:
            state = backend.describe(self.job.folder)
        except InputError:
            return self.end(failed_state(NO_FOLDER, self.job, time.time()))
        points: list[Point] = []
        kept: list[LogLine] = []
        more = True
        while more:
            lines, offsets = backend.lines(self.job.folder, self._offsets)
            self._offsets = offsets
            for line in lines:
                points += self._parser.feed(line.host, line.time, line.text)
                if self._name is not None and self._writer is None:
                    self._recent.append(line.text[:REMEMBERED_CHARACTERS])
            if self._keep_lines:
                kept += lines
            more = bool(lines)
            if not state.is_ended:
                break
        if not points and not kept and state == self.state:
            return None
        return self._take(state, points, kept, more)

    def end(self, state: JobState) -> News:
        """News of an end that no backend tells, such as that of a job which could not be submitted."""
        return self._take(state, [], [], more=False)

    def write(self, connection: sqlite3.Connection, news: News) -> None:
        """Write news into the record, within a transaction: points, how far the logs are read, and the state.

        Raises:
            PlatformError: Another process wrote news of this job meanwhile.
        """
        offsets = json.dumps(dict(news.offsets))
        changed = connection.execute(
            "UPDATE training_jobs SET status = ?, secondary_status = ?, failure_reason = ?, started = ?,"
            " ended = ?, model = ?, hosts = ?, transitions = ?, reports = ?, iterations = ?, objective = ?,"
            " offsets = ?,"
            " warnings = ?, stop = COALESCE(stop, ?) WHERE name = ? AND offsets = ?",
            (
                news.state.status,
                news.state.secondary_status,
                self.failure_reason,
                news.state.started,
                news.state.ended,
                None if news.state.model is None else str(news.state.model),
                json.dumps([asdict(host) for host in news.state.hosts]),
                json.dumps([[each.status, each.time, each.message] for each in news.state.transitions]),
                self.reports,
                self.iterations,
                self.objective,
                offsets,
                json.dumps(self.warnings),
                None if self._end is None else json.dumps(self._end),
                self.name,
                self._stored_offsets,
            ),
        )
        if changed.rowcount != 1:
            raise PlatformError(
                f"The record of training job {self.name} was written by another process meanwhile;"
                " this one stops following it. `bandstand show` tells how it stands."
            )
        first = self._points + 1
        connection.executemany(
            "INSERT INTO points (job, seq, name, iteration, value, host, time) VALUES (?, ?, ?, ?, ?, ?, ?)",
            [
                (self.name, first + place, point.name, point.iteration, point.value, point.host, point.time)
                for place, point in enumerate(news.points)
            ],
        )
        self._points += len(news.points)
        self._stored_offsets = offsets

    def _take(self, state: JobState, points: list[Point], lines: list[LogLine], more: bool) -> News:
        reports = tuple(point for point in points if self._counts(point))
        if reports:
            self.reports += len(reports)
            self.objective = reports[-1].value
            self._recent.clear()
        self.iterations = max([self.iterations, *(point.iteration for point in points)])
        self.state = state
        self.failure_reason = state.failure_reason
        if state.status == "Stopped":
            self._end = end_document(state, self.job.plan)
            self.note = self.note or self._end["reason"]
        elif state.is_ended:
            self.note = state.failure_reason or ""
        if state.is_ended and self._name is not None and not self.reports and state.status != "Failed":
            cut_short = state.status == "Stopped" and state.secondary_status != "MaxRuntimeExceeded"
            said = silence(self._name, self.job.plan.metrics, self._recent, cut_short=cut_short)
            self._warnings += [said] if said else []
        return News(state, tuple(points), reports, tuple(lines), self._offsets, more)

    def _counts(self, point: Point) -> bool:
        if point.name != self._name:
            return False
        if self._writer is None:
            self._writer = point.host
        if point.host != self._writer:
            return False
        if point.iteration in self._reported:
            self._double.seen(point)
            return False
        self._reported.add(point.iteration)
        return True


def _stamp(path: str) -> tuple[int, int, int]:
    """What changes when a file is appended to or replaced; the same for every file that is not there yet."""
    try:
        found = os.stat(path)  # noqa: PTH116 - called a hundred times a second for each log
    except FileNotFoundError:
        return (0, 0, 0)
    return (found.st_ino, found.st_size, found.st_mtime_ns)
