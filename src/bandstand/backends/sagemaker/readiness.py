"""What has to be right before anything is uploaded or started: credentials, role, rights, bucket."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from bandstand.backends.sagemaker.refusals import AwsError, code_of, from_aws, is_denied, words_of
from bandstand.backends.sagemaker.region import Region
from bandstand.backends.sagemaker.uploading import split
from bandstand.errors import InputError, PlatformError
from bandstand.request.plan import TrainingPlan, TuningPlan

PATIENCE_SECONDS = 30.0
"""How long a check waits for an AWS that is throttling or cannot be reached."""

OPTIONAL_SECONDS = 3.0
"""The same for a check that a job can do without."""

PREFIX = "bandstand"
"""What everything that is uploaded has before it, in a bucket that has other things."""

_ROLE = re.compile(r"arn:[a-z-]+:iam::(\d{12}):role/(?:.*/)?([^/]+)")
_ASSUMED = re.compile(r"arn:([a-z-]+):sts::(\d{12}):assumed-role/([^/]+)/")


def account(region: Region) -> tuple[str, str]:
    """Account number and ARN of whoever the credentials are of.

    Raises:
        InputError: There are no credentials, or AWS does not take them.
        PlatformError: AWS cannot be reached.
    """
    answer = region.ask("sts:GetCallerIdentity", region.client("sts").get_caller_identity, PATIENCE_SECONDS)
    return str(answer["Account"]), str(answer["Arn"])


def root_of(region: Region, plan: TrainingPlan | TuningPlan, given: str | None) -> str:
    """Where on S3 everything goes that lies on this machine.

    It is the bucket that was given, else the bucket of the job's output, else `sagemaker-REGION-ACCOUNT`, the
    default of SageMaker's own SDK, for which AWS is asked who the credentials are of.

    Args:
        region: The region.
        plan: The job.
        given: A bucket's name, or `s3://BUCKET/PREFIX`; None where the user says nothing.

    Raises:
        InputError: There are no credentials.
    """
    if given is not None:
        return given.rstrip("/") if given.startswith("s3://") else f"s3://{given}/{PREFIX}"
    job = plan.definitions[0].training if isinstance(plan, TuningPlan) else plan
    if job.output.startswith("s3://"):
        return f"s3://{split(job.output)[0]}/{PREFIX}"
    return f"s3://sagemaker-{region.name}-{account(region)[0]}/{PREFIX}"


def check(region: Region, plan: TrainingPlan | TuningPlan, root: str) -> tuple[str, ...]:
    """Check all that can be known before a job is handed in; makes the default bucket if it is missing.

    Args:
        region: The region.
        plan: The job.
        root: `s3://BUCKET/PREFIX`, where uploads go.

    Returns:
        What could not be checked, one sentence each.

    Raises:
        InputError: Something is missing; with every fault that was found.
        PlatformError: AWS cannot be reached.
    """
    number, caller = account(region)
    tuning = isinstance(plan, TuningPlan)
    jobs = [each.training for each in plan.definitions] if isinstance(plan, TuningPlan) else [plan]
    faults: list[str] = []
    notes: list[str] = []
    checks: list[Callable[[], None]] = [lambda: _check_listing(region, tuning)]
    for role in dict.fromkeys(job.role for job in jobs):
        checks += [
            partial(_check_role, region, role, number),
            partial(_check_rights, region, caller, role, tuning, notes),
        ]
    checks.append(lambda: _check_bucket(region, split(root)[0], number))
    for check_one in checks:
        try:
            check_one()
        except InputError as error:
            faults.append(str(error))
    if faults:
        raise InputError("\n".join(dict.fromkeys(faults)))
    return tuple(notes)


def _check_listing(region: Region, tuning: bool) -> None:
    """SageMaker answers, and these credentials may at least look."""
    sagemaker = region.client("sagemaker")
    if tuning:
        region.ask(
            "sagemaker:ListHyperParameterTuningJobs",
            lambda: sagemaker.list_hyper_parameter_tuning_jobs(MaxResults=1),
            PATIENCE_SECONDS,
        )
    else:
        region.ask(
            "sagemaker:ListTrainingJobs",
            lambda: sagemaker.list_training_jobs(MaxResults=1),
            PATIENCE_SECONDS,
        )


def _check_role(region: Region, role: str, number: str) -> None:
    """The role exists, as far as one may know."""
    found = _ROLE.fullmatch(role)
    if found is None or found[1] != number:
        return  # another account's role may be handed over; the service says if it may not
    try:
        region.bear(lambda: region.client("iam").get_role(RoleName=found[2]), PATIENCE_SECONDS)
    except ClientError as error:
        if code_of(error) in ("NoSuchEntity", "NoSuchEntityException"):
            raise InputError(
                f"There is no role {role}. Name a role in the job file that SageMaker can take on:"
                f' role = "arn:aws:iam::{number}:role/NAME". It needs a trust policy for'
                " sagemaker.amazonaws.com and the policy AmazonSageMakerFullAccess, or less."
            ) from None
    except BotoCoreError:
        return  # IAM is elsewhere than SageMaker; whether it can be reached says nothing of the job


def _check_rights(region: Region, caller: str, role: str, tuning: bool, notes: list[str]) -> None:
    """Ask IAM whether these credentials may do all that is to be done, if one may ask."""
    create = "sagemaker:CreateHyperParameterTuningJob" if tuning else "sagemaker:CreateTrainingJob"
    assumed = _ASSUMED.match(caller)
    source = f"arn:{assumed[1]}:iam::{assumed[2]}:role/{assumed[3]}" if assumed else caller
    questions: tuple[tuple[list[str], list[str]], ...] = (
        ([create, "sagemaker:DescribeTrainingJob"], ["*"]),
        (["iam:PassRole"], [role]),
    )
    denied = []
    for actions, resources in questions:

        def ask(actions: list[str] = actions, resources: list[str] = resources) -> Any:
            return region.client("iam").simulate_principal_policy(
                PolicySourceArn=source,
                ActionNames=actions,
                ResourceArns=resources,
                ContextEntries=[
                    {
                        "ContextKeyName": "iam:PassedToService",
                        "ContextKeyType": "string",
                        "ContextKeyValues": ["sagemaker.amazonaws.com"],
                    }
                ],
            )

        try:
            answer = region.bear(ask, OPTIONAL_SECONDS)
        except AwsError:
            notes.append(
                f"Whether these credentials may {' and '.join(actions)} is not known: IAM cannot be asked"
                " (iam:SimulatePrincipalPolicy)."
            )
            continue
        denied += [
            result["EvalActionName"]
            for result in answer["EvaluationResults"]
            if result["EvalDecision"] != "allowed"
        ]
    if denied:
        raise InputError(
            f"The credentials of {caller} lack rights: {', '.join(denied)}. Have them added to the policies"
            f" of that user or role{f'; iam:PassRole on {role}' if 'iam:PassRole' in denied else ''}."
        )


def _check_bucket(region: Region, bucket: str, number: str) -> None:
    s3 = region.client("s3")
    try:
        region.bear(lambda: s3.head_bucket(Bucket=bucket), PATIENCE_SECONDS)
    except ClientError as error:
        code, status = code_of(error), error.response.get("ResponseMetadata", {}).get("HTTPStatusCode")
        if code in ("404", "NoSuchBucket") or status == 404:
            _make_bucket(region, bucket, number)
        elif status in (301, 400) or code in ("301", "PermanentRedirect"):
            raise InputError(
                f"The bucket {bucket} is not in {region.name}, where the job is to run. Name a bucket of that"
                " region with --bucket, or another region."
            ) from None
        elif is_denied(error) or status == 403:
            raise InputError(
                f"The bucket {bucket} cannot be used: it is somebody else's, or these credentials lack"
                f" s3:ListBucket, s3:GetObject and s3:PutObject on it. Name another one with --bucket."
            ) from None
        else:
            raise from_aws(error, "s3:ListBucket", region.name) from None
    except AwsError as error:
        raise from_aws(error, "s3:ListBucket", region.name) from None


def _make_bucket(region: Region, bucket: str, number: str) -> None:
    if bucket != f"sagemaker-{region.name}-{number}":
        raise InputError(
            f"There is no bucket {bucket}. Make it (aws s3 mb s3://{bucket} --region {region.name}), or name"
            " another one with --bucket."
        )
    place = {} if region.name == "us-east-1" else {"LocationConstraint": region.name}
    options: dict[str, Any] = {"CreateBucketConfiguration": place} if place else {}
    try:
        region.bear(lambda: region.client("s3").create_bucket(Bucket=bucket, **options), PATIENCE_SECONDS)
    except AwsError as error:
        if code_of(error) == "BucketAlreadyOwnedByYou":
            return
        if isinstance(error, ClientError) and not is_denied(error):
            raise PlatformError(f"The bucket {bucket} could not be made: {words_of(error)}") from None
        raise from_aws(error, "s3:CreateBucket", region.name) from None
