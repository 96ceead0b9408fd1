"""Operations of tuning jobs: create, describe, stop."""

from __future__ import annotations

from collections.abc import Mapping

from bandstand.runs.jobs import TuningJob
from bandstand.runs.record import Record
from bandstand.runs.stopping import request_stop
from bandstand.runs.stored import tuning_jobs
from bandstand.service.accepting import accept
from bandstand.service.context import Context
from bandstand.service.describing_tuning import describe
from bandstand.service.protocol import Document, Operation, ServiceError

KIND = "hyper-parameter-tuning-job"
"""What the ARN of a tuning job calls it."""


def create_tuning_job(context: Context, parameters: Document) -> Document:
    """CreateHyperParameterTuningJob: check the request, and run the job."""
    arn = context.arn(KIND, parameters["HyperParameterTuningJobName"])
    accept(context, parameters, arn)
    return {"HyperParameterTuningJobArn": arn}


def describe_tuning_job(context: Context, parameters: Document) -> Document:
    """DescribeHyperParameterTuningJob: all that is known of one job."""
    record = context.record()
    return describe(context, record, found(record, parameters["HyperParameterTuningJobName"]))


def stop_tuning_job(context: Context, parameters: Document) -> Document:
    """StopHyperParameterTuningJob: stop all of its training jobs, each of which keeps its model."""
    record = context.record()
    job = found(record, parameters["HyperParameterTuningJobName"])
    if job.over:
        raise ServiceError(
            "ValidationException",
            f"The request was rejected because the hyperparameter tuning job is in status {job.status}.",
        )
    request_stop(record, job.name, kind=job.kind)
    return {}


def found(record: Record, name: str) -> TuningJob:
    """Give the tuning job of a name.

    Raises:
        ServiceError: There is none.
    """
    rows = tuning_jobs(record, "name = ?", (name,))
    if not rows:
        raise ServiceError("ResourceNotFound", f"Could not find hyperparameter tuning job {name}.")
    return rows[0]


OPERATIONS: Mapping[str, Operation] = {
    "CreateHyperParameterTuningJob": create_tuning_job,
    "DescribeHyperParameterTuningJob": describe_tuning_job,
    "StopHyperParameterTuningJob": stop_tuning_job,
}
"""The operations of this file, by name."""
