"""Interrupting a job on purpose, as managed spot training does: a drill before it costs money."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from bandstand.backends.attempt import capacity_for
from bandstand.backends.backend import JobState
from bandstand.backends.job_folder import JobFolder
from bandstand.backends.requests import Interruption, request_interruption
from bandstand.backends.state_file import read_state
from bandstand.errors import InputError
from bandstand.runs.documents import is_resumable
from bandstand.runs.finding import find
from bandstand.runs.jobs import Kind, TrainingJob
from bandstand.runs.kinds import SAGEMAKER
from bandstand.runs.ownership import alive
from bandstand.runs.reconcile import reconcile
from bandstand.runs.record import Record
from bandstand.runs.stored import OPEN, training_job, training_jobs

INTERRUPTIBLE = ("Starting", "Downloading", "Training")
"""Secondary statuses in which a job has instances, or waits for some, that can be taken away."""


@dataclass(frozen=True)
class Interrupted:
    """A training job that was told to lose its hosts.

    Args:
        name: The training job.
        steps: How many steps its life had before.
        has_hosts: Whether it had hosts, rather than waiting for capacity.
    """

    name: str
    steps: int
    has_hosts: bool = True


def interrupt(
    record: Record, name: str, interruption: Interruption, *, kind: Kind | None = None
) -> list[Interrupted]:
    """Interrupt a training job, or each running one of a tuning job; returns at once.

    Args:
        record: The store.
        name: The job.
        interruption: How.
        kind: Whether a tuning job or a training job is meant; None for the one that there is.

    Returns:
        The training jobs that were interrupted, for `again`.

    Raises:
        InputError: There is no such job, or one of each kind; it is no spot job, or nothing of it runs here.
    """
    rows = _running(record, name, kind)
    states = [(row, _state(row)) for row in rows]
    found = [
        (row, state)
        for row, state in states
        if row.plan.spot and state and state.secondary_status in INTERRUPTIBLE
    ]
    if not found:
        raise InputError(f"{name} has no hosts that could be interrupted now: {_statuses(states)}.")
    told = []
    for row, state in found:
        folder = JobFolder(row.folder)
        waits = capacity_for(folder, state) > time.time()
        told.append(Interrupted(row.name, len(state.transitions), has_hosts=not waits))
        request_interruption(folder, interruption)
    return told


def again(record: Record, job: Interrupted) -> str | None:
    """How a job goes on that was interrupted, in one sentence; None while it is not known.

    Args:
        record: The store.
        job: The job.
    """
    reconcile(record)
    row = training_job(record, job.name)
    steps = iter(row.transitions[job.steps :])
    if any(status == "Interrupted" for status, _, _ in steps):
        for status, _, text in steps:
            if status == "Starting":
                return text
    return f"It is over: {row.status}." if row.over else None


def _running(record: Record, name: str, kind: Kind | None) -> Sequence[TrainingJob]:
    """The training jobs of a name that may be interrupted."""
    reconcile(record)
    job = find(record, name, kind)
    tuning = job.kind == "tuning"
    rows = training_jobs(record, f"{OPEN} AND {'tuning_job' if tuning else 'name'} = ?", (job.name,))
    if job.backend == SAGEMAKER:
        raise InputError(f"{job.name} runs on SageMaker, which alone interrupts its instances.")
    if job.over and not (job.interrupted if isinstance(job, TrainingJob) else is_resumable(record, job)):
        raise InputError(f"{job.name} is over already: {job.status}. There is nothing to interrupt.")
    if rows and not any(row.plan.spot for row in rows):
        raise InputError(
            f"{job.name} is no spot job, and SageMaker interrupts no other. Ask for managed spot training:"
            " spot_seconds in the table [stopping] of a job file, and checkpoints; or in a request"
            " EnableManagedSpotTraining, MaxWaitTimeInSeconds and CheckpointConfig."
        )
    if not alive(record, job.owner):
        verb = "tune" if tuning else "train"
        raise InputError(
            f"Nobody runs {job.name} any more, so nobody would start it again. Go on with it first:"
            f" bandstand {verb} --resume {job.name}"
        )
    return rows


def _state(row: TrainingJob) -> JobState | None:
    try:
        return read_state(JobFolder(row.folder))
    except FileNotFoundError:  # it is just being handed in
        return None


def _statuses(states: Sequence[tuple[TrainingJob, JobState | None]]) -> str:
    words = [
        f"{row.name} is {state.secondary_status if state else 'being handed in'}" for row, state in states
    ]
    return ", ".join(words) or "none of its training jobs runs"
