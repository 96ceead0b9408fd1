"""Training jobs that AMT has begun, put into the record as the tuning job's own."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable

from bandstand.backends.sagemaker.standing import Listed
from bandstand.runs.jobs import TrainingJob, TuningJob
from bandstand.runs.kinds import SAGEMAKER
from bandstand.runs.record import Record
from bandstand.runs.remote.owner import NOBODY
from bandstand.runs.stored import add_training_job, remove, training_jobs

_NUMBERED = re.compile(r"-([0-9]{3,})-[0-9a-f]{8}")
"""The end of the name that AMT gives a training job."""


def add_trials(
    connection: sqlite3.Connection, record: Record, job: TuningJob, listed: Iterable[Listed]
) -> list[TrainingJob]:
    """Write training jobs into the record that are new there, within a transaction.

    One that was watched by itself before belongs to the tuning job from then on.

    Args:
        connection: The store.
        record: The same store.
        job: The tuning job.
        listed: All that is known to belong to it.

    Returns:
        The new ones, in order of their numbers.
    """
    known = {row.name: row.number for row in training_jobs(record, "tuning_job = ?", (job.name,))}
    lone = training_jobs(record, "tuning_job IS NULL AND backend = ?", (SAGEMAKER,))
    alone = {row.name for row in lone}
    taken = set(known.values())
    added = []
    for each in sorted(listed, key=lambda one: (one.created, one.name)):
        if each.name in known:
            continue
        number = _number(job.name, each.name, taken)
        taken.add(number)
        made_of = job.plan.definition(each.definition or "")
        row = TrainingJob(
            name=each.name,
            tuning_job=job.name,
            number=number,
            owner=NOBODY,
            backend=SAGEMAKER,
            folder=record.folder(each.name),
            plan=made_of.job(each.name, each.settings),
            settings=dict(each.settings),
            grace=job.grace,
            created=each.created,
            definition=made_of.name,
        )
        if each.name in alone:  # its files stay, and are read once more as this job's
            remove(connection, each.name, "training")
        add_training_job(connection, row)
        added.append(row)
    return sorted(added, key=lambda row: row.number)


def _number(tuning_job: str, name: str, taken: set[int]) -> int:
    """The number that AMT has put into a name; the next free one where the name is another's."""
    match = _NUMBERED.fullmatch(name.removeprefix(tuning_job)) if name.startswith(tuning_job) else None
    if match is not None and int(match[1]) not in taken:
        return int(match[1])
    return max(taken, default=0) + 1
