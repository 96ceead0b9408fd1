"""What SageMaker itself needs, which a job on this machine runs without."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from bandstand.problem import Problem
from bandstand.request.loading import load

Document = dict[str, Any]
Change = Callable[..., Document]
Problems = Callable[..., list[Problem]]

IMAGE = "111122223333.dkr.ecr.eu-central-1.amazonaws.com/bandstand:1"
ROLE = 'role = "arn:aws:iam::111122223333:role/Training"'
HEAD = 'name = "direct-marketing"'


@pytest.fixture
def on_s3(training: Document, change: Change) -> Document:
    """A CreateTrainingJob request that SageMaker could run."""
    data = {f"InputDataConfig.{i}.DataSource.S3DataSource.S3Uri": f"s3://bucket/{i}" for i in (0, 1)}
    image = {"AlgorithmSpecification.TrainingImage": IMAGE}
    return change(training, {**data, **image, "OutputDataConfig.S3OutputPath": "s3://bucket/out"})


def test_a_request_on_s3_with_an_image_in_a_registry_is_right(on_s3: Document) -> None:
    assert load(on_s3, on="sagemaker").name == "train"


@pytest.mark.parametrize(
    ("changes", "number", "where"),
    [
        ({"RoleArn": "arn:aws:iam::000000000000:role/none"}, 701, "RoleArn"),
        ({"AlgorithmSpecification.TrainingImage": "bandstand:latest"}, 702, "TrainingImage"),
        ({"AlgorithmSpecification.TrainingImage": "mine/bandstand:latest"}, 702, "TrainingImage"),
        ({"OutputDataConfig.S3OutputPath": "file:///tmp/out"}, 703, "S3OutputPath"),
        ({"CheckpointConfig": {"S3Uri": "file:///tmp/checkpoints"}}, 703, "CheckpointConfig"),
        ({"InputDataConfig.1.DataSource.S3DataSource.S3Uri": "file:///tmp/v"}, 703, "InputDataConfig[1]"),
    ],
)
def test_what_sagemaker_could_not_reach_or_take_is_refused(
    on_s3: Document, change: Change, problems: Problems, changes: Document, number: int, where: str
) -> None:
    (problem,) = problems(change(on_s3, changes), on="sagemaker")
    assert problem.number == number
    assert where in problem.where
    assert problem.fix


@pytest.mark.parametrize(("place", "number"), [("file:///tmp/src", 703), ("s3://bucket/src.tar.gz", 704)])
def test_code_of_a_document_is_in_the_image_or_comes_by_a_channel(
    on_s3: Document, change: Change, problems: Problems, place: str, number: int
) -> None:
    program = {"sagemaker_program": "train.py", "sagemaker_submit_directory": place}
    found = problems(change(on_s3, {"HyperParameters": program}), on="sagemaker")
    assert number in [each.number for each in found]
    assert all("sagemaker_submit_directory" in each.where for each in found)


def test_somebody_elses_image_may_fetch_its_code_from_s3(on_s3: Document, change: Change) -> None:
    program = {"sagemaker_program": "train.py", "sagemaker_submit_directory": "s3://bucket/src.tar.gz"}
    other = {"AlgorithmSpecification.TrainingImage": IMAGE.replace("bandstand", "mine")}
    load(change(on_s3, {**other, "HyperParameters": program}), on="sagemaker")


def test_a_job_file_needs_a_role_and_an_image_there_and_none_of_them_here(
    job: Callable[..., Any], problems: Problems
) -> None:
    path = job()
    load(path)
    found = problems(path, on="sagemaker")
    assert [(problem.number, problem.where) for problem in found] == [(701, "role"), (702, "image")]
    assert "bandstand push bandstand:latest" in found[1].fix


def test_a_job_files_own_folders_are_no_fault_since_they_are_uploaded(job: Callable[..., Any]) -> None:
    load(job((HEAD, f'{HEAD}\n{ROLE}\nimage = "{IMAGE}"')), on="sagemaker")
