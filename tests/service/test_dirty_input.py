"""Whatever is sent: an answer, or a refusal of the service's kind; never a fault, never a job unasked for."""

from __future__ import annotations

import http.client
import json
import random
from contextlib import closing
from typing import Any

import pytest

from bandstand.service.protocol import model
from bandstand.service.sagemaker import OPERATIONS

from .served import Server, refusal, training_request

TEXTS = (
    "",
    " ",
    "a",
    "A-1",
    "\0",
    "\ud800",
    "é" * 300,
    "x" * 5000,
    "../..",
    "'; DROP TABLE names; --",
    "%",
    "null",
)
URIS = (
    "s3://",
    "s3://b",
    "s3://no-bucket/key",
    "s3://../x",
    "file:///",
    "file:///proc/self",
    "https://x/y",
    "s3://a b/c",
)
NUMBERS = (0, -1, 1, 2**31, 2**63, -(2**70), 1.5, 1e308)
ODD = (None, True, [], {}, [[]], {"a": {"b": []}}, "text", 7)


def value(shape: Any, choose: random.Random, depth: int = 0) -> Any:
    """Something of a shape, with anything that its type allows in it, and now and then of another type."""
    if choose.random() < 0.08:
        return choose.choice(ODD)
    kind = shape.type_name
    if kind == "structure":
        names = [
            name
            for name in shape.members
            if name in shape.required_members or (depth < 4 and choose.random() < 0.3)
        ]
        return {name: value(shape.members[name], choose, depth + 1) for name in names}
    if kind == "list":
        return [value(shape.member, choose, depth + 1) for _ in range(choose.choice((0, 1, 1, 2, 60)))]
    if kind == "map":
        return {
            choose.choice(TEXTS): value(shape.value, choose, depth + 1) for _ in range(choose.randrange(3))
        }
    if kind == "boolean":
        return choose.random() < 0.5
    if kind in ("integer", "long", "float", "double", "timestamp"):
        return choose.choice(NUMBERS)
    if shape.enum and choose.random() < 0.7:
        return choose.choice(shape.enum)
    return choose.choice(URIS if shape.name == "S3Uri" and choose.random() < 0.8 else TEXTS)


def asked(server: Server, name: str, body: bytes) -> tuple[int, dict[str, Any]]:
    """The status and the document with which a body is answered."""
    with closing(http.client.HTTPConnection(server.url.removeprefix("http://"))) as connection:
        connection.request("POST", "/", body, {"X-Amz-Target": f"SageMaker.{name}"})
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())


@pytest.mark.parametrize("name", sorted(OPERATIONS))
def test_random_requests_are_answered_or_refused(server, name):
    choose = random.Random(name)
    shape = model("sagemaker").operation_model(name).input_shape
    for _ in range(40):
        body = json.dumps(value(shape, choose)).encode("utf-8", "surrogatepass")
        status, told = asked(server, name, body)
        assert status in (200, 400), (body, told)
        if status == 400:
            assert told["__type"]
            assert told["message"]


def test_after_all_of_it_nobody_asked_for_a_job(server, sagemaker):
    for name in sorted(OPERATIONS):
        test_random_requests_are_answered_or_refused(server, name)
    assert sagemaker.list_training_jobs()["TrainingJobSummaries"] == []


@pytest.mark.parametrize("body", [b"\xff\xfe", b"[" * 100_000, b"1" * 5000, b'"text"', b"", b"{}"])
def test_bodies_that_are_no_objects_are_refused(server, body):
    status, told = asked(server, "DescribeTrainingJob", body)
    assert status == 400
    assert told["__type"] in ("SerializationException", "ValidationException")


def test_a_bucket_that_is_not_there_is_named_and_folders_are_not_spoken_of(sagemaker, place):
    request = training_request(place, "no-bucket", OutputDataConfig={"S3OutputPath": "s3://none-such/out"})
    code, message = refusal(sagemaker.create_training_job, **request)
    assert code == "ValidationException"
    assert "There is no bucket none-such" in message
    assert "--allow" not in message


@pytest.mark.parametrize(
    "query", ["X-Amz-Credential=", "X-Amz-Credential", "X-Amz-CredentialX=1", "a=X-Amz-Credential"]
)
def test_an_address_whose_signature_names_nobody_is_refused(server, query):
    with closing(http.client.HTTPConnection(server.url.removeprefix("http://"))) as connection:
        connection.request("PUT", f"/bucket/key?{query}")
        answer = connection.getresponse()
        assert answer.status == 404
        assert json.loads(answer.read())["__type"] == "UnknownOperationException"


@pytest.mark.parametrize("bucket", ["b", "..", "My-Bucket", "a_b", "10.0.0.1", "-ab", "x" * 64])
def test_a_bucket_that_cannot_be_is_named_with_what_buckets_are_called(sagemaker, place, bucket):
    request = training_request(place, "odd-bucket", OutputDataConfig={"S3OutputPath": f"s3://{bucket}/out"})
    told = str(refusal(sagemaker.create_training_job, **request))
    assert f"names the bucket {bucket}, which no bucket can be called. Expected 3 to 63 small letters" in told
    assert "found no bucket's name" not in told


def test_a_folder_that_is_not_allowed_is_named_with_the_option_that_allows_it(sagemaker, place):
    request = training_request(place, "no-folder", OutputDataConfig={"S3OutputPath": "file:///usr/share"})
    code, message = refusal(sagemaker.create_training_job, **request)
    assert code == "ValidationException"
    assert "file:///usr/share is not below" in message
    assert message.endswith("--allow DIR.")
