"""Operations that delete jobs which are over: DeleteTrainingJob, DeleteHyperParameterTuningJob."""

from __future__ import annotations

from collections.abc import Mapping

from bandstand.errors import InputError
from bandstand.runs import deleting
from bandstand.service import training_jobs, tuning_jobs
from bandstand.service.context import Context
from bandstand.service.protocol import Document, Operation, ServiceError


def delete_training_job(context: Context, parameters: Document) -> Document:
    """DeleteTrainingJob: its record, logs and folder; what it wrote to its output stays."""
    record = context.record()
    try:
        deleting.delete_training_job(record, training_jobs.found(record, parameters["TrainingJobName"]))
    except InputError as error:
        raise ServiceError("ResourceInUse", str(error)) from None
    return {}


def delete_tuning_job(context: Context, parameters: Document) -> Document:
    """DeleteHyperParameterTuningJob: the tuning job's own entry; its training jobs stay."""
    record = context.record()
    job = tuning_jobs.found(record, parameters["HyperParameterTuningJobName"])
    try:
        deleting.delete_tuning_job(record, job)
    except InputError as error:
        raise ServiceError("ResourceInUse", str(error)) from None
    return {}


OPERATIONS: Mapping[str, Operation] = {
    "DeleteTrainingJob": delete_training_job,
    "DeleteHyperParameterTuningJob": delete_tuning_job,
}
"""The operations of this file, by name."""
