"""One training job, followed: its new log lines become points, its state becomes rows of the record."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from bandstand.backends.backend import Backend, JobState, LogLine
from bandstand.backends.job_folder import JobFolder
from bandstand.backends.log_reader import left_behind, whole_bytes
from bandstand.errors import InputError
from bandstand.metrics import MetricParser, Point
from bandstand.rank_notes import noted_resume
from bandstand.runs.faults import COUNTED_AGAIN, distinct, silence
from bandstand.runs.jobs import TrainingJob
from bandstand.runs.news import News, Progress, write_points, write_progress, write_reopened, write_stopped
from bandstand.runs.record import Record
from bandstand.runs.reports import Reports
from bandstand.runs.stops import end_document, failed_state, resume_advice, stopped_state

REMEMBERED_LINES = 1000
"""Last log lines that are searched for a near miss when a job ends without its objective."""

REMEMBERED_CHARACTERS = 1000
"""How much of each of them."""

NO_FOLDER = (
    "There is nothing of this job in its folder: its launcher ended before it had started the job, or the"
    " folder was removed."
)

NOTE_SECONDS = 1.0
"""How long the first value of an attempt waits for the note that says from where on it counts."""

INTERRUPTED = "interruption"
"""The cause of an end after which whoever runs the job begins it again, as with spot instances."""

LOST = ("owner", "lost")
"""Causes of an end that says nothing of the job itself: it may be begun again."""


class Followed:
    """A training job of the record, with what is to be known to go on reading it.

    Args:
        record: The store.
        job: The job, as it stands there.
        keep_lines: Whether news is to hold the log lines themselves.
        resumable: Whether the loss of its owner interrupts the job, rather than ending it.
    """

    def __init__(
        self, record: Record, job: TrainingJob, *, keep_lines: bool = False, resumable: bool = False
    ) -> None:
        self.job = job
        self.state = JobState(
            job.status,
            job.secondary_status,
            started=job.started,
            ended=job.ended,
            attempt=job.attempt,
            spent=job.spent,
        )
        self.interrupted = job.interrupted
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
        self._counted = Reports(record, job)
        self._parser = MetricParser(job.plan.metrics, self._counted.ordinals())
        (last,) = record.read("SELECT MAX(seq) AS seq FROM points WHERE job = ?", (job.name,))
        self._points = last["seq"] or 0
        self._resumable = resumable
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
        return distinct([*self._warnings, *self._parser.warnings, *self._counted.warnings])

    def is_as_stored(self, job: TrainingJob) -> bool:
        """Whether nobody else has written news of the job meanwhile."""
        return self._stored_offsets == json.dumps(job.offsets)

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
            gone = failed_state(NO_FOLDER, self.job, time.time(), "lost")
            return self.end(replace(gone, faults=self.job.plan.retries))
        if state.attempt > self._counted.attempt:
            self._counted.begin(state.attempt, None if state.had_checkpoints else 0)
            self._read_anew()
        points: list[Point] = []
        kept: list[LogLine] = []
        more = True
        while more:
            lines, offsets = backend.lines(self.job.folder, self._offsets)
            if not self._may_read(lines, state):
                break
            before, self._offsets = self._offsets, offsets
            for line in lines:
                points += self._parser.feed(line.host, line.time, line.text)
                if self._name is not None and self._counted.writer is None:
                    self._recent.append(line.text[:REMEMBERED_CHARACTERS])
            if self._keep_lines:
                kept += lines
            more = bool(lines)
            if not state.is_ended:
                more = left_behind(before, offsets)
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
        progress = Progress(
            self.reports,
            self.iterations,
            self.objective,
            self.failure_reason,
            self.interrupted,
            self._counted.resume_point,
            self.warnings,
            self._end,
        )
        offsets = write_progress(connection, self.name, news, progress, self._stored_offsets)
        write_points(connection, self.name, news, self._counted.attempt, self._points)
        self._points += len(news.points)
        self._stored_offsets = offsets

    def reopen(self, connection: sqlite3.Connection, owner: str) -> None:
        """Write that an interrupted job goes on, within a transaction; its backend starts it afterwards.

        Its state tells of the attempt that is to come, and of the time that those before it took.
        What a machine that lost its power has not kept of a log is written again from there on.

        Args:
            connection: The store.
            owner: The claim that it is run under.
        """
        files = JobFolder(self.job.folder)
        self._offsets = {
            host: min(offset, whole_bytes(files.log(host))) for host, offset in self._offsets.items()
        }
        self._stored_offsets = json.dumps(dict(self._offsets))
        write_reopened(connection, self.name, owner, self._stored_offsets)
        self.state = replace(
            self.state,
            status="InProgress",
            secondary_status="Interrupted",
            started=None,
            ended=None,
            attempt=self.state.attempt + (self.state.started is not None),
            spent=self.state.seconds,
        )
        self.interrupted, self._resumable, self._end = False, False, None
        self.failure_reason, self.note = None, ""

    def end_stopped(self, connection: sqlite3.Connection, now: float) -> None:
        """End an interrupted job for good, within a transaction: it had been told to stop before.

        Args:
            connection: The store.
            now: Epoch seconds.
        """
        self.state = stopped_state(self.state, now)
        self.interrupted, self.failure_reason = False, None
        write_stopped(connection, self.name, self.state)

    def _may_read(self, lines: list[LogLine], state: JobState) -> bool:
        """Whether it is known from where on the present attempt counts, or nobody is going to say.

        The note that says it comes on another stream than values do, so it may stand after them in the log:
        values without a number of their own wait for it a moment.
        """
        counted = self._counted
        if counted.attempt == 1 or not counted.is_silent or counted.resume_point is not None:
            return True
        noted = next(filter(None, (noted_resume(line.text) for line in lines)), None)
        if noted is not None:
            counted.resume_point = noted
            self._read_anew()
            return True
        scratch = MetricParser(self.job.plan.metrics)
        values = (line for line in lines if scratch.feed(line.host, line.time, line.text))
        first = next(values, None)
        if first is None or "iteration=" in first.text:
            return True
        if not state.is_ended and time.time() - first.time < NOTE_SECONDS:
            return False
        self._warnings.append(COUNTED_AGAIN)
        return True

    def _read_anew(self) -> None:
        """Count values without an iteration number from where the present attempt goes on."""
        self._warnings += self._parser.warnings
        self._parser = MetricParser(self.job.plan.metrics, self._counted.ordinals())

    def _take(self, state: JobState, points: list[Point], lines: list[LogLine], more: bool) -> News:
        replaced = [begin for point in points if (begin := self._counted.replaces(point)) is not None]
        reports = tuple(report for point in points if (report := self._counted.take(point)) is not None)
        if replaced:
            self.iterations = 0
        if reports:
            self.objective = reports[-1].value
            self._recent.clear()
        self.reports = self._counted.count
        self.iterations = max([self.iterations, *(point.iteration for point in points)])
        self.state = state
        self.failure_reason = state.failure_reason
        self.interrupted = state.is_ended and self._goes_on(state)
        if state.status == "Stopped":
            self._end = end_document(state, self.job)
            self.note = self.note or self._end["reason"]
        elif state.is_ended:
            if self.interrupted:
                self.failure_reason = f"{state.failure_reason} {resume_advice(self.job)}"
            self.note = self.failure_reason or ""
        silent = self._name is not None and not self.reports and not self.interrupted
        if state.is_ended and silent and state.status != "Failed":
            self._warn_of_silence(state)
        return News(
            state, tuple(points), reports, tuple(lines), self._offsets, more, min(replaced, default=None)
        )

    def _goes_on(self, state: JobState) -> bool:
        """Whether an end is none of the job itself, and somebody begins it again."""
        if state.cause == "lost" and state.faults < self.job.plan.retries:
            return True
        return state.cause == INTERRUPTED or (self._resumable and state.cause in LOST)

    def _warn_of_silence(self, state: JobState) -> None:
        cut_short = state.status == "Stopped" and state.secondary_status != "MaxRuntimeExceeded"
        said = silence(self._name or "", self.job.plan.metrics, self._recent, cut_short=cut_short)
        self._warnings += [said] if said else []


def _stamp(path: str) -> tuple[int, int, int]:
    """What changes when a file is appended to or replaced; the same for every file that is not there yet."""
    try:
        found = os.stat(path)  # noqa: PTH116 - called a hundred times a second for each log
    except FileNotFoundError:
        return (0, 0, 0)
    return (found.st_ino, found.st_size, found.st_mtime_ns)
