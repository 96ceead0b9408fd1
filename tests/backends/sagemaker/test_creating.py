"""A job is begun once: an answer that was lost is found out, another job of the name is not taken for it."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from botocore.stub import Stubber
from tests.backends.jobs import make_plan

from bandstand.backends.sagemaker.creating import JobExistsError, covers, create, is_unknown
from bandstand.backends.sagemaker.region import Region
from bandstand.errors import InputError

from .region import NAME, document_of

ARN = f"arn:aws:sagemaker:{NAME}:123456789012:training-job/job-1"


@pytest.fixture
def region(monkeypatch: pytest.MonkeyPatch) -> Region:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    return Region(NAME, None)


@pytest.fixture
def stub(region: Region) -> Iterator[Stubber]:
    with Stubber(region.client("sagemaker")) as stub:
        yield stub
        stub.assert_no_pending_responses()


@pytest.fixture
def document(tmp_path: Path) -> dict[str, Any]:
    return document_of(make_plan(tmp_path, output="s3://kept/out"))


def described(document: dict[str, Any], created: float, **changes: Any) -> dict[str, Any]:
    return {
        **{member: value for member, value in document.items() if member != "Tags"},
        "TrainingJobArn": ARN,
        "ModelArtifacts": {"S3ModelArtifacts": "s3://kept/out"},
        "TrainingJobStatus": "InProgress",
        "SecondaryStatus": "Starting",
        "CreationTime": datetime.fromtimestamp(created, UTC),
        "EnableNetworkIsolation": False,
        **changes,
    }


def test_a_create_whose_answer_was_lost_counts_as_done(
    region: Region, stub: Stubber, document: dict[str, Any]
) -> None:
    document["Tags"] = [{"Key": "team", "Value": "band"}]
    stub.add_client_error("create_training_job", "ResourceInUse", "the name exists", 400)
    stub.add_response("describe_training_job", described(document, time.time()))
    assert create(region, document) == ARN


@pytest.mark.parametrize("other", ["hyperparameter", "age"])
def test_another_job_of_the_name_is_not_taken_for_it(
    region: Region, stub: Stubber, document: dict[str, Any], other: str
) -> None:
    created = time.time() - (0 if other == "hyperparameter" else 86_400)
    found = json.loads(json.dumps(document))
    if other == "hyperparameter":
        found["HyperParameters"]["sagemaker_program"] = "another.py"
    stub.add_client_error("create_training_job", "ResourceInUse", "the name exists", 400)
    stub.add_response("describe_training_job", described(found, created))
    with pytest.raises(JobExistsError, match="another job of the name job-1"):
        create(region, document)


def test_a_job_that_was_handed_in_long_ago_is_found_by_whoever_takes_it_up(
    region: Region, stub: Stubber, document: dict[str, Any]
) -> None:
    asked = time.time() - 86_400
    stub.add_client_error("create_training_job", "ResourceInUse", "the name exists", 400)
    stub.add_response("describe_training_job", described(document, asked + 2))
    assert create(region, document, since=asked) == ARN


def test_throttling_is_borne_and_a_refusal_is_told(
    region: Region, stub: Stubber, document: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bandstand.backends.sagemaker.region.ROUND_SECONDS", 0.01)
    for _ in range(6):
        stub.add_client_error("create_training_job", "ThrottlingException", "Rate exceeded", 400)
    stub.add_client_error("create_training_job", "ValidationException", "Could not assume role", 400)
    with pytest.raises(InputError, match="its trust policy"):
        create(region, document)


def test_numbers_are_compared_as_the_service_keeps_them() -> None:
    assert covers({"TargetObjectiveMetricValue": 0.10000000149011612}, {"TargetObjectiveMetricValue": 0.1})
    assert not covers({"TargetObjectiveMetricValue": 0.1001}, {"TargetObjectiveMetricValue": 0.1})
    assert not covers({"Values": ["a"]}, {"Values": ["a", "b"]})
    assert covers({"Mode": "x", "Default": 1}, {"Mode": "x", "Tags": [1]})


def test_an_unknown_job_is_known_by_code_or_words(stub: Stubber, region: Region) -> None:
    for code, words, expected in (
        ("ResourceNotFound", "gone", True),
        ("ValidationException", "Requested resource not found.", True),
        ("ValidationException", "1 validation error detected", False),
    ):
        stub.add_client_error("describe_training_job", code, words, 400)
        with pytest.raises(Exception) as caught:
            region.client("sagemaker").describe_training_job(TrainingJobName="gone")
        assert is_unknown(caught.value) is expected
