"""The repository in ECR: found or made, and what AWS refuses. The API is moto's."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import boto3
import pytest
from botocore.stub import Stubber

from bandstand.errors import BandstandError, InputError, PlatformError
from bandstand.image.ecr import Ecr, session
from bandstand.image.push_plan import PushPlan

from .conftest import REGION


@pytest.mark.usefixtures("api")
def test_a_missing_repository_is_made_with_scans_and_a_lifecycle_policy(plan: PushPlan):
    found = Ecr(session(None, None), plan).repository()
    assert (found.created, found.scans, found.immutable) == (True, True, False)
    assert found.uri == f"123456789012.dkr.ecr.{REGION}.amazonaws.com/team/mine"
    client = boto3.client("ecr")
    made = client.describe_repositories(repositoryNames=["team/mine"])["repositories"][0]
    assert made["imageScanningConfiguration"]["scanOnPush"] is True
    policy = client.get_lifecycle_policy(repositoryName="team/mine")["lifecyclePolicyText"]
    rules = json.loads(policy)["rules"]
    assert [rule["selection"]["countNumber"] for rule in rules] == [14, 5]


@pytest.mark.usefixtures("api")
def test_a_repository_that_is_there_is_left_as_it_is(plan: PushPlan):
    client = boto3.client("ecr")
    client.create_repository(repositoryName="team/mine", imageTagMutability="IMMUTABLE")
    found = Ecr(session(None, None), plan).repository()
    assert (found.created, found.scans, found.immutable) == (False, False, True)
    with pytest.raises(client.exceptions.LifecyclePolicyNotFoundException):
        client.get_lifecycle_policy(repositoryName="team/mine")


@pytest.mark.usefixtures("api")
def test_a_login_does_not_print_itself(plan: PushPlan):
    login = Ecr(session(None, None), plan).login()
    assert login.user == "AWS"
    assert login.password
    assert login.password not in repr(login)
    assert login.password not in str(login)


def refused(plan: PushPlan, code: str, message: str = "because") -> BandstandError:
    """What a push says when DescribeRepositories is answered with an error."""
    client = boto3.client("ecr", region_name=REGION, aws_access_key_id="a", aws_secret_access_key="b")

    class Session:
        def client(self, _name: str) -> Any:
            return client

    with Stubber(client) as stub:
        stub.add_client_error("describe_repositories", code, message)
        with pytest.raises(BandstandError) as told:
            Ecr(Session(), plan).repository()
    return told.value


@pytest.mark.parametrize(
    ("code", "advice"),
    [
        ("AccessDeniedException", "needs ecr:DescribeRepositories on team/mine in eu-central-1"),
        ("ExpiredTokenException", "The AWS session has expired. Log in again"),
        ("UnrecognizedClientException", "AWS does not know these credentials"),
        ("InvalidSignatureException", "the secret key is mistyped, or this machine's clock is wrong"),
        ("LimitExceededException", "quota of ECR is used up"),
        ("ThrottlingException", "Try once more in a few minutes"),
        ("SomethingNew", "AWS refused ecr:DescribeRepositories on team/mine: because (SomethingNew)."),
    ],
)
def test_each_refusal_has_advice_of_its_own(plan: PushPlan, code: str, advice: str):
    assert advice in str(refused(plan, code))


def test_braces_in_what_aws_says_are_kept(plan: PushPlan):
    assert "{x} {}" in str(refused(plan, "KmsException", "{x} {}"))


def test_a_repository_that_somebody_else_makes_meanwhile_is_taken(plan: PushPlan):
    client = boto3.client("ecr", region_name=REGION, aws_access_key_id="a", aws_secret_access_key="b")

    class Session:
        def client(self, _name: str) -> Any:
            return client

    with Stubber(client) as stub:
        stub.add_client_error("describe_repositories", "RepositoryNotFoundException")
        stub.add_client_error("create_repository", "RepositoryAlreadyExistsException")
        there = {"repositoryUri": "r/team/mine", "imageTagMutability": "MUTABLE"}
        stub.add_response("describe_repositories", {"repositories": [there]})
        found = Ecr(Session(), plan).repository()
    assert (found.uri, found.created) == ("r/team/mine", False)


def no_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")


def half_of_the_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")


def no_region(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_DEFAULT_REGION")


def an_unknown_profile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_PROFILE", "nonesuch")


@pytest.mark.usefixtures("api")
@pytest.mark.parametrize(
    ("lacking", "advice"),
    [
        (no_credentials, "No AWS credentials are found. Log in"),
        (half_of_the_credentials, "missing: AWS_SECRET_ACCESS_KEY"),
        (no_region, "No AWS region is set"),
        (an_unknown_profile, "nonesuch"),
    ],
)
def test_what_a_push_lacks_is_told_before_anything_is_pushed(
    monkeypatch: pytest.MonkeyPatch,
    plan: PushPlan,
    lacking: Callable[[pytest.MonkeyPatch], None],
    advice: str,
):
    lacking(monkeypatch)
    with pytest.raises(InputError, match=advice):
        Ecr(session(None, None), plan).repository()


@pytest.mark.usefixtures("api")
def test_a_network_that_is_down_is_told(monkeypatch: pytest.MonkeyPatch, plan: PushPlan):
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    with pytest.raises(PlatformError, match="cannot be reached") as told:
        Ecr(session(None, None), plan).repository()
    assert "HTTPS_PROXY" in str(told.value)


@pytest.mark.usefixtures("api")
def test_the_region_is_also_read_where_other_sdks_read_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("AWS_REGION", "us-west-2")
    assert session(None, None).region_name == "us-west-2"
    assert session(None, "us-east-1").region_name == "us-east-1"


def test_botocore_knows_the_errors_that_are_told_apart():
    names = {
        shape.name
        for operation in ("CreateRepository", "DescribeRepositories")
        for shape in boto3.client("ecr", region_name=REGION)
        .meta.service_model.operation_model(operation)
        .error_shapes
    }
    assert {
        "RepositoryAlreadyExistsException",
        "RepositoryNotFoundException",
        "LimitExceededException",
    } <= names
