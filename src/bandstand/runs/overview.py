"""All jobs in brief, the newest first, page by page: a page costs what it holds, however much is stored."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from bandstand.runs.billing import billed_seconds
from bandstand.runs.documents import Document, best_row, iso
from bandstand.runs.jobs import OVER, TrainingJob, TuningJob
from bandstand.runs.record import Record
from bandstand.runs.stops import finite
from bandstand.runs.stored import training_job, tuning_job

Mark = tuple[float, str, str]
"""A place in the list: when a job was created, in epoch seconds, its name and its kind."""


@dataclass(frozen=True)
class _Brief:
    """What an overview tells of a training job of a tuning job; its plan, which is long, is not read."""

    number: int
    status: str
    interrupted: bool
    objective: float | None
    seconds: int
    definition: str


def overview(
    record: Record, *, after: Mark | None = None, most: int = -1, words: str = "", status: str = ""
) -> list[tuple[Mark, Document]]:
    """Tuning jobs, and training jobs that belong to none, the newest first.

    Args:
        record: The store.
        after: The place of the last job of the page before; None for the newest.
        most: How many at most; -1 for all.
        words: Only jobs whose name has this text, in whatever letter case.
        status: Only jobs with this status.

    Returns:
        For each its place and its document: name, kind, status, created, ended, training_jobs (how many were
        started; null for a training job), over (how many of those have ended), planned (how many there are
        to be), objective (name and goal of a tuning job's), best (the best final objective, or the training
        job's own; null without one), billable_seconds and instance_seconds.
    """
    conditions, values = ["1"], []
    if after is not None:
        conditions.append("(created, name, kind) < (?, ?, ?)")
        values += [*after]
    if words:
        conditions.append("instr(lower(name), ?) > 0")
        values += [words.lower()]
    if status:
        conditions.append("status = ?")
        values += [status]
    where = " AND ".join(conditions)
    rows = record.read(
        f"SELECT name, created, 'tuning' AS kind FROM tuning_jobs WHERE {where} UNION ALL "  # noqa: S608 - constants
        f"SELECT name, created, 'training' AS kind FROM training_jobs WHERE tuning_job IS NULL AND {where} "
        "ORDER BY created DESC, name DESC, kind DESC LIMIT ?",
        (*values, *values, most),
    )
    now = time.time()
    return [
        (
            (row["created"], row["name"], row["kind"]),
            _tuning(record, tuning_job(record, row["name"]), now)
            if row["kind"] == "tuning"
            else _training(training_job(record, row["name"]), now),
        )
        for row in rows
    ]


def _tuning(record: Record, job: TuningJob, now: float) -> Document:
    rows = _briefs(record, job.name, now)
    best = best_row(job.plan.goal, rows)
    seconds = sum(row.seconds for row in rows)
    return {
        **_entry(job, "tuning"),
        "training_jobs": len(rows),
        "over": sum(row.status in OVER for row in rows),
        "planned": job.plan.jobs,
        "objective": {"name": job.plan.objective, "goal": job.plan.goal},
        "best": finite(best.objective) if best else None,
        "billable_seconds": seconds,
        "instance_seconds": sum(
            row.seconds * job.plan.definition(row.definition).training.hosts for row in rows
        ),
    }


def _training(job: TrainingJob, now: float) -> Document:
    seconds = billed_seconds(job.started, job.ended, job.spent, now)
    return {
        **_entry(job, "training"),
        "training_jobs": None,
        "over": None,
        "planned": None,
        "objective": None,
        "best": finite(job.objective),
        "billable_seconds": seconds,
        "instance_seconds": seconds * job.plan.hosts,
    }


def _entry(job: TuningJob | TrainingJob, kind: str) -> Document:
    return {
        "name": job.name,
        "kind": kind,
        "status": job.status,
        "created": iso(job.created),
        "ended": iso(job.ended),
    }


def _briefs(record: Record, name: str, now: float) -> Sequence[_Brief]:
    rows = record.read(
        "SELECT number, status, interrupted, objective, started, ended, spent, definition FROM training_jobs"
        " WHERE tuning_job = ? ORDER BY number",
        (name,),
    )
    return [
        _Brief(
            row["number"],
            row["status"],
            bool(row["interrupted"]),
            row["objective"],
            billed_seconds(row["started"], row["ended"], row["spent"], now),
            row["definition"],
        )
        for row in rows
    ]
