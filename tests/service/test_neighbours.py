"""STS, IAM and ECR, as clients of SageMaker ask for them."""

from __future__ import annotations

import base64
from typing import Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from .served import ROLE, Server


@pytest.fixture(scope="module")
def client(server: Server) -> Any:
    def make(service: str) -> Any:
        return boto3.client(
            service,
            endpoint_url=server.url,
            region_name="eu-west-1",
            aws_access_key_id="a",
            aws_secret_access_key="b",
            config=Config(retries={"total_max_attempts": 1}),
        )

    return make


def test_the_caller_is_of_the_account_of_all_arns(client: Any, sagemaker: Any) -> None:
    assert client("sts").get_caller_identity()["Account"] == "123456789012"


def test_credentials_of_a_role_are_handed_out(client: Any) -> None:
    answer = client("sts").assume_role(RoleArn=ROLE, RoleSessionName="me")
    assert answer["Credentials"]["SessionToken"]
    assert answer["AssumedRoleUser"]["Arn"].endswith("assumed-role/Training/me")


def test_every_role_is_there_and_sagemaker_may_take_it_on(client: Any) -> None:
    role = client("iam").get_role(RoleName="Some-Role")["Role"]
    assert role["Arn"] == "arn:aws:iam::123456789012:role/Some-Role"
    (statement,) = role["AssumeRolePolicyDocument"]["Statement"]
    assert statement["Principal"]["Service"] == "sagemaker.amazonaws.com"
    assert client("iam").get_role(RoleName="Some-Role")["Role"]["RoleId"] == role["RoleId"]


def test_a_role_that_was_made_is_kept_as_it_is(client: Any) -> None:
    iam = client("iam")
    document = '{"Version": "2012-10-17", "Statement": []}'
    made = iam.create_role(RoleName="Mine", AssumeRolePolicyDocument=document, Path="/service-role/")["Role"]
    assert iam.get_role(RoleName="Mine")["Role"]["Arn"] == made["Arn"]
    with pytest.raises(ClientError, match="EntityAlreadyExists"):
        iam.create_role(RoleName="Mine", AssumeRolePolicyDocument=document)


def test_a_role_may_do_what_the_sdks_ask_about(client: Any) -> None:
    wish = {"PolicySourceArn": ROLE, "ActionNames": ["s3:PutObject", "sagemaker:CreateTrainingJob"]}
    pages = client("iam").get_paginator("simulate_principal_policy").paginate(**wish)
    found = [
        (each["EvalActionName"], each["EvalDecision"]) for page in pages for each in page["EvaluationResults"]
    ]
    assert found == [("s3:PutObject", "allowed"), ("sagemaker:CreateTrainingJob", "allowed")]


def test_a_repository_is_made_and_described(client: Any) -> None:
    ecr = client("ecr")
    made = ecr.create_repository(repositoryName="bandstand")["repository"]
    assert made["repositoryUri"] == "123456789012.dkr.ecr.eu-west-1.amazonaws.com/bandstand"
    assert (
        ecr.describe_repositories(repositoryNames=["bandstand"])["repositories"][0]["registryId"]
        == "123456789012"
    )
    token = ecr.get_authorization_token()["authorizationData"][0]["authorizationToken"]
    assert base64.b64decode(token).startswith(b"AWS:")
    with pytest.raises(ClientError) as caught:
        ecr.describe_repositories(repositoryNames=["other"])
    assert caught.value.response["Error"]["Code"] == "RepositoryNotFoundException"


def test_no_page_of_another_site_may_read_an_answer(client: Any) -> None:
    headers = client("sts").get_caller_identity()["ResponseMetadata"]["HTTPHeaders"]
    assert not [name for name in headers if name.startswith("access-control-")]
