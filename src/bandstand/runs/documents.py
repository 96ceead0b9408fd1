"""Jobs as JSON-ready documents."""

from __future__ import annotations

import math
import time
from datetime import UTC, datetime
from typing import Any

from bandstand.runs.ledger import Ledger
from bandstand.runs.record import Record
from bandstand.runs.stops import finite
from bandstand.runs.stored import TrainingJob, TuningJob, iterations_asked, training_jobs

Document = dict[str, Any]


def training_document(record: Record, job: TrainingJob) -> Document:
    """A training job as a document."""
    points = record.read(
        "SELECT name, iteration, value, host, time FROM points WHERE job = ? ORDER BY seq", (job.name,)
    )
    hosts = list(job.hosts) or [
        {"name": f"algo-{number}", "exit_code": None, "peak_memory": None}
        for number in range(1, job.plan.hosts + 1)
    ]
    return {
        "name": job.name,
        "kind": "training",
        "status": job.status,
        "secondary_status": job.secondary_status,
        "failure_reason": job.failure_reason,
        "tuning_job": job.tuning_job,
        "hosts": hosts,
        "model": job.model,
        "hyperparameters": dict(job.plan.hyperparameters),
        "metrics": [{**row, "value": finite(row["value"])} for row in map(dict, points)],
        **_measures(job),
        "created": iso(job.created),
        "started": iso(job.started),
        "ended": iso(job.ended),
        "transitions": [
            {"status": status, "time": iso(moment), "message": text}
            for status, moment, text in job.transitions
        ],
        "stop": _stop(job),
        "warnings": list(job.warnings),
        "folder": str(job.folder),
    }


def tuning_document(record: Record, job: TuningJob) -> Document:
    """A tuning job with its training jobs as a document."""
    rows = training_jobs(record, "tuning_job = ?", (job.name,))
    documents = [_row_document(row) for row in rows]
    best = best_row(record, job, rows)
    plan = job.plan
    return {
        "name": job.name,
        "kind": "tuning",
        "status": job.status,
        "failure_reason": job.failure_reason,
        "strategy": plan.strategy,
        "objective": {"name": plan.objective, "goal": plan.goal},
        "limits": {
            "jobs": plan.jobs,
            "parallel": plan.parallel,
            "min_resource": plan.min_resource,
            "max_resource": plan.max_resource,
            "max_runtime": plan.max_runtime,
        },
        "seed": job.seed,
        "created": iso(job.created),
        "started": iso(job.created),
        "ended": iso(job.ended),
        "training_jobs": documents,
        "best": None if best is None else documents[rows.index(best)],
        "counters": {
            status: sum(row.status == status for row in rows)
            for status in ("Completed", "InProgress", "Stopping", "Stopped", "Failed")
        },
        "savings": _savings(record, job, rows),
        "billable_seconds": sum(document["billable_seconds"] for document in documents),
        "instance_seconds": sum(document["instance_seconds"] for document in documents),
        "warnings": list(job.warnings),
    }


def _row_document(job: TrainingJob) -> Document:
    return {
        "name": job.name,
        "number": job.number,
        "status": job.status,
        "secondary_status": job.secondary_status,
        "hyperparameters": job.settings,
        **_measures(job),
        "started": iso(job.started),
        "ended": iso(job.ended),
        "stop": _stop(job),
        "failure_reason": job.failure_reason,
        "model": job.model,
        "warnings": list(job.warnings),
    }


def _measures(job: TrainingJob) -> Document:
    seconds = billable_seconds(job, time.time())
    return {
        "iterations": job.reports if job.objective_name else job.iterations,
        "final_objective": finite(job.objective),
        "billable_seconds": seconds,
        "instance_seconds": seconds * job.plan.hosts,
    }


def billable_seconds(job: TrainingJob, now: float) -> int:
    """Whole seconds from the begin of Downloading to the end of Uploading, rounded up.

    `BillableTimeInSeconds` of DescribeTrainingJob, which is the time of one instance; for a job
    that runs, up to now.

    Args:
        job: The job.
        now: Epoch seconds.
    """
    if job.started is None:
        return 0
    return max(1, math.ceil((now if job.ended is None else job.ended) - job.started))


def _stop(job: TrainingJob) -> Document | None:
    """Why it was stopped; a stop that came too late, after the job's own end, is none."""
    return None if job.status in ("Completed", "Failed") else job.stop


def best_row(record: Record, job: TuningJob, rows: list[TrainingJob]) -> TrainingJob | None:
    """The best training job so far by its final objective, of those that are over; None without one."""
    best = Ledger.load(record, job).study.best()
    return None if best is None else next(row for row in rows if row.number == best[0])


def _savings(record: Record, job: TuningJob, rows: list[TrainingJob]) -> Document:
    asked = {row.number: iterations_asked(row.plan) for row in rows}
    known = {number: iterations for number, iterations in asked.items() if iterations is not None}
    summary = Ledger.load(record, job).study.summary(known)
    stops = [stop for stop in map(_stop, rows) if stop is not None]
    rungs = sorted({stop["rung"] for stop in stops if stop["kind"] == "rung"})
    return {
        "asked": summary.asked,
        "run": summary.run,
        "saved_by_max_resource": summary.saved_by_max_resource,
        "saved_by_rungs": summary.saved_by_rungs,
        "stopped_at": {
            str(rung): sum(stop["rung"] == rung and stop["kind"] == "rung" for stop in stops)
            for rung in rungs
        },
        "reached_max_resource": sum(stop["kind"] == "max_resource" for stop in stops),
        "not_known": summary.not_known,
    }


def iso(moment: float | None) -> str | None:
    """Epoch seconds as ISO 8601 in UTC, to the millisecond; None stays None."""
    if moment is None:
        return None
    return datetime.fromtimestamp(moment, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
