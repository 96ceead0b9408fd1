"""Taking a job over whose launcher is gone: who may, how it is claimed, and what has changed meanwhile."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path

from bandstand.channels.objects import SCHEME, matches
from bandstand.errors import InputError
from bandstand.hyperparameter_text import unquoted
from bandstand.request.custom_metric_rules import custom_metrics
from bandstand.request.plan import TrainingPlan, local_path
from bandstand.runs.documents import is_resumable
from bandstand.runs.finding import find, words_for
from bandstand.runs.jobs import TrainingJob, TuningJob
from bandstand.runs.ownership import Claim, alive, owner_words
from bandstand.runs.record import Record
from bandstand.runs.stored import OPEN, training_job, training_jobs, tuning_job, tuning_jobs

_SHOWN = 3


def resumable_tuning(record: Record, name: str) -> TuningJob:
    """Give a tuning job that may be resumed.

    Args:
        record: The store.
        name: The tuning job.

    Raises:
        InputError: There is no such tuning job, it is over, a living launcher runs it, or what it needs is
            gone from this machine.
    """
    # Of two jobs of the name the verb means its own; one of the other kind is found to tell its verb.
    job = find(record, name, "tuning" if tuning_jobs(record, "name = ?", (name,)) else None)
    if isinstance(job, TrainingJob):
        whole = f"tune --resume {job.tuning_job}" if job.tuning_job else f"train --resume {job.name}"
        raise InputError(f"{job.name} is a training job. Go on with: bandstand {whole}")
    _refuse_owned(record, job)
    if job.over and not is_resumable(record, job):
        raise InputError(_over(record, job))
    _refuse_vanished(job.name, [each.training for each in job.plan.definitions])
    return job


def resumable_training(record: Record, name: str) -> TrainingJob:
    """Give a training job of its own that may be resumed.

    Args:
        record: The store.
        name: The training job.

    Raises:
        InputError: There is no such training job, it is part of a tuning job, it is over, a living launcher
            runs it, or what it needs is gone from this machine.
    """
    # As for a tuning job: the verb means its own.
    job = find(record, name, "training" if training_jobs(record, "name = ?", (name,)) else None)
    if isinstance(job, TuningJob):
        raise InputError(f"{name} is a tuning job. Go on with: bandstand tune --resume {name}")
    if job.tuning_job is not None:
        raise InputError(
            f"{job.name} belongs to tuning job {job.tuning_job}, which goes on as a whole:"
            f" bandstand tune --resume {job.tuning_job}"
        )
    _refuse_owned(record, job)
    if job.over and not job.interrupted:
        raise InputError(_over(record, job))
    _refuse_vanished(job.name, [job.plan])
    return job


def claim_tuning(record: Record, name: str, claim: Claim, now: float) -> TuningJob:
    """Make a tuning job this process's own; of two that try it at once, one succeeds.

    The time since its last launcher was seen counts as idle: it uses nothing of the run-time limit.

    Args:
        record: The store.
        name: The tuning job.
        claim: This process's claim.
        now: Epoch seconds.

    Raises:
        InputError: As `resumable_tuning` has it.
    """
    with record.transaction() as connection:
        job = resumable_tuning(record, name)
        seen = job.seen if job.seen is not None else _last_event(record, job)
        idle = [*job.idle, (min(seen, now), now)]
        connection.execute(
            "UPDATE tuning_jobs SET owner = ?, status = ?, failure_reason = NULL, ended = NULL,"
            " warnings = '[]', seen = ?, idle = ? WHERE name = ?",
            (claim.owner, "InProgress" if job.over else job.status, now, json.dumps(idle), job.name),
        )
        connection.execute(
            f"UPDATE training_jobs SET owner = ? WHERE tuning_job = ? AND {OPEN}",  # noqa: S608 - a constant
            (claim.owner, job.name),
        )
        return tuning_job(record, job.name)


def claim_training(record: Record, name: str, claim: Claim) -> TrainingJob:
    """Make a training job of its own this process's; of two that try it at once, one succeeds.

    Args:
        record: The store.
        name: The training job.
        claim: This process's claim.

    Raises:
        InputError: As `resumable_training` has it.
    """
    with record.transaction() as connection:
        job = resumable_training(record, name)
        connection.execute("UPDATE training_jobs SET owner = ? WHERE name = ?", (claim.owner, job.name))
        return training_job(record, job.name)


def changes_since(plan: TrainingPlan, moment: float) -> list[str]:
    """Say which code and data of a job were written to after it was asked for.

    Args:
        plan: The job.
        moment: When it was asked for, in epoch seconds.

    Returns:
        One sentence for each folder or file with changes.
    """
    notes = []
    for what, place in _places(plan):
        newer = sorted(path for path in _files(place) if path.stat().st_mtime > moment)
        if newer:
            shown = ", ".join(str(path) for path in newer[:_SHOWN])
            more = f" and {len(newer) - _SHOWN} more" if len(newer) > _SHOWN else ""
            since = datetime.fromtimestamp(moment).strftime("%Y-%m-%d %H:%M:%S")
            notes.append(
                f"{what} has changed since the job began ({since}): {shown}{more}. What starts from here on"
                " uses it as it is now."
            )
    return notes


def _refuse_owned(record: Record, job: TuningJob | TrainingJob) -> None:
    if alive(record, job.owner) and not job.over:
        raise InputError(
            f"{job.name} is {job.status}: {owner_words(record, job.owner)} lives and runs it. Wait for it, or"
            f" stop it with: bandstand stop {words_for(record, job.name, job.kind)}"
        )


def _over(record: Record, job: TuningJob | TrainingJob) -> str:
    return (
        f"{job.name} is over already: {job.status}. There is nothing to go on with;"
        f" `bandstand show {words_for(record, job.name, job.kind)}` tells how it ended."
    )


def _refuse_vanished(name: str, plans: Sequence[TrainingPlan]) -> None:
    gone = list(dict.fromkeys(fault for plan in plans for fault in _vanished(plan)))
    if gone:
        raise InputError(" ".join([f"{name} cannot go on.", *gone, "Put it back and try again."]))


def _vanished(plan: TrainingPlan) -> Iterator[str]:
    for what, place in _places(plan):
        if not place.exists():
            yield f"{what}: {place} is gone."
        elif place.is_dir() and not any(place.iterdir()):
            yield f"{what}: {place} is empty."
    yield from (f"the program: {place} is gone." for place in _programs(plan) if not place.exists())


def _places(plan: TrainingPlan) -> Iterator[tuple[str, Path]]:
    code = _code(plan)
    if code is not None:
        yield "the code", code
    for channel in plan.channels:
        what = f"the data of channel {channel.name}"
        if channel.buckets is not None and channel.uri.startswith(SCHEME):
            yield from ((what, path) for path in matches(channel.buckets, channel.uri))
        else:
            yield what, channel.path


def _code(plan: TrainingPlan) -> Path | None:
    """The folder or the archive with a job's code, if it is of this machine."""
    submitted = unquoted(dict(plan.hyperparameters).get("sagemaker_submit_directory", ""))
    return local_path(submitted) if submitted.startswith("file:///") else None


def _programs(plan: TrainingPlan) -> Iterator[Path]:
    """The files that a job starts with, where its code is a folder that is still there."""
    code, settings = _code(plan), dict(plan.hyperparameters)
    if code is None or not code.is_dir():
        return
    program = dict(plan.environment).get("SAGEMAKER_PROGRAM") or settings.get("sagemaker_program")
    names = [unquoted(program)] if program else [file for file, _ in custom_metrics(settings)]
    yield from (code / name for name in dict.fromkeys(names))


def _files(place: Path) -> Iterator[Path]:
    if place.is_file():
        yield place
    for folder, _, names in os.walk(place):
        if Path(folder).name != "__pycache__":
            yield from (path for name in names if (path := Path(folder, name)).is_file())


def _last_event(record: Record, job: TuningJob) -> float:
    rows = record.read("SELECT MAX(time) AS last FROM events WHERE tuning_job = ?", (job.name,))
    return job.created if rows[0]["last"] is None else float(rows[0]["last"])
