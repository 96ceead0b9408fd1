"""What is new about a training job, and how it is written into the record."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from bandstand.backends.backend import JobState, LogLine
from bandstand.errors import PlatformError
from bandstand.metrics import Point
from bandstand.runs.reports import Report


@dataclass(frozen=True)
class News:
    """What is new about a job since it was last looked at.

    Args:
        state: Where it stands.
        points: New points, in order of the log.
        reports: Those of them that count as one more report of the objective each.
        replaced_from: The iteration from which on points of earlier attempts do not count any more, or None.
        lines: New log lines; empty unless they were asked for.
        offsets: How far the logs are read with this news.
        more: Whether there may be more lines already.
    """

    state: JobState
    points: tuple[Point, ...]
    reports: tuple[Report, ...]
    lines: tuple[LogLine, ...]
    offsets: Mapping[str, int]
    more: bool
    replaced_from: int | None = None


@dataclass(frozen=True)
class Progress:
    """Where a training job stands with its news, as the record keeps it beside the state.

    Args:
        reports: Objective reports so far.
        iterations: The greatest iteration number reported.
        objective: The latest objective, or None before the first report.
        failure_reason: Why it failed; None unless it did.
        interrupted: Whether it has ended in a way after which it may be begun again.
        resume_point: The iteration after which its present attempt goes on; None where that is not known.
        warnings: What a person should know, one sentence each.
        stop: Why and where it was stopped, or None; what is written already stays.
    """

    reports: int
    iterations: int
    objective: float | None
    failure_reason: str | None
    interrupted: bool
    resume_point: int | None
    warnings: tuple[str, ...]
    stop: dict[str, Any] | None


def write_progress(
    connection: sqlite3.Connection, name: str, news: News, progress: Progress, before: str
) -> str:
    """Write where a job stands, within a transaction.

    Args:
        connection: The store.
        name: The job's name.
        news: What is new.
        progress: Where the job stands with it.
        before: How far the logs were read before, as it is stored.

    Returns:
        How far they are read now, as it is stored.

    Raises:
        PlatformError: Another process wrote news of this job meanwhile.
    """
    state, offsets = news.state, json.dumps(dict(news.offsets))
    changed = connection.execute(
        "UPDATE training_jobs SET status = ?, secondary_status = ?, failure_reason = ?, started = ?,"
        " ended = ?, model = ?, hosts = ?, transitions = ?, reports = ?, iterations = ?, objective = ?,"
        " offsets = ?, attempt = ?, spent = ?, interrupted = ?, resume_point = ?,"
        " warnings = ?, stop = COALESCE(stop, ?) WHERE name = ? AND offsets = ?",
        (
            state.status,
            state.secondary_status,
            progress.failure_reason,
            state.started,
            state.ended,
            None if state.model is None else str(state.model),
            json.dumps([asdict(host) for host in state.hosts]),
            json.dumps([[each.status, each.time, each.message] for each in state.transitions]),
            progress.reports,
            progress.iterations,
            progress.objective,
            offsets,
            state.attempt,
            state.spent,
            progress.interrupted,
            progress.resume_point,
            json.dumps(progress.warnings),
            None if progress.stop is None else json.dumps(progress.stop),
            name,
            before,
        ),
    )
    if changed.rowcount != 1:
        raise PlatformError(
            f"The record of training job {name} was written by another process meanwhile;"
            " this one stops following it. `bandstand show` tells how it stands."
        )
    return offsets


def write_points(connection: sqlite3.Connection, name: str, news: News, attempt: int, written: int) -> None:
    """Write new points, within a transaction, in place of those that do not count any more.

    Args:
        connection: The store.
        name: The job's name.
        news: What is new.
        attempt: The attempt that its points are of.
        written: The number of the last point written before.
    """
    if news.replaced_from is not None:
        connection.execute(
            "DELETE FROM points WHERE job = ? AND attempt < ? AND iteration >= ?",
            (name, attempt, news.replaced_from),
        )
    connection.executemany(
        "INSERT INTO points (job, seq, name, iteration, value, host, time, attempt)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (name, number, each.name, each.iteration, each.value, each.host, each.time, attempt)
            for number, each in enumerate(news.points, written + 1)
        ],
    )


def write_reopened(connection: sqlite3.Connection, name: str, owner: str, offsets: str) -> None:
    """Write that an interrupted job goes on, within a transaction.

    Args:
        connection: The store.
        name: The job's name.
        owner: The claim that it is run under.
        offsets: How far its logs are read, as it is stored.
    """
    connection.execute(
        "UPDATE training_jobs SET status = 'InProgress', secondary_status = 'Interrupted', owner = ?,"
        " failure_reason = NULL, ended = NULL, model = NULL, stop = NULL, interrupted = 0, offsets = ?"
        " WHERE name = ?",
        (owner, offsets, name),
    )


def write_stopped(connection: sqlite3.Connection, name: str, state: JobState) -> None:
    """Write that an interrupted job has ended for good, within a transaction.

    Args:
        connection: The store.
        name: The job's name.
        state: Its last one.
    """
    connection.execute(
        "UPDATE training_jobs SET status = ?, secondary_status = ?, failure_reason = NULL, ended = ?,"
        " interrupted = 0 WHERE name = ?",
        (state.status, state.secondary_status, state.ended, name),
    )
