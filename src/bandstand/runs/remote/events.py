"""What happened in a tuning job that AMT decides, as the events of a study."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import replace

from bandstand.errors import InputError
from bandstand.request.plan import TuningPlan
from bandstand.runs.intake import OUTCOMES
from bandstand.runs.jobs import TrainingJob, TuningJob
from bandstand.runs.record import Record
from bandstand.runs.stops import plain_stop, stop_document
from bandstand.runs.stored import training_jobs
from bandstand.study import Ended, Event, Finish, Reported, Started, StudySpec, to_document
from bandstand.study.inferring import Inference, infer_stops

Moment = tuple[float, int, int, Event]


def happened(record: Record, job: TuningJob) -> list[Event]:
    """Every start, report and end of a tuning job's training jobs, in the order of their times.

    Args:
        record: The store.
        job: The tuning job.
    """
    rows = training_jobs(record, "tuning_job = ?", (job.name,))
    moments: list[Moment] = []
    for row in rows:
        moments += _moments(record, row, job.plan)
    moments.sort(key=lambda moment: moment[:3])
    return [event for *_, event in moments]


def _moments(record: Record, row: TrainingJob, plan: TuningPlan) -> list[Moment]:
    made_of = plan.definition(row.definition)
    settings = tuple((each.name, row.settings.get(each.name, "")) for each in made_of.ranges)
    last = row.created
    found: list[Moment] = [(last, 0, row.number, Started(row.number, settings, made_of.name))]
    values = record.read(
        "SELECT value, time FROM points WHERE job = ? AND name = ? ORDER BY seq",
        (row.name, row.objective_name),
    )
    for each in values:
        last = max(last, each["time"])
        value = float("nan") if each["value"] is None else each["value"]
        found.append((last, 1, row.number, Reported(row.number, value)))
    if row.over:
        last = max(last, row.ended or last)
        found.append((last, 2, row.number, Ended(row.number, OUTCOMES[row.status], row.objective)))
    return found


def explain_stops(connection: sqlite3.Connection, record: Record, job: TuningJob) -> dict[str, Inference]:
    """Write why AMT stopped the training jobs of which that is not known yet, within a transaction.

    Those that somebody stopped are left as they are, and so are those that reached their time limit.

    Args:
        connection: The store.
        record: The same store.
        job: The tuning job.

    Returns:
        What was thought of each, by the training job's name.
    """
    rows = [
        row
        for row in training_jobs(record, "tuning_job = ? AND status = 'Stopped'", (job.name,))
        if row.stop is None or row.stop["kind"] == "user"
    ]
    rows = [row for row in rows if row.stop_asked is None]
    if not rows:
        return {}
    if job.stop_asked is not None or job.status == "Stopping":
        asked = plain_stop("user", "Stopped because the tuning job was stopped on request.")
        rows = [row for row in rows if not _write(connection, row, asked, job, only_late=True)]
    thought = _infer(record, job, rows)
    numbers = {row.number: row.name for row in training_jobs(record, "tuning_job = ?", (job.name,))}
    for row in rows:
        each = thought[row.number]
        document = (
            plain_stop("amt", each.sentence)
            if each.reason is None
            else stop_document(each.reason, lambda number: numbers.get(number, str(number)))
        )
        _write(connection, row, document | {"reason": each.sentence, "inferred": True}, job)
    return {row.name: thought[row.number] for row in rows}


def _infer(record: Record, job: TuningJob, rows: list[TrainingJob]) -> dict[int, Inference]:
    events = happened(record, job)
    most = max((event.trial for event in events if isinstance(event, Started)), default=1)
    numbers = [row.number for row in rows]
    plan = replace(job.plan, jobs=max(job.plan.jobs, most, 1))
    try:
        return infer_stops(StudySpec.from_plan(plan, job.seed), events, numbers)
    except InputError:  # terms that this project's study does not have
        plain = replace(plan, strategy="Random", early_stopping=False, max_resource=None)
        return infer_stops(StudySpec.from_plan(plain, job.seed), events, numbers)


def _write(
    connection: sqlite3.Connection,
    row: TrainingJob,
    document: dict[str, object],
    job: TuningJob,
    *,
    only_late: bool = False,
) -> bool:
    """Write a reason; with `only_late` only to a job that ended after the tuning job was told to stop."""
    if only_late and (job.stop_asked is None or (row.ended or 0.0) < job.stop_asked):
        return False
    connection.execute("UPDATE training_jobs SET stop = ? WHERE name = ?", (json.dumps(document), row.name))
    return True


def write_history(connection: sqlite3.Connection, record: Record, job: TuningJob, finish: Finish) -> None:
    """Write all that happened, and how it ended, once the tuning job is over, within a transaction."""
    entries = [*happened(record, job), finish]
    connection.execute("DELETE FROM events WHERE tuning_job = ?", (job.name,))
    connection.executemany(
        "INSERT INTO events (tuning_job, seq, kind, body, time) VALUES (?, ?, ?, ?, ?)",
        [
            (
                job.name,
                place,
                "decision" if isinstance(entry, Finish) else "event",
                json.dumps(to_document(entry)),
                job.ended or job.created,
            )
            for place, entry in enumerate(entries, 1)
        ],
    )
