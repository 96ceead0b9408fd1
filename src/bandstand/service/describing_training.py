"""A training job as DescribeTrainingJob tells it."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from bandstand.request.plan import TrainingPlan
from bandstand.runs.billing import billable_seconds
from bandstand.runs.documents import first_start
from bandstand.runs.jobs import TrainingJob
from bandstand.runs.record import Record
from bandstand.service import defaults
from bandstand.service.context import Context
from bandstand.service.protocol import Document
from bandstand.service.summaries import float32, secondary_status

ECHOED = (
    "RoleArn",
    "ResourceConfig",
    "VpcConfig",
    "CheckpointConfig",
    "DebugHookConfig",
    "ExperimentConfig",
    "DebugRuleConfigurations",
    "TensorBoardOutputConfig",
    "ProfilerConfig",
    "ProfilerRuleConfigurations",
    "Environment",
    "RetryStrategy",
    "RemoteDebugConfig",
    "InfraCheckConfig",
)
"""Members of the answer that are the request's."""

SWITCHES = ("EnableNetworkIsolation", "EnableInterContainerTrafficEncryption", "EnableManagedSpotTraining")
"""Members that are false where the request does not say."""


def describe(context: Context, record: Record, job: TrainingJob) -> Document:
    """Tell all that is known of a training job.

    Args:
        context: Names the region and the account.
        record: The store.
        job: The job.
    """
    asked = json.loads(job.plan.document)
    status = shown_status(job)
    answer: Document = {
        "TrainingJobName": job.name,
        "TrainingJobArn": context.arn("training-job", job.name),
        "ModelArtifacts": {"S3ModelArtifacts": _model(job, asked)},
        "TrainingJobStatus": status,
        "SecondaryStatus": secondary_status(status, job.secondary_status, job.interrupted),
        "AlgorithmSpecification": _algorithm(job, asked),
        "OutputDataConfig": defaults.output(asked["OutputDataConfig"]),
        "StoppingCondition": defaults.stopping(asked.get("StoppingCondition", {}), job.plan.max_runtime),
        "CreationTime": job.created,
        "LastModifiedTime": job.modified,
        "SecondaryStatusTransitions": _transitions(job, status),
        **{name: asked.get(name, False) for name in SWITCHES},
        **{name: asked[name] for name in ECHOED if name in asked},
    }
    if "InputDataConfig" in asked:
        answer["InputDataConfig"] = defaults.channels(asked["InputDataConfig"])
    if asked.get("HyperParameters"):
        answer["HyperParameters"] = asked["HyperParameters"]
    if job.tuning_job is not None:
        answer["TuningJobArn"] = context.arn("hyper-parameter-tuning-job", job.tuning_job)
    if status == "Failed" and job.failure_reason:
        answer["FailureReason"] = job.failure_reason
    metrics = _metrics(record, job)
    if metrics:
        answer["FinalMetricDataList"] = metrics
    return answer | times(job)


def shown_status(job: TrainingJob) -> str:
    """The status that clients see, as the record's own column `shown` has it."""
    if job.interrupted and job.served:
        return "InProgress"
    return "Stopping" if job.status == "InProgress" and job.stop_asked is not None else job.status


def algorithm(asked: Mapping[str, Any], plan: TrainingPlan) -> Document:
    """The AlgorithmSpecification of an answer: the request's, with the metrics that the image brings.

    Args:
        asked: The request, or the definition, that has one.
        plan: What was made of it.
    """
    metrics = [{"Name": name, "Regex": regex} for name, regex in plan.metrics]
    return dict(asked["AlgorithmSpecification"]) | ({"MetricDefinitions": metrics} if metrics else {})


def times(job: TrainingJob) -> Document:
    """When a job ran and how long: the members of an answer that say so, as far as it has come."""
    begin = first_start(job)
    answer: Document = {} if begin is None else {"TrainingStartTime": begin}
    if job.over and not job.interrupted and job.ended is not None:
        seconds = billable_seconds(job, time.time())
        answer |= {"TrainingEndTime": job.ended}
        if seconds:  # of a job that never ran the API tells no time, which it has from one second on
            answer |= {"TrainingTimeInSeconds": seconds, "BillableTimeInSeconds": seconds}
    return answer


def _model(job: TrainingJob, asked: Mapping[str, Any]) -> str:
    return f"{asked['OutputDataConfig']['S3OutputPath'].rstrip('/')}/{job.name}/output/model.tar.gz"


def _algorithm(job: TrainingJob, asked: Mapping[str, Any]) -> Document:
    return {"EnableSageMakerMetricsTimeSeries": False} | algorithm(asked, job.plan)


def _transitions(job: TrainingJob, status: str) -> list[Document]:
    """Every step of a job's life, each from its begin to that of the next; the last one of a job that is over
    has an end as well."""
    steps = list(job.transitions) or [("Starting", job.created, "Starting the training job.")]
    if status == "Stopping" and steps[-1][0] != "Stopping" and job.stop_asked is not None:
        steps.append(("Stopping", job.stop_asked, "Stopping the training job."))
    answer = [
        {"Status": word, "StartTime": begin, "EndTime": end, "StatusMessage": text}
        for (word, begin, text), (_, end, _) in pairwise(steps)
    ]
    word, begin, text = steps[-1]
    last = {"Status": word, "StartTime": begin, "StatusMessage": text}
    if job.over and not job.interrupted:
        last["EndTime"] = begin if job.ended is None else job.ended
    return [*answer, last]


def _metrics(record: Record, job: TrainingJob) -> list[Document]:
    """The last value of each metric, in the order of their definitions, unless it is no finite number."""
    answer = []
    for name, _ in job.plan.metrics:
        for row in record.read(
            "SELECT value, time FROM points WHERE job = ? AND name = ? ORDER BY seq DESC LIMIT 1",
            (job.name, name),
        ):
            if row["value"] is not None and math.isfinite(row["value"]):
                answer.append({"MetricName": name, "Value": float32(row["value"]), "Timestamp": row["time"]})
    return answer
