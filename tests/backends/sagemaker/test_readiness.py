"""Whatever is missing has its own advice, before anything is uploaded; moto stands in for AWS."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError, ConnectTimeoutError, NoCredentialsError
from botocore.stub import Stubber

from bandstand.backends.sagemaker.readiness import account, check, root_of
from bandstand.backends.sagemaker.refusals import NO_REGION, from_aws, is_transient
from bandstand.backends.sagemaker.region import Region, here
from bandstand.errors import InputError, PlatformError
from bandstand.request.plan import TrainingPlan

from .region import NAME, ROLE

ARN = "arn:aws:sts::123456789012:assumed-role/Developers/me"


class Aws:
    """A region whose every answer is given here."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
        self.region = Region(NAME, None)
        self.stubs = {name: Stubber(self.region.client(name)) for name in ("sts", "sagemaker", "iam", "s3")}
        for stub in self.stubs.values():
            stub.activate()

    def says(self, service: str, operation: str, answer: dict[str, Any] | None = None) -> None:
        self.stubs[service].add_response(operation, answer or {})

    def refuses(self, service: str, operation: str, code: str, text: str = "no", status: int = 400) -> None:
        self.stubs[service].add_client_error(operation, code, text, status)

    def is_fine(self) -> None:
        self.says("sts", "get_caller_identity", {"Account": "123456789012", "Arn": ARN})
        self.says("sagemaker", "list_training_jobs", {"TrainingJobSummaries": []})
        self.says("iam", "get_role", {"Role": role()})
        for actions in (["sagemaker:CreateTrainingJob", "sagemaker:DescribeTrainingJob"], ["iam:PassRole"]):
            self.says("iam", "simulate_principal_policy", decided(actions, "allowed"))
        self.says("s3", "head_bucket")


def role() -> dict[str, Any]:
    return {
        "Path": "/",
        "RoleName": "Training",
        "RoleId": "AROA1234567890123456",
        "Arn": ROLE,
        "CreateDate": "2026-01-01",
    }


def decided(actions: list[str], decision: str) -> dict[str, Any]:
    return {"EvaluationResults": [{"EvalActionName": each, "EvalDecision": decision} for each in actions]}


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[Aws]:
    made = Aws(monkeypatch)
    yield made
    for stub in made.stubs.values():
        stub.deactivate()


@pytest.fixture
def plan(tmp_path: Any) -> TrainingPlan:
    from tests.backends.jobs import make_plan

    return make_plan(tmp_path, role=ROLE, output="s3://kept/out")


def test_a_region_where_all_is_right_passes(aws: Aws, plan: TrainingPlan) -> None:
    aws.is_fine()
    assert check(aws.region, plan, "s3://kept/bandstand") == ()
    for stub in aws.stubs.values():
        stub.assert_no_pending_responses()


def test_without_a_region_it_says_how_to_set_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    with pytest.raises(InputError) as caught:
        here()
    assert str(caught.value) == NO_REGION


def test_without_credentials_it_says_how_to_get_some(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    with pytest.raises(InputError, match="No AWS credentials are found"):
        account(Region(NAME, "http://127.0.0.1:9"))


def test_a_role_that_is_not_there_and_a_bucket_of_somebody_else_are_told_together(
    aws: Aws, plan: TrainingPlan
) -> None:
    aws.says("sts", "get_caller_identity", {"Account": "123456789012", "Arn": ARN})
    aws.says("sagemaker", "list_training_jobs", {"TrainingJobSummaries": []})
    aws.refuses("iam", "get_role", "NoSuchEntity", status=404)
    aws.refuses("iam", "simulate_principal_policy", "AccessDenied", status=403)
    aws.refuses("iam", "simulate_principal_policy", "AccessDenied", status=403)
    aws.refuses("s3", "head_bucket", "403", status=403)
    with pytest.raises(InputError) as caught:
        check(aws.region, plan, "s3://kept/bandstand")
    first, second = str(caught.value).splitlines()
    assert first.startswith(f"There is no role {ROLE}. Name a role in the job file")
    assert second.startswith("The bucket kept cannot be used: it is somebody else's, or")


def test_rights_that_iam_denies_are_named(aws: Aws, plan: TrainingPlan) -> None:
    aws.says("sts", "get_caller_identity", {"Account": "123456789012", "Arn": ARN})
    aws.says("sagemaker", "list_training_jobs", {"TrainingJobSummaries": []})
    aws.says("iam", "get_role", {"Role": role()})
    aws.says("iam", "simulate_principal_policy", decided(["sagemaker:CreateTrainingJob"], "implicitDeny"))
    aws.says("iam", "simulate_principal_policy", decided(["iam:PassRole"], "explicitDeny"))
    aws.says("s3", "head_bucket")
    with pytest.raises(InputError, match=r"lack rights: sagemaker:CreateTrainingJob, iam:PassRole\."):
        check(aws.region, plan, "s3://kept/bandstand")


def test_the_default_bucket_is_made_and_another_one_is_not(aws: Aws, plan: TrainingPlan) -> None:
    aws.is_fine()
    aws.stubs["s3"].deactivate()
    aws.stubs["s3"] = Stubber(aws.region.client("s3"))
    aws.stubs["s3"].activate()
    aws.refuses("s3", "head_bucket", "404", status=404)
    aws.stubs["s3"].add_response(
        "create_bucket",
        {},
        {
            "Bucket": f"sagemaker-{NAME}-123456789012",
            "CreateBucketConfiguration": {"LocationConstraint": NAME},
        },
    )
    check(aws.region, plan, f"s3://sagemaker-{NAME}-123456789012/bandstand")
    aws.stubs["s3"].assert_no_pending_responses()
    aws.is_fine()
    aws.stubs["s3"].deactivate()
    aws.stubs["s3"] = Stubber(aws.region.client("s3"))
    aws.stubs["s3"].activate()
    aws.refuses("s3", "head_bucket", "404", status=404)
    with pytest.raises(InputError, match="There is no bucket kept"):
        check(aws.region, plan, "s3://kept/bandstand")


def test_uploads_go_to_the_named_bucket_else_to_that_of_the_output_else_to_the_default(
    aws: Aws, plan: TrainingPlan
) -> None:
    assert root_of(aws.region, plan, "other") == "s3://other/bandstand"
    assert root_of(aws.region, plan, "s3://other/deep/") == "s3://other/deep"
    assert root_of(aws.region, plan, None) == "s3://kept/bandstand"
    aws.says("sts", "get_caller_identity", {"Account": "123456789012", "Arn": ARN})
    from dataclasses import replace

    local = replace(plan, output="file:///tmp/out")
    assert root_of(aws.region, local, None) == f"s3://sagemaker-{NAME}-123456789012/bandstand"


def refused(code: str, text: str = "no", status: int = 400) -> ClientError:
    answer = {"Error": {"Code": code, "Message": text}, "ResponseMetadata": {"HTTPStatusCode": status}}
    return ClientError(answer, "CreateTrainingJob")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [
        (refused("AccessDeniedException"), InputError, "needs sagemaker:CreateTrainingJob in eu-central-1"),
        (refused("AccessDeniedException", "not authorized: iam:PassRole"), InputError, "allow iam:PassRole"),
        (refused("ValidationException", "Could not assume role"), InputError, "its trust policy"),
        (refused("ResourceLimitExceeded", "ml.p4d"), InputError, "Service Quotas"),
        (refused("ExpiredTokenException"), InputError, "has expired. Log in again"),
        (refused("UnrecognizedClientException"), InputError, "does not know these credentials"),
        (refused("InvalidSignatureException"), InputError, "clock is wrong"),
        (refused("ThrottlingException"), PlatformError, "asked again and again"),
        (NoCredentialsError(), InputError, "No AWS credentials are found"),
        (ConnectTimeoutError(endpoint_url="https://x"), PlatformError, "whether eu-central-1 is the right"),
    ],
)
def test_each_refusal_has_advice(error: Exception, kind: type[Exception], words: str) -> None:
    found = from_aws(error, "sagemaker:CreateTrainingJob", NAME)
    assert type(found) is kind
    assert words in str(found)


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (refused("ThrottlingException"), True),
        (refused("SlowDown", status=503), True),
        (refused("Anything", status=500), True),
        (ConnectTimeoutError(endpoint_url="https://x"), True),
        (refused("ValidationException"), False),
        (refused("ResourceInUse"), False),
        (NoCredentialsError(), False),
    ],
)
def test_what_may_succeed_in_a_moment_is_tried_again(error: Exception, expected: bool) -> None:
    assert is_transient(error) is expected
