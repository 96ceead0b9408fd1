"""Jobs, as they are written into the record and read from it."""

from __future__ import annotations

import json
import sqlite3
from typing import Any

from bandstand.request.plan import Pairs, TrainingPlan, TuningPlan
from bandstand.runs.jobs import Kind, TrainingJob, TuningJob
from bandstand.runs.record import NameTakenError, Record

OPEN = "shown IN ('InProgress', 'Stopping') AND status NOT IN ('Completed', 'Failed', 'Stopped')"
"""The condition in SQL for a job that is not over. Two words are shown of such jobs, by which an index finds
them among however many."""


def add_tuning_job(connection: sqlite3.Connection, job: TuningJob) -> None:
    """Write a new tuning job, within a transaction.

    Raises:
        NameTakenError: Another tuning job has its name.
    """
    _insert(
        connection,
        job.kind,
        {
            "name": job.name,
            "owner": job.owner,
            "plan": json.dumps(job.plan.to_dict()),
            "seed": job.seed,
            "grace": job.grace,
            "status": job.status,
            "created": job.created,
            "modified": job.created,
            "backend": job.backend,
            "served": job.served,
        },
    )
    _add_tags(connection, job, job.plan.tags)


def add_training_job(connection: sqlite3.Connection, job: TrainingJob) -> None:
    """Write a new training job, within a transaction.

    Raises:
        NameTakenError: Another training job has its name.
    """
    _insert(
        connection,
        job.kind,
        {
            "name": job.name,
            "tuning_job": job.tuning_job,
            "number": job.number,
            "owner": job.owner,
            "backend": job.backend,
            "folder": str(job.folder),
            "plan": json.dumps(job.plan.to_dict()),
            "settings": json.dumps(job.settings),
            "grace": job.grace,
            "status": job.status,
            "secondary_status": job.secondary_status,
            "created": job.created,
            "modified": job.created,
            "served": job.served,
            "definition": job.definition,
        },
    )
    if job.tuning_job is None:
        _add_tags(connection, job, job.plan.tags)
    else:  # tags that a tuning job was given meanwhile go to what it launches from then on (AddTags)
        connection.execute(
            "INSERT INTO tags (kind, job, key, value)"
            " SELECT 'training', ?, key, value FROM tags WHERE kind = 'tuning' AND job = ?",
            (job.name, job.tuning_job),
        )


def remove(connection: sqlite3.Connection, name: str, kind: Kind) -> None:
    """Take a job out of the record, within a transaction; a tuning job's training jobs stay.

    Args:
        connection: The store.
        name: The job.
        kind: Whether it is a tuning job or a training job.
    """
    tables = {
        "tuning": (("events", "tuning_job"), ("tuning_jobs", "name")),
        "training": (("points", "job"), ("training_jobs", "name")),
    }
    for table, column in tables[kind]:
        connection.execute(f"DELETE FROM {table} WHERE {column} = ?", (name,))  # noqa: S608 - our tables
    connection.execute("DELETE FROM tags WHERE kind = ? AND job = ?", (kind, name))


def _add_tags(connection: sqlite3.Connection, job: TuningJob | TrainingJob, tags: Pairs) -> None:
    connection.executemany(
        "INSERT INTO tags (kind, job, key, value) VALUES (?, ?, ?, ?)",
        [(job.kind, job.name, key, value) for key, value in tags],
    )


def _insert(connection: sqlite3.Connection, kind: Kind, values: dict[str, Any]) -> None:
    columns, marks = ", ".join(values), ", ".join("?" for _ in values)
    sql = f"INSERT INTO {kind}_jobs ({columns}) VALUES ({marks})"  # noqa: S608 - the names are those of our columns
    try:
        connection.execute(sql, tuple(values.values()))
    except sqlite3.IntegrityError as error:
        if error.sqlite_errorname != "SQLITE_CONSTRAINT_PRIMARYKEY":
            raise
        raise NameTakenError(
            f"The name '{values['name']}' is taken by another {kind} job (upper and lower case count as"
            " equal). Choose another name, or remove the old job with `bandstand clean`."
        ) from error


def tuning_jobs(record: Record, where: str = "1", parameters: tuple[Any, ...] = ()) -> list[TuningJob]:
    """Tuning jobs, oldest first.

    Args:
        record: The store.
        where: A condition in SQL, written by this package; values stand in `parameters`.
        parameters: A value for each question mark.
    """
    rows = record.read(f"SELECT * FROM tuning_jobs WHERE {where} ORDER BY created, name", parameters)  # noqa: S608 - the condition is ours, values are parameters
    return [_tuning_job(row) for row in rows]


def training_jobs(record: Record, where: str = "1", parameters: tuple[Any, ...] = ()) -> list[TrainingJob]:
    """Training jobs, by tuning job and number, else oldest first.

    Args:
        record: The store.
        where: A condition in SQL, written by this package; values stand in `parameters`.
        parameters: A value for each question mark.
    """
    order = "tuning_job, number, created, name"
    rows = record.read(f"SELECT * FROM training_jobs WHERE {where} ORDER BY {order}", parameters)  # noqa: S608 - the condition is ours, values are parameters
    return [_training_job(record, row) for row in rows]


def tuning_job(record: Record, name: str) -> TuningJob:
    """The tuning job with this name, which exists."""
    return tuning_jobs(record, "name = ?", (name,))[0]


def training_job(record: Record, name: str) -> TrainingJob:
    """The training job with this name, which exists."""
    return training_jobs(record, "name = ?", (name,))[0]


def _tuning_job(row: sqlite3.Row) -> TuningJob:
    return TuningJob(
        name=row["name"],
        owner=row["owner"],
        plan=TuningPlan.from_dict(json.loads(row["plan"])),
        seed=row["seed"],
        grace=row["grace"],
        status=row["status"],
        failure_reason=row["failure_reason"],
        created=row["created"],
        ended=row["ended"],
        stop_asked=row["stop_asked"],
        stop_grace=row["stop_grace"],
        warnings=tuple(json.loads(row["warnings"])),
        backend=row["backend"],
        seen=row["seen"],
        idle=tuple((begin, end) for begin, end in json.loads(row["idle"])),
        served=bool(row["served"]),
        modified=row["modified"],
    )


def _training_job(record: Record, row: sqlite3.Row) -> TrainingJob:
    reported = row["objective"] is not None or row["reports"]
    return TrainingJob(
        name=row["name"],
        tuning_job=row["tuning_job"],
        number=row["number"],
        owner=row["owner"],
        backend=row["backend"],
        folder=record.folder(
            row["name"]
        ),  # not where it was made: a home may be moved, copied, or given as a link
        plan=TrainingPlan.from_dict(json.loads(row["plan"])),
        settings=json.loads(row["settings"]),
        grace=row["grace"],
        status=row["status"],
        secondary_status=row["secondary_status"],
        failure_reason=row["failure_reason"],
        created=row["created"],
        started=row["started"],
        ended=row["ended"],
        model=row["model"],
        hosts=tuple(json.loads(row["hosts"])),
        transitions=tuple((status, time, text) for status, time, text in json.loads(row["transitions"])),
        reports=row["reports"],
        iterations=row["iterations"],
        objective=_number(row["objective"]) if reported else None,
        stop=None if row["stop"] is None else json.loads(row["stop"]),
        stop_asked=row["stop_asked"],
        offsets=json.loads(row["offsets"]),
        warnings=tuple(json.loads(row["warnings"])),
        attempt=row["attempt"],
        spent=row["spent"],
        interrupted=bool(row["interrupted"]),
        resume_point=row["resume_point"],
        served=bool(row["served"]),
        modified=row["modified"],
        definition=row["definition"],
    )


def _number(stored: float | None) -> float:
    """A stored number; SQLite keeps NaN as NULL."""
    return float("nan") if stored is None else stored
