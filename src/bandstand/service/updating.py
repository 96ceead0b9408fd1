"""UpdateTrainingJob: what may change of a job that runs; none of it has an effect here beside being told."""

from __future__ import annotations

import json
from collections.abc import Mapping

from bandstand.service import training_jobs
from bandstand.service.context import Context
from bandstand.service.protocol import Document, Operation, ServiceError


def update_training_job(context: Context, parameters: Document) -> Document:
    """UpdateTrainingJob: tell new profiler, remote debugging and warm pool settings.

    They are accepted without effect, as CreateTrainingJob accepts them here. A job that is over has no warm
    pool that could be kept for longer.
    """
    record = context.record()
    job = training_jobs.found(record, parameters["TrainingJobName"])
    if job.over and not job.interrupted:
        raise ServiceError(
            "ValidationException",
            f"The request was rejected because the training job is in status {job.status}: nothing of it can"
            " be updated, and it keeps no warm pool.",
        )
    changes = {name: value for name, value in parameters.items() if name != "TrainingJobName"}
    with record.transaction() as connection:
        (text,) = connection.execute("SELECT plan FROM training_jobs WHERE name = ?", (job.name,)).fetchone()
        plan = json.loads(text)
        asked = json.loads(plan["document"])
        resources = asked.get("ResourceConfig", {}) | changes.pop("ResourceConfig", {})
        plan["document"] = json.dumps(asked | changes | {"ResourceConfig": resources}, ensure_ascii=False)
        connection.execute("UPDATE training_jobs SET plan = ? WHERE name = ?", (json.dumps(plan), job.name))
    return {"TrainingJobArn": context.arn(training_jobs.KIND, job.name)}


OPERATIONS: Mapping[str, Operation] = {"UpdateTrainingJob": update_training_job}
"""The operations of this file, by name."""
