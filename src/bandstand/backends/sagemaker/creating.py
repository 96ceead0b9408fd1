"""A job is handed in once, whatever the network does."""

from __future__ import annotations

import json
import struct
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from bandstand.backends.sagemaker.refusals import AwsError, code_of, from_aws, is_transient
from bandstand.backends.sagemaker.region import PATIENCE_SECONDS, Region
from bandstand.errors import InputError

SKEW_SECONDS = 300.0
"""How far this machine's clock may be from AWS's: AWS takes no signature that is farther off."""


_NOT_TOLD = ("Tags", "SessionChainingConfig")
"""Members of a request that Describe does not tell."""


class JobExistsError(InputError):
    """The region has another job of this name; whoever chose it for the user may choose another."""


class NoSuchJobError(InputError):
    """The region has no job of this kind and name."""


def create(region: Region, document: Mapping[str, Any], *, since: float | None = None) -> str:
    """Hand a job in; a job that is there already counts if it is this very one.

    A request whose answer was lost is made again, and is refused then, since the name is taken: by the job
    that the first request has begun, if its document is equal and it is no older than the request.

    Args:
        region: The region.
        document: The request of CreateTrainingJob or CreateHyperParameterTuningJob.
        since: When the job was handed in for the first time, in epoch seconds; None for now.

    Returns:
        The job's ARN.

    Raises:
        JobExistsError: Another job has the name.
        InputError: The request, the rights or the quota is wrong.
        PlatformError: AWS cannot be reached.
    """
    tuning = "HyperParameterTuningJobName" in document
    began = time.time() if since is None else since
    sagemaker = region.client("sagemaker")
    operation = "CreateHyperParameterTuningJob" if tuning else "CreateTrainingJob"
    call = sagemaker.create_hyper_parameter_tuning_job if tuning else sagemaker.create_training_job
    arn = "HyperParameterTuningJobArn" if tuning else "TrainingJobArn"
    try:
        return str(region.bear(lambda: call(**document))[arn])
    except AwsError as error:
        if code_of(error) != "ResourceInUse":
            raise from_aws(error, f"sagemaker:{operation}", region.name) from None
    found = describe(region, document["HyperParameterTuningJobName" if tuning else "TrainingJobName"], tuning)
    created = found["CreationTime"].timestamp()
    if covers(found, document) and created >= began - SKEW_SECONDS:
        return str(found[arn])
    name = document["HyperParameterTuningJobName" if tuning else "TrainingJobName"]
    moment = datetime.fromtimestamp(created, UTC).strftime("%Y-%m-%d %H:%M UTC")
    raise JobExistsError(
        f"{region.name} has another job of the name {name}, of {moment}. Give this one another name:"
        " names of jobs on SageMaker are never free again."
    )


def describe(region: Region, name: str, tuning: bool, patience: float = PATIENCE_SECONDS) -> dict[str, Any]:
    """Describe a training job or a tuning job.

    Raises:
        NoSuchJobError: There is no such job.
        InputError: The rights are missing.
        PlatformError: AWS cannot be reached.
    """
    sagemaker = region.client("sagemaker")
    try:
        if tuning:
            return dict(
                region.bear(
                    lambda: sagemaker.describe_hyper_parameter_tuning_job(HyperParameterTuningJobName=name),
                    patience,
                )
            )
        return dict(region.bear(lambda: sagemaker.describe_training_job(TrainingJobName=name), patience))
    except AwsError as error:
        if is_unknown(error):
            kind = "tuning job" if tuning else "training job"
            raise NoSuchJobError(f"There is no {kind} {name} in {region.name}.") from None
        operation = "DescribeHyperParameterTuningJob" if tuning else "DescribeTrainingJob"
        raise from_aws(error, f"sagemaker:{operation}", region.name) from None


def look_up(region: Region, name: str, tuning: bool) -> dict[str, Any]:
    """Describe a job of a kind by a name that a person has given.

    Raises:
        InputError: There is no such job, the message says whether there is one of the other kind; or the
            rights are missing.
        PlatformError: AWS cannot be reached.
    """
    try:
        return describe(region, name, tuning)
    except NoSuchJobError as error:
        unknown = str(error)
    try:
        describe(region, name, not tuning)
    except InputError:
        raise InputError(
            f"{unknown} Look at the name and its case, and whether AWS_REGION and the account are those of"
            " the job."
        ) from None
    kind, verb = ("training", "train") if tuning else ("tuning", "tune")
    raise InputError(f"{unknown} It is a {kind} job: bandstand {verb} --resume {name} --on sagemaker")


def is_unknown(error: Exception) -> bool:
    """Whether AWS says that it has no such job."""
    if is_transient(error):
        return False
    words = str(error).lower()
    return code_of(error) in ("ResourceNotFound", "ResourceNotFoundException") or (
        code_of(error) == "ValidationException"
        and any(sign in words for sign in ("not found", "does not exist", "could not find"))
    )


def covers(found: Any, sent: Any) -> bool:
    """Whether what is described holds all that was sent; the service adds defaults of its own.

    Args:
        found: The answer of Describe, or a part of it. Tags are not told there, and not compared.
        sent: The request, or the same part of it.
    """
    if isinstance(sent, Mapping):
        if not isinstance(found, Mapping):
            return False
        return all(
            covers(found[name], value) if name in found else name in _NOT_TOLD or not value
            for name, value in sent.items()
        )
    if isinstance(sent, list):
        return isinstance(found, list) and len(found) == len(sent) and all(map(covers, found, sent))
    if isinstance(sent, float) and isinstance(found, float | int):
        return _single(found) == _single(sent)
    return bool(found == sent)


def _single(value: float) -> bytes:
    """A number as the service keeps it, in single precision."""
    return struct.pack("f", value)


def request_of(found: Mapping[str, Any], tuning: bool) -> dict[str, Any]:
    """The request that a described job was begun with, as far as Describe tells it.

    Args:
        found: The answer of DescribeTrainingJob or DescribeHyperParameterTuningJob.
        tuning: Whether it is a tuning job.
    """
    from bandstand.request.service_model import TRAINING, TUNING, request_shape

    members = request_shape(TUNING if tuning else TRAINING).members
    return dict(json.loads(json.dumps({name: found[name] for name in members if name in found})))
