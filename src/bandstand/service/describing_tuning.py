"""A tuning job as DescribeHyperParameterTuningJob tells it."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Sequence

from bandstand.request.documents import ONE, SEVERAL, bodies
from bandstand.request.plan import OBJECTIVE_HYPERPARAMETER, DefinitionPlan, TuningPlan
from bandstand.request.planning import training_request
from bandstand.runs.jobs import TuningJob
from bandstand.runs.record import Record
from bandstand.service import defaults
from bandstand.service.context import Context
from bandstand.service.describing_training import algorithm
from bandstand.service.protocol import Document
from bandstand.service.summaries import BRIEF, USABLE, ended, objective_status, summary
from bandstand.study import StudySpec
from bandstand.study.criteria import Progress
from bandstand.study.trial import Trial

ECHOED = ("WarmStartConfig", "Autotune")
"""Members of the answer that are the request's, beside its configuration and its definition."""

ENDED_WELL = "shown IN ('Completed', 'Stopped')"
"""The condition in SQL for a training job that may be the best."""


def describe(context: Context, record: Record, job: TuningJob) -> Document:
    """Tell all that is known of a tuning job.

    Args:
        context: Names the region and the account.
        record: The store.
        job: The job.
    """
    asked = json.loads(job.plan.document)
    status = shown_status(job)
    answer: Document = {
        "HyperParameterTuningJobName": job.name,
        "HyperParameterTuningJobArn": context.arn("hyper-parameter-tuning-job", job.name),
        "HyperParameterTuningJobConfig": defaults.tuning(asked["HyperParameterTuningJobConfig"]),
        **_definitions(asked, job.plan),
        "HyperParameterTuningJobStatus": status,
        "CreationTime": job.created,
        "LastModifiedTime": job.modified,
        **counters(record, job.name),
        **ended(status, job.ended, "HyperParameterTuningEndTime"),
        **{name: asked[name] for name in ECHOED if name in asked},
        "TuningJobCompletionDetails": _completion(record, job),
        "ConsumedResources": {"RuntimeInSeconds": _runtime(job, status)},
    }
    best = _best(context, record, job, [job.name])
    if best is not None:
        answer["BestTrainingJob"] = best
    if job.plan.warm_start == "IdenticalDataAndAlgorithm":
        overall = _best(context, record, job, [job.name, *job.plan.parents])
        answer |= {} if overall is None else {"OverallBestTrainingJob": overall}
    if status == "Failed" and job.failure_reason:
        answer["FailureReason"] = job.failure_reason
    return answer


def shown_status(job: TuningJob) -> str:
    """The status that clients see, as the record's own column `shown` has it."""
    return "Stopping" if job.status == "InProgress" and job.stop_asked is not None else job.status


def counters(record: Record, name: str) -> Document:
    """Count the training jobs of a tuning job by status, and by what became of their objective."""
    rows = record.read(
        f"SELECT shown, {USABLE} AS usable, COUNT(*) AS number FROM training_jobs"  # noqa: S608 - constants
        " WHERE tuning_job = ? GROUP BY 1, 2",
        (name,),
    )
    status = dict.fromkeys(("Completed", "InProgress", "RetryableError", "NonRetryableError", "Stopped"), 0)
    objective = dict.fromkeys(("Succeeded", "Pending", "Failed"), 0)
    for row in rows:
        word = {"Failed": "NonRetryableError", "Stopping": "InProgress"}.get(row["shown"], row["shown"])
        status[word] += row["number"]
        objective[objective_status(row["shown"], bool(row["usable"]))] += row["number"]
    return {"TrainingJobStatusCounters": status, "ObjectiveStatusCounters": objective}


def _definitions(asked: Document, plan: TuningPlan) -> Document:
    """The definition, or the list of definitions, where the request has it."""
    told = [
        _definition(asked, dict(body), each)
        for (_, body), each in zip(bodies(asked), plan.definitions, strict=True)
    ]
    return {SEVERAL: told} if SEVERAL in asked else {ONE: told[0]}


def _definition(asked: Document, body: Document, plan: DefinitionPlan) -> Document:
    """A definition as it was given, with what AMT adds to it.

    SDK 2 sends HyperParameterTuningResourceConfig, and leaves the metrics to an image that brings them; it
    reads ResourceConfig and MetricDefinitions when it attaches to the job.
    """
    static = body.get("StaticHyperParameters", {}) | {OBJECTIVE_HYPERPARAMETER: plan.objective}
    ranges = {name: defaults.ranges(body[name]) for name in ("HyperParameterRanges",) if name in body}
    return {
        **body,
        **ranges,
        "AlgorithmSpecification": algorithm(body, plan.training),
        "StaticHyperParameters": static,
        "ResourceConfig": training_request(plan.name, body, asked)["ResourceConfig"],
        "StoppingCondition": defaults.stopping(body["StoppingCondition"], plan.training.max_runtime),
    }


def _runtime(job: TuningJob, status: str) -> int:
    """Whole seconds for which the job has run, rounded up; those when no service ran it do not count."""
    until = time.time() if ended(status, job.ended, "end") == {} else job.ended or job.created
    idle = sum(end - begin for begin, end in job.idle)
    return max(0, math.ceil(until - job.created - idle))


def _best(context: Context, record: Record, job: TuningJob, names: Sequence[str]) -> Document | None:
    """The best training job of some tuning jobs, of those that are over: by its last objective.

    Of equals it is the earliest. The training jobs of all have to be comparable.
    """
    marks = ", ".join("?" for _ in names)
    order = "DESC" if job.plan.goal == "maximize" else "ASC"
    first = (  # an index holds all of this; the row, which is long, is read by its name
        f"SELECT name FROM training_jobs WHERE tuning_job IN ({marks}) AND {ENDED_WELL} AND {USABLE}"  # noqa: S608
        f" ORDER BY objective {order}, created, number LIMIT 1"
    )
    rows = record.read(f"SELECT {BRIEF} FROM training_jobs WHERE name = ({first})", tuple(names))  # noqa: S608
    return summary(context, rows[0], job.plan) if rows else None


def _completion(record: Record, job: TuningJob) -> Document:
    """How many of the latest training jobs gained nothing, and when the search had converged."""
    progress = Progress(StudySpec.from_plan(job.plan, job.seed))
    rows = record.read(
        f"SELECT number, objective, ended FROM training_jobs WHERE tuning_job = ? AND {ENDED_WELL}"  # noqa: S608
        f" AND {USABLE} ORDER BY ended, number",
        (job.name,),
    )
    converged = None
    for row in rows:
        met = progress.ended(Trial(row["number"], outcome="completed", objective=row["objective"]))
        if converged is None and met is not None and met.kind == "converged":
            converged = row["ended"]
    answer: Document = {"NumberOfTrainingJobsObjectiveNotImproving": progress.since}
    return answer if converged is None else answer | {"ConvergenceDetectedTime": converged}
