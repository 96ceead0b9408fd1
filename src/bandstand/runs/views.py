"""What list, show and logs print: documents made from the record."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from bandstand.backends.backend import LogLine
from bandstand.errors import InputError
from bandstand.runs.documents import Document, best_row, iso, training_document, tuning_document
from bandstand.runs.kinds import backend_of
from bandstand.runs.reconcile import reconcile
from bandstand.runs.record import Record
from bandstand.runs.stops import finite
from bandstand.runs.stored import (
    TrainingJob,
    TuningJob,
    training_job,
    training_jobs,
    tuning_job,
    tuning_jobs,
)

FOLLOW_SECONDS = 0.05
"""Time between two looks at a log that is followed."""


def jobs(record: Record) -> list[Document]:
    """Every tuning job and every training job of its own, oldest first.

    Args:
        record: The store.

    Returns:
        For each: name, kind, status, created, ended, training_jobs (how many were started; null for a
        training job) and best (the best final objective, or the training job's own; null without one).
    """
    reconcile(record)
    found: list[tuple[float, Document]] = []
    for job in tuning_jobs(record):
        rows = training_jobs(record, "tuning_job = ?", (job.name,))
        best = best_row(job.plan.goal, rows)
        found.append((job.created, _entry(job, "tuning", len(rows), best.objective if best else None)))
    for lone in training_jobs(record, "tuning_job IS NULL"):
        found.append((lone.created, _entry(lone, "training", None, lone.objective)))
    return [document for _, document in sorted(found, key=lambda item: item[0])]


def show(record: Record, name: str) -> Document:
    """One job as a JSON-ready document.

    Args:
        record: The store.
        name: A tuning job or a training job.

    Raises:
        InputError: There is no such job.
    """
    reconcile(record)
    if record.kind(name) == "tuning":
        return tuning_document(record, tuning_job(record, name))
    return training_document(record, training_job(record, name))


def log_lines(
    record: Record,
    name: str,
    host: str | None = None,
    *,
    follow: bool = False,
    stopped: Callable[[], bool] = lambda: False,
) -> Iterator[LogLine]:
    """The log lines of a training job in order of time.

    Args:
        record: The store.
        name: The training job.
        host: Only this host's lines; None for all.
        follow: Whether to go on until the job is over.
        stopped: Asked now and then while following; ends it when true.

    Raises:
        InputError: There is no such training job, or it has no such host.
    """
    reconcile(record)
    if record.kind(name) == "tuning":
        raise InputError(
            f"{name} is a tuning job; its training jobs have logs. `bandstand show {name}` names them."
        )
    job = training_job(record, name)
    names = [each["name"] for each in job.hosts] or [f"algo-{n}" for n in range(1, job.plan.hosts + 1)]
    if host is not None and host not in names:
        raise InputError(f"{job.name} has no host '{host}'; it has {', '.join(names)}.")
    return _lines(job, host, follow, stopped)


def _lines(
    job: TrainingJob, host: str | None, follow: bool, stopped: Callable[[], bool]
) -> Iterator[LogLine]:
    backend = backend_of(job.backend)
    offsets: dict[str, int] = {}
    while not stopped():
        try:
            over = backend.describe(job.folder).is_ended
        except InputError:  # never submitted: there is no log
            return
        lines, offsets = backend.lines(job.folder, offsets)
        yield from (line for line in lines if host is None or line.host == host)
        if not lines:
            if over or not follow:
                return
            time.sleep(FOLLOW_SECONDS)


def _entry(job: TuningJob | TrainingJob, kind: str, count: int | None, best: float | None) -> Document:
    return {
        "name": job.name,
        "kind": kind,
        "status": job.status,
        "created": iso(job.created),
        "ended": iso(job.ended),
        "training_jobs": count,
        "best": finite(best),
    }
