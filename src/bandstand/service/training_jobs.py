"""Operations of training jobs: create, describe, stop."""

from __future__ import annotations

from collections.abc import Mapping

from bandstand.runs.jobs import TrainingJob
from bandstand.runs.record import Record
from bandstand.runs.stopping import request_stop
from bandstand.runs.stored import training_jobs
from bandstand.service.accepting import accept
from bandstand.service.context import Context
from bandstand.service.describing_training import describe
from bandstand.service.protocol import Document, Operation, ServiceError

KIND = "training-job"
"""What the ARN of a training job calls it."""


def create_training_job(context: Context, parameters: Document) -> Document:
    """CreateTrainingJob: check the request, and run the job."""
    arn = context.arn(KIND, parameters["TrainingJobName"])
    accept(context, parameters, arn)
    return {"TrainingJobArn": arn}


def describe_training_job(context: Context, parameters: Document) -> Document:
    """DescribeTrainingJob: all that is known of one job."""
    record = context.record()
    return describe(context, record, found(record, parameters["TrainingJobName"]))


def stop_training_job(context: Context, parameters: Document) -> Document:
    """StopTrainingJob: SIGTERM to all hosts, SIGKILL 120 s later; what they have saved is kept."""
    record = context.record()
    job = found(record, parameters["TrainingJobName"])
    if job.over:
        raise ServiceError(
            "ValidationException",
            f"The request was rejected because the training job is in status {job.status}.",
        )
    request_stop(record, job.name, kind=job.kind)
    return {}


def found(record: Record, name: str) -> TrainingJob:
    """Give the training job of a name.

    Raises:
        ServiceError: There is none.
    """
    rows = training_jobs(record, "name = ?", (name,))
    if not rows:
        raise ServiceError("ValidationException", "Requested resource not found.")
    return rows[0]


OPERATIONS: Mapping[str, Operation] = {
    "CreateTrainingJob": create_training_job,
    "DescribeTrainingJob": describe_training_job,
    "StopTrainingJob": stop_training_job,
}
"""The operations of this file, by name."""
