"""The end of a tuning job in the record: status, reason, and what a person should know of it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence

from bandstand.runs.faults import alike, distinct, once_at_the_end, silence_in
from bandstand.runs.jobs import TrainingJob, iterations_asked
from bandstand.runs.record import Record
from bandstand.runs.stored import training_jobs, tuning_job
from bandstand.sagemaker_files import fit_failure

_SHOWN_WARNINGS = 5


def settle(
    connection: sqlite3.Connection, record: Record, name: str, status: str, reason: str, now: float
) -> None:
    """Write the end of a tuning job, within a transaction.

    Args:
        connection: The store.
        record: The same store.
        name: The tuning job.
        status: `Completed`, `Failed` or `Stopped`.
        reason: Why, in words; kept where the job failed, with the first training job's failure, and with the
            closest log lines if nothing was reported.
        now: Epoch seconds.
    """
    rows = training_jobs(record, "tuning_job = ?", (name,))
    failure = None
    if status == "Failed":
        silence = next(filter(None, (silence_in(row.warnings) for row in rows)), "")
        failure = fit_failure(" ".join(filter(None, (reason, _first_failure(rows), silence))))
    plan = tuning_job(record, name).plan
    rule = (
        "Hyperband" if plan.max_resource is not None else "The median rule" if plan.early_stopping else None
    )
    warnings = _warnings(rows, rule)
    connection.execute(
        "UPDATE tuning_jobs SET status = ?, failure_reason = ?, ended = ?, warnings = ? WHERE name = ?",
        (status, failure, now, json.dumps(warnings), name),
    )


def _first_failure(rows: Sequence[TrainingJob]) -> str:
    """Tell the failure of the first training job that has one; empty where none has."""
    own = (row for row in rows if row.status == "Failed" and not row.interrupted)
    failed = next((row for row in own if row.failure_reason), None)
    return "" if failed is None else f"Training job {failed.number} failed: {failed.failure_reason}"


def _warnings(rows: Sequence[TrainingJob], rule: str | None) -> list[str]:
    ended = [row for row in rows if row.over]
    found = []
    once = [row.number for row in ended if _reported_once(row)]
    if rule is not None and once:
        found.append(once_at_the_end(once, len(ended), rule))
    numbers: dict[str, list[int]] = {}
    for row in ended:
        for warning in row.warnings:
            numbers.setdefault(alike(warning), []).append(row.number)
    for warning in distinct(warning for row in ended for warning in row.warnings)[:_SHOWN_WARNINGS]:
        those = numbers[alike(warning)]
        jobs = f"training job {those[0]}" if len(those) == 1 else f"{len(those)} training jobs"
        found.append(f"{warning} ({jobs})")
    return found


def _reported_once(row: TrainingJob) -> bool:
    return row.status == "Completed" and row.reports == 1 and iterations_asked(row.plan) != 1
