"""What a job of the service holds: credentials of its own, and nothing of the service's."""

from __future__ import annotations

import json

import boto3
import pytest
from botocore.exceptions import ClientError

from bandstand.service.credentials import PREFIX, Credentials
from bandstand.service.protocol import ServiceError

from .served import Server, ended, training_request

ASKS = """
import json, os
import boto3
import bandstand
from botocore.exceptions import ClientError

run = bandstand.start()
sagemaker = boto3.client("sagemaker")
found = {"environment": dict(os.environ)}
name = os.environ["TRAINING_JOB_NAME"]
found["sees"] = sagemaker.describe_training_job(TrainingJobName=name)["TrainingJobArn"]
try:
    sagemaker.stop_training_job(TrainingJobName=os.environ["TRAINING_JOB_NAME"])
except ClientError as error:
    found["refused"] = str(error)
s3 = boto3.client("s3")
found["read"] = s3.get_object(Bucket="data-bucket", Key="in/a.csv")["Body"].read().decode()
s3.put_object(Bucket="data-bucket", Key="from-job.json", Body=json.dumps(found).encode())
run.report(1, {"score": 1.0})
"""


@pytest.fixture(scope="module")
def found(place):
    """What a job has found in its environment, its description, and the client of S3."""
    service = Server(place / "home", cwd=place, AWS_SECRET_ACCESS_KEY="the user's", MY_TOKEN="secret")
    s3 = boto3.client(
        "s3",
        endpoint_url=service.url,
        region_name="eu-west-1",
        aws_access_key_id="a",
        aws_secret_access_key="b",
    )
    s3.create_bucket(Bucket="data-bucket", CreateBucketConfiguration={"LocationConstraint": "eu-west-1"})
    s3.put_object(Bucket="data-bucket", Key="in/a.csv", Body=b"1,2\n")
    s3.put_object(Bucket="data-bucket", Key="code/train.py", Body=ASKS.encode())
    request = training_request(place, "asks", OutputDataConfig={"S3OutputPath": "s3://data-bucket/out"})
    request["InputDataConfig"][0]["DataSource"]["S3DataSource"]["S3Uri"] = "s3://data-bucket/in/"
    request["HyperParameters"]["sagemaker_submit_directory"] = "s3://data-bucket/code"
    client = service.client()
    client.create_training_job(**request)
    answer = ended(client, "asks")
    assert answer["TrainingJobStatus"] == "Completed", answer
    body = s3.get_object(Bucket="data-bucket", Key="from-job.json")["Body"].read()
    yield json.loads(body), answer, request, service
    service.end()


def test_a_job_has_credentials_of_its_own_and_nothing_of_the_services(found):
    environment = found[0]["environment"]
    assert environment["AWS_SESSION_TOKEN"].startswith(PREFIX)
    assert environment["AWS_SECRET_ACCESS_KEY"] != "the user's"
    assert "MY_TOKEN" not in environment
    assert environment["AWS_ENDPOINT_URL"] == found[3].url
    assert environment["AWS_REGION"] == "eu-west-1"


def test_a_job_finds_itself_by_the_arn_that_it_is_told(found):
    assert found[0]["sees"] == found[0]["environment"]["TRAINING_JOB_ARN"] == found[1]["TrainingJobArn"]


def test_a_job_may_read_and_write_objects_but_stop_nobody(found):
    assert found[0]["read"] == "1,2\n"
    assert "AccessDeniedException" in found[0]["refused"]
    assert "do not allow StopTrainingJob" in found[0]["refused"]


def test_what_describe_tells_keeps_the_words_of_the_request(found):
    _, answer, request, _ = found
    assert answer["HyperParameters"] == request["HyperParameters"]
    assert answer["OutputDataConfig"].items() >= request["OutputDataConfig"].items()
    told = [channel["DataSource"]["S3DataSource"]["S3Uri"] for channel in answer["InputDataConfig"]]
    assert told == [channel["DataSource"]["S3DataSource"]["S3Uri"] for channel in request["InputDataConfig"]]


def test_credentials_of_a_job_work_through_any_client_until_they_expire(found):
    environment, url = found[0]["environment"], found[3].url
    client = boto3.client(
        "s3",
        endpoint_url=url,
        region_name="eu-west-1",
        aws_access_key_id=environment["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=environment["AWS_SECRET_ACCESS_KEY"],
        aws_session_token=environment["AWS_SESSION_TOKEN"][:-1] + "x",
    )
    with pytest.raises(ClientError, match="403"):
        client.head_object(Bucket="data-bucket", Key="in/a.csv")


def test_a_token_tells_its_job_and_cannot_be_made_up():
    credentials = Credentials(b"key")
    token = credentials.issue("job", 60)["AWS_SESSION_TOKEN"]
    credentials.check(token, "DescribeTrainingJob")
    credentials.check("any other token", "StopTrainingJob")
    with pytest.raises(ServiceError, match="is invalid"):
        Credentials(b"another key").check(token, "DescribeTrainingJob")
    with pytest.raises(ServiceError, match="is expired"):
        credentials.check(credentials.issue("job", -1)["AWS_SESSION_TOKEN"], "")
    with pytest.raises(ServiceError, match="is invalid"):
        credentials.check(f"{PREFIX}eyJ9.abc", "")
