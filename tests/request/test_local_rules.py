"""What cannot run here is refused, what means nothing here is said, and nothing is ignored."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from bandstand.problem import Problem
from bandstand.request import Plan
from bandstand.request.local_effects import HONOURED, REFUSED, WHOLE, WITHOUT_EFFECT
from bandstand.request.service_model import TRAINING, TUNING, request_shape

Change = Callable[..., dict[str, Any]]
Problems = Callable[..., list[Problem]]

BODY = "TrainingJobDefinition"
CONFIG = "HyperParameterTuningJobConfig"
CRITERIA = f"{CONFIG}.TuningJobCompletionCriteria"
CHANNEL = f"{BODY}.InputDataConfig.0"
DATA = f"{CHANNEL}.DataSource.S3DataSource"
GROUP = {"InstanceType": "ml.m5.large", "InstanceCount": 1, "InstanceGroupName": "a"}


@pytest.mark.parametrize(
    ("changes", "number"),
    [
        ({"Autotune": {"Mode": "Enabled"}}, 606),
        ({f"{CONFIG}.ResourceLimits.MaxNumberOfTrainingJobs": None}, 607),
        ({f"{BODY}.AlgorithmSpecification.TrainingInputMode": "Pipe"}, 611),
        ({f"{CHANNEL}.InputMode": "Pipe"}, 611),
        ({f"{CHANNEL}.InputMode": "Pipe", f"{CHANNEL}.CompressionType": "Gzip"}, 611),
        ({f"{CHANNEL}.InputMode": "Pipe", f"{CHANNEL}.RecordWrapperType": "RecordIO"}, 611),
        (
            {
                f"{CHANNEL}.InputMode": "Pipe",
                f"{DATA}.S3DataType": "AugmentedManifestFile",
                f"{DATA}.AttributeNames": ["source-ref"],
            },
            612,
        ),
        ({f"{DATA}.HubAccessConfig": {"HubContentArn": "a"}}, 612),
        ({f"{DATA}.S3Uri": "s3://bucket/train"}, 613),
        ({f"{BODY}.OutputDataConfig.S3OutputPath": "s3://bucket/out"}, 613),
        ({f"{BODY}.CheckpointConfig": {"S3Uri": "s3://bucket/checkpoints"}}, 613),
        ({f"{BODY}.OutputDataConfig.CompressionType": "NONE"}, 614),
        ({f"{BODY}.CheckpointConfig": {"S3Uri": "file:///tmp/c", "LocalPath": "/elsewhere"}}, 615),
        ({f"{BODY}.ResourceConfig": {"InstanceGroups": [GROUP]}}, 616),
        ({f"{DATA}.InstanceGroupNames": ["a"]}, 616),
        ({f"{BODY}.EnableNetworkIsolation": True}, 617),
    ],
)
def test_what_this_release_cannot_run_is_refused_with_the_way_out(
    tuning: dict[str, Any], change: Change, problems: Problems, changes: dict[str, Any], number: int
) -> None:
    found = [problem for problem in problems(change(tuning, changes)) if problem.number == number]
    assert found
    assert all(problem.fix.endswith((".", ":")) and problem.allowed for problem in found)


@pytest.mark.parametrize(
    ("changes", "number"),
    [
        ({"AlgorithmSpecification.ContainerEntrypoint": ["python"]}, 618),
        ({"AlgorithmSpecification.ContainerArguments": ["--fast"]}, 618),
        (
            {"MlflowConfig": {"MlflowResourceArn": f"arn:aws:sagemaker:us-east-1:{'1' * 12}:mlflow-app/a"}},
            622,
        ),
        (
            {"AlgorithmSpecification.TrainingImage": None, "AlgorithmSpecification.AlgorithmName": "mine"},
            619,
        ),
    ],
)
def test_what_only_training_jobs_can_ask_for_is_refused_as_well(
    training: dict[str, Any], change: Change, problems: Problems, changes: dict[str, Any], number: int
) -> None:
    assert number in {problem.number for problem in problems(change(training, changes))}


def test_what_means_nothing_on_one_machine_is_said_in_one_note(
    tuning: dict[str, Any], change: Change, plan_of: Callable[..., Plan]
) -> None:
    plan = plan_of(
        change(
            tuning,
            {
                f"{BODY}.VpcConfig": {"SecurityGroupIds": ["sg-1"], "Subnets": ["subnet-1"]},
                f"{BODY}.OutputDataConfig.KmsKeyId": "key",
                f"{BODY}.ResourceConfig.VolumeKmsKeyId": "key",
                f"{BODY}.ResourceConfig.KeepAlivePeriodInSeconds": 60,
                f"{BODY}.EnableInterContainerTrafficEncryption": True,
                f"{CHANNEL}.ShuffleConfig": {"Seed": 1},
            },
        )
    )
    note = next(note for note in plan.notes if note.startswith("Accepted without effect on this machine"))
    for word in (
        "RoleArn",
        "VpcConfig",
        "KmsKeyId",
        "VolumeKmsKeyId",
        "KeepAlive",
        "Encryption",
        "Shuffle",
    ):
        assert word in note


def test_switches_that_are_off_and_defaults_are_not_worth_a_word(
    training: dict[str, Any], change: Change, plan_of: Callable[..., Plan]
) -> None:
    plan = plan_of(
        change(
            training,
            {
                "EnableNetworkIsolation": False,
                "EnableInterContainerTrafficEncryption": False,
                "EnableManagedSpotTraining": False,
                "OutputDataConfig.CompressionType": "GZIP",
                "CheckpointConfig": {"S3Uri": "file:///tmp/c", "LocalPath": "/opt/ml/checkpoints"},
                "InputDataConfig.0.CompressionType": "None",
                "InputDataConfig.0.RecordWrapperType": "None",
            },
        )
    )
    assert "Enable" not in "".join(plan.notes)
    assert plan.checkpoints == "file:///tmp/c"


def _members(shape: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield each member down to where a table says what becomes of all of it."""
    for name, member in shape.members.items():
        inner = (*path, name)
        yield inner
        if inner in WHOLE or inner in WITHOUT_EFFECT or (inner in REFUSED and inner not in HONOURED):
            continue
        while member.type_name == "list":
            member = member.member
        if member.type_name == "structure":
            yield from _members(member, () if inner in ((BODY,), (f"{BODY}s",)) else inner)


@pytest.mark.parametrize("operation", [TUNING, TRAINING])
def test_every_member_of_the_requests_is_honoured_noted_or_refused(operation: str) -> None:
    told = HONOURED | WHOLE | set(WITHOUT_EFFECT) | set(REFUSED)
    told |= {("ResourceConfig", f"SelectedInstance{part}") for part in ("Type", "Count")}  # rule 402
    assert {path for path in _members(request_shape(operation)) if path not in told} == set()


def test_every_entry_of_the_tables_is_a_member_of_a_request() -> None:
    known = {path for operation in (TUNING, TRAINING) for path in _members(request_shape(operation))}
    made_up = {path for path in (HONOURED | WHOLE | set(WITHOUT_EFFECT) | set(REFUSED)) if path not in known}
    assert made_up <= {
        (config, member, *rest)
        for config in ("ResourceConfig", "HyperParameterTuningResourceConfig")
        for member in (
            "InstanceConfigs",
            "InstancePreferences",
            "InstanceGroups",
            "TrainingPlanArn",
            "InstancePlacementConfig",
            "AllocationStrategy",
        )
        for rest in ((), ("InstanceType",), ("InstanceCount",), ("VolumeSizeInGB",), ("TrainingPlanArns",))
    }
