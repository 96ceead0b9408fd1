"""Plans: frozen, hashable, and the source of each training job's request."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from botocore.validate import ParamValidator

from bandstand.errors import PlatformError
from bandstand.request import ChannelPlan, TrainingPlan, TuningPlan, local_path
from bandstand.request.service_model import TRAINING, request_shape

SETTINGS = {"num_round": "120", "eta": "0.1", "booster": "dart"}


@pytest.fixture
def plan(tuning: dict[str, Any], plan_of: Callable[..., TuningPlan]) -> TuningPlan:
    return plan_of(tuning)


def test_a_training_job_is_named_as_amt_names_it(plan: TuningPlan) -> None:
    assert re.fullmatch(r"tune-007-[0-9a-f]{8}", plan.training(7, SETTINGS).name)
    assert re.fullmatch(r"tune-1000-[0-9a-f]{8}", plan.training(1000, SETTINGS).name)


def test_a_training_job_has_the_same_name_each_time_and_another_for_other_settings(plan: TuningPlan) -> None:
    assert plan.training(1, SETTINGS) == plan.training(1, dict(reversed(SETTINGS.items())))
    assert plan.training(1, SETTINGS).name != plan.training(1, SETTINGS | {"eta": "0.2"}).name
    assert plan.training(1, SETTINGS).name != plan.renamed("tune-2").training(1, SETTINGS).name


def test_a_training_job_gets_static_and_tuned_hyperparameters_and_the_objective(plan: TuningPlan) -> None:
    job = plan.training(1, SETTINGS)
    expected = {"algorithm": "xgboost", "objective": "binary:logistic"} | SETTINGS
    expected["_tuning_objective_metric"] = "validation:auc"
    assert dict(job.hyperparameters) == expected
    assert json.loads(job.document)["HyperParameters"] == expected
    assert json.loads(job.document)["TrainingJobName"] == job.name


def test_a_training_jobs_request_is_one_that_boto3_takes(plan: TuningPlan) -> None:
    document = json.loads(plan.training(1, SETTINGS).document)
    assert not ParamValidator().validate(document, request_shape(TRAINING)).has_errors()


def test_a_training_job_takes_tags_and_every_other_field_from_the_tuning_job(
    tuning: dict[str, Any], change: Callable[..., dict[str, Any]], plan_of: Callable[..., TuningPlan]
) -> None:
    changes = {
        "Tags": [{"Key": "team", "Value": "ads"}],
        "TrainingJobDefinition.Environment": {"A": "1"},
        "TrainingJobDefinition.EnableManagedSpotTraining": True,
        "TrainingJobDefinition.StoppingCondition.MaxWaitTimeInSeconds": 7200,
        "TrainingJobDefinition.VpcConfig": {"SecurityGroupIds": ["sg-1"], "Subnets": ["subnet-1"]},
        "TrainingJobDefinition.RetryStrategy": {"MaximumRetryAttempts": 2},
    }
    plan = plan_of(change(tuning, changes))
    job = plan.training(1, SETTINGS)
    document = json.loads(job.document)
    assert job.tags == (("team", "ads"),)
    assert job.environment == (("A", "1"),)
    for path, value in changes.items():
        inside: Any = document
        for part in path.removeprefix("TrainingJobDefinition.").split("."):
            inside = inside[part]
        assert inside == value


def test_flexible_instances_become_the_first_of_them_in_a_training_jobs_request(
    tuning: dict[str, Any], change: Callable[..., dict[str, Any]], plan_of: Callable[..., TuningPlan]
) -> None:
    configs = [
        {"InstanceType": "ml.m5.large", "InstanceCount": 2, "VolumeSizeInGB": 20},
        {"InstanceType": "ml.m4.xlarge", "InstanceCount": 3, "VolumeSizeInGB": 30},
    ]
    resources = {"AllocationStrategy": "Prioritized", "InstanceConfigs": configs}
    plan = plan_of(
        change(
            tuning,
            {
                "TrainingJobDefinition.ResourceConfig": None,
                "TrainingJobDefinition.HyperParameterTuningResourceConfig": resources,
            },
        )
    )
    job = plan.training(1, SETTINGS)
    assert (job.instance_type, job.hosts, job.volume_gb) == ("ml.m5.large", 2, 20)
    document = json.loads(job.document)
    assert document["ResourceConfig"] == configs[0]
    assert not ParamValidator().validate(document, request_shape(TRAINING)).has_errors()


def test_settings_must_name_every_range(plan: TuningPlan) -> None:
    with pytest.raises(KeyError):
        plan.training(1, {"eta": "0.1"})


def test_plans_are_frozen_and_hashable(plan: TuningPlan) -> None:
    assert len({plan, plan.renamed("tune"), plan.definitions[0].training}) == 2
    with pytest.raises(dataclasses.FrozenInstanceError):
        plan.jobs = 3  # type: ignore[misc]


def test_a_renamed_plan_has_the_name_in_its_documents(plan: TuningPlan) -> None:
    renamed = plan.renamed("tune-2")
    assert json.loads(renamed.document)["HyperParameterTuningJobName"] == "tune-2"
    assert renamed.training(1, SETTINGS).name.startswith("tune-2-001-")
    assert json.loads(plan.definitions[0].training.renamed("x").document)["TrainingJobName"] == "x"


def test_plans_survive_a_trip_through_json(plan: TuningPlan) -> None:
    assert TuningPlan.from_dict(json.loads(json.dumps(plan.to_dict()))) == plan
    job = plan.training(1, SETTINGS)
    assert TrainingPlan.from_dict(json.loads(json.dumps(job.to_dict()))) == job


def test_ranks_and_threads_come_from_the_environment(plan: TuningPlan) -> None:
    assert plan.definitions[0].training.ranks_per_host is None
    assert plan.definitions[0].training.threads is None
    told = dataclasses.replace(
        plan.definitions[0].training,
        environment=(("BANDSTAND_RANKS_PER_HOST", "2"), ("BANDSTAND_THREADS", "3")),
    )
    assert (told.ranks_per_host, told.threads) == (2, 3)


def test_a_file_uri_is_a_path_with_its_percent_codes_read(tmp_path: Path) -> None:
    odd = tmp_path / "a b#c%20"
    assert local_path(odd.as_uri()) == odd
    assert local_path("file:///plain text") == Path("/plain text")
    assert ChannelPlan("train", odd.as_uri()).path == odd


@pytest.mark.parametrize("uri", ["s3://bucket/x", "https://host/x", "file://host/x", "/x"])
def test_a_location_elsewhere_is_no_path_here(uri: str) -> None:
    with pytest.raises(PlatformError, match="not on this machine"):
        local_path(uri)


def test_paths_of_a_training_plan_are_on_this_machine(plan: TuningPlan, folder: Path) -> None:
    assert plan.definitions[0].training.output_path == folder / "out"
    assert plan.definitions[0].training.checkpoint_path is None
    kept = dataclasses.replace(plan.definitions[0].training, checkpoints=(folder / "kept").as_uri())
    assert kept.checkpoint_path == folder / "kept"
