"""Requests that are right, for tests to break; and the problems that loading finds."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from bandstand.errors import PlanError
from bandstand.problem import Problem
from bandstand.request import Plan
from bandstand.request.loading import load

JOB = """
name = "direct-marketing"
[hyperparameters]
algorithm = "xgboost"
objective = "binary:logistic"
[channels]
train = { path = "data/train", type = "csv" }
validation = { path = "data/validation", type = "csv" }
[cluster]
hosts = 3
[tuning]
metric = "validation:auc"
goal = "maximize"
strategy = "hyperband"
min_resource = 1
max_resource = 30
jobs = 30
parallel = 4
seed = 7
[ranges]
num_round = { integer = [100, 200] }
eta = { continuous = [1e-3, 1.0], scale = "log" }
booster = { categorical = ["gbtree", "dart"] }
[stopping]
job_seconds = 3600
"""

SCRIPT = (
    ('name = "direct-marketing"', 'name = "direct-marketing"\nprogram = "src/train.py"'),
    ('algorithm = "xgboost"\n', ""),
)

REGEX = r" validation:auc=([-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)"

Change = Callable[..., dict[str, Any]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with data and a script."""
    for name in ("train", "validation"):
        (tmp_path / "data" / name).mkdir(parents=True)
        (tmp_path / "data" / name / "part-0.csv").write_text("1,2\n")
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "train.py").write_text("print('x')\n")
    return tmp_path


@pytest.fixture
def definition(folder: Path) -> dict[str, Any]:
    """What a tuning job's definition and a training job's request have in common."""
    return {
        "AlgorithmSpecification": {
            "TrainingImage": "bandstand:latest",
            "TrainingInputMode": "File",
            "MetricDefinitions": [{"Name": "validation:auc", "Regex": REGEX}],
        },
        "RoleArn": "arn:aws:iam::111122223333:role/Training",
        "InputDataConfig": [
            {
                "ChannelName": name,
                "ContentType": "text/csv",
                "DataSource": {
                    "S3DataSource": {
                        "S3DataType": "S3Prefix",
                        "S3Uri": (folder / "data" / name).as_uri(),
                        "S3DataDistributionType": "FullyReplicated",
                    }
                },
            }
            for name in ("train", "validation")
        ],
        "OutputDataConfig": {"S3OutputPath": (folder / "out").as_uri()},
        "ResourceConfig": {"InstanceType": "ml.m5.xlarge", "InstanceCount": 3, "VolumeSizeInGB": 10},
        "StoppingCondition": {"MaxRuntimeInSeconds": 3600},
    }


@pytest.fixture
def tuning(definition: dict[str, Any]) -> dict[str, Any]:
    """A CreateHyperParameterTuningJob request that breaks no rule."""
    static = {"algorithm": "xgboost", "objective": "binary:logistic"}
    return {
        "HyperParameterTuningJobName": "tune",
        "HyperParameterTuningJobConfig": {
            "Strategy": "Hyperband",
            "StrategyConfig": {"HyperbandStrategyConfig": {"MinResource": 1, "MaxResource": 30}},
            "HyperParameterTuningJobObjective": {"Type": "Maximize", "MetricName": "validation:auc"},
            "ResourceLimits": {"MaxNumberOfTrainingJobs": 30, "MaxParallelTrainingJobs": 4},
            "ParameterRanges": {
                "IntegerParameterRanges": [{"Name": "num_round", "MinValue": "100", "MaxValue": "200"}],
                "ContinuousParameterRanges": [
                    {"Name": "eta", "MinValue": "0.01", "MaxValue": "1", "ScalingType": "Logarithmic"}
                ],
                "CategoricalParameterRanges": [{"Name": "booster", "Values": ["gbtree", "dart"]}],
            },
            "TrainingJobEarlyStoppingType": "Off",
            "RandomSeed": 7,
        },
        "TrainingJobDefinition": definition | {"StaticHyperParameters": static},
    }


@pytest.fixture
def script_tuning(folder: Path, tuning: dict[str, Any]) -> dict[str, Any]:
    """The same with a script of the user's, which declares no hyperparameters, so that it may have any."""
    changed = copy.deepcopy(tuning)
    changed["TrainingJobDefinition"]["StaticHyperParameters"] = {
        "sagemaker_program": "train.py",
        "sagemaker_submit_directory": (folder / "src").as_uri(),
    }
    return changed


@pytest.fixture
def training(definition: dict[str, Any]) -> dict[str, Any]:
    """A CreateTrainingJob request that breaks no rule."""
    return {
        "TrainingJobName": "train",
        "HyperParameters": {"algorithm": "xgboost", "num_round": "10"},
    } | copy.deepcopy(definition)


@pytest.fixture
def change() -> Change:
    """Return a changed copy of a document; paths have dots, `None` takes a member out."""

    def changed(document: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
        copied = copy.deepcopy(dict(document))
        for path, value in changes.items():
            inside: Any = copied
            *parts, last = (int(part) if part.isdigit() else part for part in path.split("."))
            for part in parts:
                inside = inside[part] if isinstance(part, int) else inside.setdefault(part, {})
            if value is None:
                del inside[last]
            else:
                inside[last] = value
        return copied

    return changed


@pytest.fixture
def problems() -> Callable[..., list[Problem]]:
    """Load a request that is wrong, and return what is wrong with it."""

    def found(source: Any, **options: Any) -> list[Problem]:
        with pytest.raises(PlanError) as caught:
            load(source, **options)
        return list(caught.value.problems)

    return found


@pytest.fixture
def job(folder: Path) -> Callable[..., Path]:
    """Write a job file, the usual one with some of its text replaced, and return its path.

    With `script` it is the job of a script that declares no hyperparameters, so that it may have any.
    """

    def write(*replacements: tuple[str, str], text: str = JOB, script: bool = False) -> Path:
        for old, new in (*(SCRIPT if script else ()), *replacements):
            assert old in text
            text = text.replace(old, new)
        path = folder / "job.toml"
        path.write_text(text)
        return path

    return write


@pytest.fixture
def plan_of() -> Callable[..., Plan]:
    """Load a request that is right."""
    return load


@pytest.fixture
def write_json(folder: Path) -> Callable[..., Path]:
    """Write a document, or any text, and return its path."""

    def write(document: Any, name: str = "request.json") -> Path:
        path = folder / name
        path.write_text(document if isinstance(document, str) else json.dumps(document))
        return path

    return write


@pytest.fixture
def assert_refused(change: Change, problems: Callable[..., list[Problem]]) -> Callable[..., None]:
    """Checks that a changed document breaks a rule at a place, in words that a message holds."""

    def check(document: dict[str, Any], changes: dict[str, Any], number: int, where: str, words: str) -> None:
        found = problems(change(document, changes))
        of_rule = [problem for problem in found if problem.number == number]
        assert any(where in problem.where and words in str(problem) for problem in of_rule), found

    return check
