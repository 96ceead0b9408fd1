"""What list, show and logs print: documents made from the record."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator

from bandstand.backends.backend import LogLine
from bandstand.backends.sagemaker.mirror import Mirror
from bandstand.errors import InputError, PlatformError
from bandstand.runs.documents import Document, training_document, tuning_document
from bandstand.runs.finding import find
from bandstand.runs.jobs import Kind, TrainingJob
from bandstand.runs.kinds import SAGEMAKER, backend_of
from bandstand.runs.overview import overview
from bandstand.runs.reconcile import reconcile
from bandstand.runs.record import Record
from bandstand.runs.remote.catching_up import catch_up, catch_up_all
from bandstand.runs.stored import training_job

logger = logging.getLogger(__name__)

FOLLOW_SECONDS = 0.05
"""Time between two looks at a log that is followed."""


def jobs(record: Record) -> list[Document]:
    """Every tuning job and every training job of its own, oldest first.

    Args:
        record: The store.

    Returns:
        What `overview` gives of each.
    """
    look_after(record)
    return [document for _, document in reversed(overview(record))]


def look_after(record: Record) -> None:
    """Put the record right where owners have died, and ask about what runs on SageMaker.

    Args:
        record: The store.
    """
    _put_right(record)
    for trouble in catch_up_all(record):
        logger.warning("%s", trouble)


def _put_right(record: Record) -> None:
    """Take in what has happened to jobs without an owner; what is recorded is shown where that cannot be."""
    if record.is_stale:
        return
    try:
        reconcile(record)
    except PlatformError as error:
        record.is_stale = True
        logger.warning("What is shown may be old. %s", error)


def show(record: Record, name: str, kind: Kind | None = None, *, points: bool = True) -> Document:
    """One job as a JSON-ready document.

    Args:
        record: The store.
        name: A tuning job or a training job.
        kind: Which of the two; None for the one that there is.
        points: Whether to tell every metric point; without, `metrics` is empty.

    Raises:
        InputError: There is no such job, or one of each kind.
    """
    _put_right(record)
    found = find(record, name, kind)
    trouble = catch_up(record, found)
    job = find(record, name, found.kind)
    if isinstance(job, TrainingJob):
        document = training_document(record, job, points=points)
    else:
        document = tuning_document(record, job, points=points)
    document["warnings"] += [trouble] if trouble else []
    return document


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
    _put_right(record)
    job = find(record, name, "training")
    names = [each["name"] for each in job.hosts] or [f"algo-{n}" for n in range(1, job.plan.hosts + 1)]
    if host is not None and host not in names:
        raise InputError(f"{job.name} has no host '{host}'; it has {', '.join(names)}.")
    return _lines(record, job, host, follow, stopped)


def _lines(
    record: Record, job: TrainingJob, host: str | None, follow: bool, stopped: Callable[[], bool]
) -> Iterator[LogLine]:
    elsewhere = job.backend == SAGEMAKER
    backend = Mirror() if elsewhere else backend_of(job.backend)
    offsets: dict[str, int] = {}
    while not stopped():
        if elsewhere:
            catch_up(record, job)
        try:
            over = backend.describe(job.folder).is_ended
        except InputError:  # it is not handed in yet, or never was
            reconcile(record)
            if not follow or training_job(record, job.name).over:
                return
            time.sleep(FOLLOW_SECONDS)
            continue
        lines, offsets = backend.lines(job.folder, offsets)
        yield from (line for line in lines if host is None or line.host == host)
        if not lines:
            if over or not follow:
                return
            time.sleep(FOLLOW_SECONDS)
