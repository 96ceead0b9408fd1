"""Stopping a job from any terminal, whether its launcher lives or not."""

from __future__ import annotations

import json
import time

from bandstand.runs.kinds import backend_of
from bandstand.runs.ownership import alive
from bandstand.runs.reconcile import reconcile
from bandstand.runs.record import Record
from bandstand.runs.stops import plain_stop
from bandstand.runs.stored import OPEN, training_job, training_jobs, tuning_job


def request_stop(record: Record, name: str, grace: float | None = None) -> str:
    """Stop a tuning job or a training job; returns at once.

    Args:
        record: The store.
        name: The job.
        grace: Seconds between SIGTERM and SIGKILL; None for what its launcher was given.

    Returns:
        One sentence that says what was done. A job that is over is left as it is.

    Raises:
        InputError: There is no such job.
    """
    reconcile(record)
    if record.kind(name) == "tuning":
        return _stop_tuning(record, name, grace)
    return _stop_training(record, name, grace)


def _stop_training(record: Record, name: str, grace: float | None) -> str:
    job = training_job(record, name)
    if job.over:
        return f"{job.name} is over already: {job.status}."
    seconds = job.grace if grace is None else grace
    reason = json.dumps(plain_stop("user", "Stopped on request."))
    with record.transaction() as connection:
        connection.execute(
            "UPDATE training_jobs SET stop_asked = ?, stop = COALESCE(stop, ?) WHERE name = ?",
            (time.time(), reason, name),
        )
    backend_of(job.backend).stop(job.folder, seconds)
    return f"{job.name} was asked to stop; its hosts have {seconds:g} s to end by themselves."


def _stop_tuning(record: Record, name: str, grace: float | None) -> str:
    job = tuning_job(record, name)
    if job.over:
        return f"{job.name} is over already: {job.status}."
    seconds = job.grace if grace is None else grace
    with record.transaction() as connection:
        connection.execute(
            "UPDATE tuning_jobs SET stop_asked = ?, stop_grace = ? WHERE name = ?",
            (time.time(), seconds, name),
        )
    running = training_jobs(record, f"{OPEN} AND tuning_job = ?", (name,))
    jobs = "1 training job" if len(running) == 1 else f"{len(running)} training jobs"
    each = f"{jobs}, {seconds:g} s for each to end by itself"
    if alive(record, job.owner):
        if job.status == "Stopping":
            for one in running:
                backend_of(one.backend).stop(one.folder, seconds)
        return f"{job.name} was asked to stop ({each})."
    reconcile(record)
    return f"{job.name} has no launcher any more; what still ran was asked to stop ({each})."
