"""Jobs as JSON-ready documents."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Protocol, TypeVar

from bandstand.request.plan import TuningPlan
from bandstand.runs.billing import billable_seconds
from bandstand.runs.jobs import TrainingJob, TuningJob, iterations_asked
from bandstand.runs.kinds import SAGEMAKER
from bandstand.runs.record import Record
from bandstand.runs.stops import finite
from bandstand.runs.stored import training_jobs
from bandstand.study import Finish, Known, StopReason, from_document
from bandstand.study.rungs import usable
from bandstand.study.summary import summarize
from bandstand.study.trial import Trial

Document = dict[str, Any]
AnyJudged = TypeVar("AnyJudged", bound="Judged")


def training_document(record: Record, job: TrainingJob, *, points: bool = True) -> Document:
    """A training job as a document.

    Args:
        record: The store.
        job: The job.
        points: Whether to tell every metric point; without, `metrics` is empty.
    """
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
        "definition": job.definition or None,
        "hosts": hosts,
        "model": job.model,
        "hyperparameters": dict(job.plan.hyperparameters),
        "metrics": _points(record, job.name) if points else [],
        **_measures(job),
        "created": iso(job.created),
        "started": iso(first_start(job)),
        "ended": iso(job.ended),
        "transitions": [
            {"status": status, "time": iso(moment), "message": text}
            for status, moment, text in job.transitions
        ],
        "stop": _stop(job),
        "resumable": job.interrupted and job.tuning_job is None,
        "warnings": list(job.warnings),
        "folder": str(job.folder),
    }


def tuning_document(record: Record, job: TuningJob, *, points: bool = True) -> Document:
    """A tuning job with its training jobs as a document.

    Args:
        record: The store.
        job: The job.
        points: Whether to tell every metric point of every job; without, `metrics` is empty.
    """
    plan = job.plan
    rows = training_jobs(record, "tuning_job = ?", (job.name,))
    documents = [_row_document(row) for row in rows]
    best = best_row(plan.goal, rows)
    return {
        "name": job.name,
        "kind": "tuning",
        "status": job.status,
        "failure_reason": job.failure_reason,
        "resumable": is_resumable(record, job),
        **_terms(plan),
        "warm_start": _warm_start(record, plan, job.name),
        "ended_because": _finish_reason(record, job.name),
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
        "savings": _savings(job, rows),
        "metrics": [
            {"training_job": row.name, **point}
            for row in (rows if points else ())
            for point in _points(record, row.name)
        ],
        "billable_seconds": sum(document["billable_seconds"] for document in documents),
        "instance_seconds": sum(document["instance_seconds"] for document in documents),
        "warnings": list(job.warnings),
    }


def _terms(plan: TuningPlan) -> Document:
    """What a tuning job was asked to do."""
    return {
        "strategy": plan.strategy,
        "early_stopping": "Auto" if plan.early_stopping else "Off",
        "objective": {"name": plan.objective, "goal": plan.goal},
        "definitions": [
            {
                "name": each.name or None,
                "objective": each.objective,
                "max_resource": plan.max_resource_of(each.name),
            }
            for each in plan.definitions
        ],
        "limits": {
            "jobs": plan.jobs,
            "parallel": plan.parallel,
            "min_resource": plan.min_resource,
            "max_resource": plan.max_resource,
            "max_runtime": plan.max_runtime,
            "target": plan.target,
            "not_improving": plan.not_improving,
            "convergence": plan.convergence,
        },
    }


def _points(record: Record, name: str) -> list[Document]:
    """Every metric point of a training job, in the order in which its hosts printed them."""
    rows = record.read(
        "SELECT name, iteration, value, host, time FROM points WHERE job = ? ORDER BY seq", (name,)
    )
    return [{**row, "value": finite(row["value"])} for row in map(dict, rows)]


def _warm_start(record: Record, plan: TuningPlan, name: str) -> Document | None:
    """The parents, how many of their training jobs are known, and the best of those."""
    if plan.warm_start is None:
        return None
    rows = record.read(
        "SELECT body FROM events WHERE tuning_job = ? AND kind = 'event' ORDER BY seq", (name,)
    )
    known = []
    for row in rows:
        event = from_document(json.loads(row["body"]))
        if not isinstance(event, Known):
            break  # what is known was told before anything else
        known.append(event)
    sign = -1.0 if plan.goal == "maximize" else 1.0
    best = min(known, key=lambda event: sign * event.objective, default=None)
    return {
        "type": plan.warm_start,
        "parents": list(plan.parents),
        "used": len(known),
        "best": None if best is None else {"name": best.source, "value": best.objective},
    }


def is_resumable(record: Record, job: TuningJob) -> bool:
    """Whether a tuning job failed only because its launcher was lost."""
    return job.status == "Failed" and job.backend != SAGEMAKER and _finish_reason(record, job.name) is None


def first_start(job: TrainingJob) -> float | None:
    """When the first attempt at a job was started."""
    return next((moment for status, moment, _ in job.transitions if status == "Downloading"), job.started)


def _finish_reason(record: Record, name: str) -> str | None:
    """Why the study finished, in its own words; None where it has not, or its launcher was lost."""
    last = "SELECT body FROM events WHERE tuning_job = ? AND kind = 'decision' ORDER BY seq DESC LIMIT 1"
    for row in record.read(last, (name,)):
        decision = from_document(json.loads(row["body"]))
        if isinstance(decision, Finish):
            return decision.reason
    return None


def _row_document(job: TrainingJob) -> Document:
    return {
        "name": job.name,
        "number": job.number,
        "definition": job.definition or None,
        "objective": job.objective_name,
        "status": job.status,
        "secondary_status": job.secondary_status,
        "hyperparameters": job.settings,
        **_measures(job),
        "started": iso(first_start(job)),
        "ended": iso(job.ended),
        "stop": _stop(job),
        "failure_reason": job.failure_reason,
        "model": job.model,
        "warnings": list(job.warnings),
    }


def _measures(job: TrainingJob) -> Document:
    seconds = billable_seconds(job, time.time())
    return {
        "attempts": job.attempt,
        "iterations": job.reports if job.objective_name else job.iterations,
        "final_objective": finite(job.objective),
        "billable_seconds": seconds,
        "instance_seconds": seconds * job.plan.hosts,
    }


def _stop(job: TrainingJob) -> Document | None:
    """Why it was stopped; a stop that came too late, after the job's own end, is none."""
    return None if job.status in ("Completed", "Failed") else job.stop


class Judged(Protocol):
    """What the best training job is found by."""

    @property
    def number(self) -> int: ...  # noqa: D102 - as in TrainingJob
    @property
    def status(self) -> str: ...  # noqa: D102
    @property
    def interrupted(self) -> bool: ...  # noqa: D102
    @property
    def objective(self) -> float | None: ...  # noqa: D102


def best_row(goal: str, rows: Sequence[AnyJudged]) -> AnyJudged | None:
    """The best training job of those that are over for good, by its final objective, as the study has it.

    Args:
        goal: `maximize` or `minimize`.
        rows: Training jobs in order of their numbers; of equals the earlier is better.

    Returns:
        None where no job that completed or was stopped has a finite objective.
    """
    sign = -1.0 if goal == "maximize" else 1.0
    ranked = [
        (sign * row.objective, row.number, row)
        for row in rows
        if row.status in ("Completed", "Stopped")
        and not row.interrupted
        and row.objective is not None
        and usable(row.objective)
    ]
    return min(ranked, key=lambda each: each[:2])[2] if ranked else None


def _savings(job: TuningJob, rows: Sequence[TrainingJob]) -> Document:
    asked = {row.number: iterations_asked(row.plan) for row in rows}
    known = {number: iterations for number, iterations in asked.items() if iterations is not None}
    trials = [Trial(row.number, row.reports, stop=_reason(row), definition=row.definition) for row in rows]
    summary = summarize(trials, known, job.plan.max_resource_of)
    return {
        "asked": summary.asked,
        "run": summary.run,
        "saved_by_max_resource": summary.saved_by_max_resource,
        "saved_by_rungs": summary.saved_by_rungs,
        "stopped_at": {str(rung): number for rung, number in summary.stopped_at},
        "reached_max_resource": summary.reached_max_resource,
        "not_known": summary.not_known,
        "saved_by_median": summary.saved_by_median,
        "stopped_by_median": summary.stopped_by_median,
    }


def _reason(row: TrainingJob) -> StopReason | None:
    stop = _stop(row)
    if stop is None or stop["kind"] not in ("rung", "max_resource", "median"):
        return None
    return StopReason(stop["kind"], bracket=stop["bracket"], rung=stop["rung"])


def iso(moment: float | None) -> str | None:
    """Epoch seconds as ISO 8601 in UTC, to the millisecond; None stays None."""
    if moment is None:
        return None
    return datetime.fromtimestamp(moment, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
