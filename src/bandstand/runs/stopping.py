"""Stopping a job from any terminal, whether its launcher lives or not."""

from __future__ import annotations

import json
import time

from bandstand.backends.sagemaker.service_file import read_served
from bandstand.errors import InputError
from bandstand.runs.finding import find
from bandstand.runs.jobs import Kind, TrainingJob, TuningJob
from bandstand.runs.kinds import SAGEMAKER, backend_of
from bandstand.runs.ownership import alive
from bandstand.runs.reconcile import reconcile
from bandstand.runs.record import Record
from bandstand.runs.remote.catching_up import catch_up
from bandstand.runs.stops import plain_stop
from bandstand.runs.stored import OPEN, training_jobs


def request_stop(record: Record, name: str, grace: float | None = None, *, kind: Kind | None = None) -> str:
    """Stop a tuning job or a training job; returns at once.

    Args:
        record: The store.
        name: The job.
        grace: Seconds between SIGTERM and SIGKILL; None for what its launcher was given.
        kind: Which of the two; None for the one that there is.

    Returns:
        One sentence that says what was done. A job that is over is left as it is.

    Raises:
        InputError: There is no such job, or one of each kind.
    """
    reconcile(record)
    job = find(record, name, kind)
    if job.backend == SAGEMAKER:
        return _stop_elsewhere(record, job)
    if isinstance(job, TuningJob):
        return _stop_tuning(record, job, grace)
    return _stop_training(record, job, grace)


def _stop_elsewhere(record: Record, job: TuningJob | TrainingJob) -> str:
    """Stop a job that runs on SageMaker, which gives each host 120 s."""
    from bandstand.backends.sagemaker.stopping import stop_job
    from bandstand.runs.remote.starting import hand_in

    trouble = catch_up(record, job)
    job = find(record, job.name, job.kind)
    if job.over:
        return f"{job.name} is over already: {job.status}."
    served = read_served(record.folder(job.name, job.kind))
    if served is None:
        raise InputError(f"{trouble} Stop it in the console of SageMaker.")
    if served.arn is None and served.submitted is not None:
        hand_in(record, job.name, job.kind)  # only what SageMaker has acknowledged can be stopped
    with record.transaction() as connection:
        connection.execute(
            f"UPDATE {job.kind}_jobs SET stop_asked = COALESCE(stop_asked, ?) WHERE name = ?",  # noqa: S608 - our tables
            (time.time(), job.name),
        )
    stop_job(served.there(), served.name, tuning=job.kind == "tuning")
    return f"{job.name} was asked to stop; SageMaker gives its hosts 120 s to end by themselves."


def _stop_training(record: Record, job: TrainingJob, grace: float | None) -> str:
    if job.over:
        return f"{job.name} is over already: {job.status}."
    seconds = job.grace if grace is None else grace
    reason = json.dumps(plain_stop("user", "Stopped on request."))
    with record.transaction() as connection:
        connection.execute(
            "UPDATE training_jobs SET stop_asked = ?, stop = COALESCE(stop, ?) WHERE name = ?",
            (time.time(), reason, job.name),
        )
    backend_of(job.backend).stop(job.folder, seconds)
    return f"{job.name} was asked to stop; its hosts have {seconds:g} s to end by themselves."


def _stop_tuning(record: Record, job: TuningJob, grace: float | None) -> str:
    if job.over:
        return f"{job.name} is over already: {job.status}."
    seconds = job.grace if grace is None else grace
    with record.transaction() as connection:
        connection.execute(
            "UPDATE tuning_jobs SET stop_asked = ?, stop_grace = ? WHERE name = ?",
            (time.time(), seconds, job.name),
        )
    running = training_jobs(record, f"{OPEN} AND tuning_job = ?", (job.name,))
    jobs = "1 training job" if len(running) == 1 else f"{len(running)} training jobs"
    each = f"{jobs}, {seconds:g} s for each to end by itself"
    if alive(record, job.owner):
        if job.status == "Stopping":
            for one in running:
                backend_of(one.backend).stop(one.folder, seconds)
        return f"{job.name} was asked to stop ({each})."
    reconcile(record)
    return f"{job.name} has no launcher any more; what still ran was asked to stop ({each})."
