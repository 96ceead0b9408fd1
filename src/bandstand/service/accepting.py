"""From a Create request to a job in the record, checked by the rules that hold for every request."""

from __future__ import annotations

import logging
from dataclasses import replace

from bandstand.backends.task import MOST_HOSTS
from bandstand.errors import InputError, PlanError
from bandstand.request import load
from bandstand.request.documents import bodies
from bandstand.request.plan import Plan, TrainingPlan, written
from bandstand.request.planning import training_request
from bandstand.runs.record import NameTakenError
from bandstand.service.context import Context
from bandstand.service.job_environment import in_region
from bandstand.service.places import localized
from bandstand.service.protocol import Document, ServiceError

logger = logging.getLogger(__name__)

MOST_RUNNING = 200
"""Tuning jobs, and training jobs of their own, that run at a time: each has a thread and its files."""


def accept(context: Context, document: Document, arn: str) -> None:
    """Check a request and start its job; returns once the record has it.

    Args:
        context: Where it runs.
        document: The request of CreateTrainingJob or CreateHyperParameterTuningJob.
        arn: The job's ARN, for messages.

    Raises:
        ServiceError: The request breaks rules, or its name is taken.
    """
    local = localized(document, context.buckets, context.roots)
    try:
        plan = load(local, on=context.hosts, buckets=context.buckets.folder, roots=context.roots)
        plan = _as_asked(plan, document, context.region)
        _check_room(context, plan)
        context.jobs.start(plan)
        _tell(context, plan)
    except NameTakenError:
        raise ServiceError(
            "ResourceInUse",
            "Job name must be unique within an AWS account and region, and a job with this name already"
            f" exists ({arn}).",
        ) from None
    except PlanError as error:
        text = "; ".join(str(problem) for problem in error.problems)
        count = len(error.problems)
        errors = "1 validation error" if count == 1 else f"{count} validation errors"
        raise ServiceError("ValidationException", f"{errors} detected: {in_s3(context, text)}") from None
    except InputError as error:
        raise ServiceError("ValidationException", in_s3(context, str(error))) from None


def _tell(context: Context, plan: Plan) -> None:
    """Say on the service's terminal what is worth knowing about a request; the same of many requests once."""
    for note in plan.notes:
        if note not in context.told:
            context.told.add(note)
            logger.warning("%s: %s", plan.name, in_s3(context, note))


def _check_room(context: Context, plan: Plan) -> None:
    """Refuse what is too much for one machine, as the service refuses what is beyond an account's quotas."""
    jobs = [plan] if isinstance(plan, TrainingPlan) else [each.training for each in plan.definitions]
    job = max(jobs, key=lambda each: each.hosts)
    if job.hosts > MOST_HOSTS:
        raise ServiceError(
            "ResourceLimitExceeded",
            f"The service limit '{job.instance_type} for training job usage' is {MOST_HOSTS} instances on one"
            f" machine, and the request is for {job.hosts}. Ask for fewer, or send the request to AWS.",
        )
    if context.jobs.running >= MOST_RUNNING:
        raise ServiceError(
            "ResourceLimitExceeded",
            f"The service limit of this machine is {MOST_RUNNING} jobs at a time, and as many run. Try again"
            " when one has ended.",
        )


def in_s3(context: Context, text: str) -> str:
    """Name files of this home's S3 in a message as the client knows them."""
    root = context.home / "s3"
    return text.replace(f"{root.as_uri()}/", "s3://").replace(f"{root}/", "s3://")


def _as_asked(plan: Plan, document: Document, region: str) -> Plan:
    """Let a plan, whose locations are files of this machine, tell of the request as it came, and where."""
    if isinstance(plan, TrainingPlan):
        variables = in_region(plan.environment, region)
        return replace(plan, document=written(document), environment=variables)
    trainings = [
        replace(
            each.training,
            document=written(training_request(plan.name, body, document)),
            environment=in_region(each.training.environment, region),
        )
        for each, (_, body) in zip(plan.definitions, bodies(document), strict=True)
    ]
    definitions = tuple(
        replace(each, training=training) for each, training in zip(plan.definitions, trainings, strict=True)
    )
    return replace(plan, document=written(document), definitions=definitions)
