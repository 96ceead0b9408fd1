"""Rules of a training job: algorithm, instances, limits, environment, tags and metrics."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from bandstand.problem import Problem
from bandstand.request import Plan

Change = Callable[..., dict[str, Any]]
Problems = Callable[..., list[Problem]]

SPEC = "AlgorithmSpecification"
METRICS = f"{SPEC}.MetricDefinitions"
RESOURCES = "ResourceConfig"
STOPPING = "StoppingCondition"
GROUP = {"InstanceType": "ml.m5.large", "InstanceCount": 1, "InstanceGroupName": "a"}


@pytest.mark.parametrize(
    ("changes", "number", "where", "words"),
    [
        ({f"{SPEC}.AlgorithmName": "mine"}, 401, f"{SPEC}.AlgorithmName", "one of the two"),
        ({f"{SPEC}.TrainingImage": None}, 401, f"{SPEC}.TrainingImage", "found nothing"),
        ({f"{SPEC}.TrainingImage": ""}, 401, f"{SPEC}.TrainingImage", "an empty text"),
        ({SPEC: None}, 401, f"{SPEC}.TrainingImage", "an image or an algorithm"),
        ({RESOURCES: None}, 402, RESOURCES, "InstanceType, InstanceCount and VolumeSizeInGB"),
        ({f"{RESOURCES}.InstanceGroups": [GROUP]}, 402, RESOURCES, "InstanceType with InstanceGroups"),
        (
            {RESOURCES: {"InstanceGroups": [GROUP], "InstanceCount": 2}},
            402,
            RESOURCES,
            "InstanceGroups with InstanceCount",
        ),
        (
            {f"{RESOURCES}.InstancePreferences": [{"InstanceType": "ml.m5.large"}]},
            402,
            RESOURCES,
            "InstanceType with InstancePreferences",
        ),
        ({f"{RESOURCES}.SelectedInstanceType": "ml.m5.large"}, 402, "SelectedInstanceType", "fills it in"),
        ({f"{RESOURCES}.InstanceCount": 0}, 403, f"{RESOURCES}.InstanceCount", "at least one"),
        (
            {f"{RESOURCES}.InstanceCount": None},
            403,
            f"{RESOURCES}.InstanceCount",
            "Add ResourceConfig.Instance",
        ),
        ({f"{RESOURCES}.InstanceType": None}, 403, f"{RESOURCES}.InstanceType", "type and number"),
        ({"EnableManagedSpotTraining": True}, 404, f"{STOPPING}.MaxWaitTimeInSeconds", "found nothing"),
        (
            {"EnableManagedSpotTraining": True, f"{STOPPING}.MaxWaitTimeInSeconds": 3599},
            404,
            f"{STOPPING}.MaxWaitTimeInSeconds",
            "at least MaxRuntimeInSeconds, which is 3600",
        ),
        (
            {
                "EnableManagedSpotTraining": True,
                f"{STOPPING}.MaxWaitTimeInSeconds": 7200,
                f"{STOPPING}.MaxRuntimeInSeconds": None,
            },
            404,
            f"{STOPPING}.MaxWaitTimeInSeconds",
            "86400, one day, since the request does not say",
        ),
        (
            {
                "EnableManagedSpotTraining": True,
                f"{STOPPING}.MaxWaitTimeInSeconds": 3600,
                RESOURCES: {"InstancePreferences": [{"InstanceType": "ml.m5.large", "InstanceCount": 1}]},
            },
            402,
            f"{RESOURCES}.InstancePreferences",
            "InstancePreferences with spot instances",
        ),
        ({f"{STOPPING}.MaxWaitTimeInSeconds": 3600}, 404, "MaxWaitTimeInSeconds", "none without spot"),
        ({f"{STOPPING}.MaxRuntimeInSeconds": 28 * 86400 + 1}, 405, "MaxRuntimeInSeconds", "28 days"),
        ({"Tags": [{"Key": "aws:x", "Value": ""}]}, 410, "Tags[0].Key", "Rename it."),
        ({"Tags": [{"Key": "a", "Value": ""}] * 2}, 410, "Tags[1].Key", '"a" a second time'),
        ({"Environment": {"BANDSTAND_RANKS_PER_HOST": "two"}}, 411, "RANKS_PER_HOST", "1 to 1024"),
        ({"Environment": {"BANDSTAND_RANKS_PER_HOST": "1025"}}, 411, "RANKS_PER_HOST", "1 to 1024"),
        ({"Environment": {"BANDSTAND_THREADS": "0"}}, 411, "BANDSTAND_THREADS", "1 to 4096"),
        ({"Environment": {"BANDSTAND_THREADS": ""}}, 411, "BANDSTAND_THREADS", "1 to 4096"),
        ({"Environment": {"BANDSTAND_PORT": "65536"}}, 411, "BANDSTAND_PORT", "0 to 65535"),
        ({"Environment": {"BANDSTAND_PORT": "x"}}, 411, "BANDSTAND_PORT", "0 to 65535"),
        ({"Environment": {"BANDSTAND_START_TIMEOUT": "0"}}, 411, "START_TIMEOUT", "more than 0"),
        ({"Environment": {"BANDSTAND_START_TIMEOUT": "1e999"}}, 411, "START_TIMEOUT", "more than 0"),
        ({"Environment": {"SAGEMAKER_BASE_DIR": "/tmp/ml"}}, 411, "SAGEMAKER_BASE_DIR", "/opt/ml"),
        ({"Environment": {"BANDSTAND_GOAL": "up"}}, 411, "BANDSTAND_GOAL", "maximize or minimize"),
        ({f"{METRICS}.0.Regex": "auc=([0-9.]+)"}, 501, f"{METRICS}[0].Regex", "auc=([0-9.]+)"),
        ({f"{METRICS}.0.Regex": "auc="}, 501, f"{METRICS}[0].Regex", "group"),
        ({f"{METRICS}.0.Regex": "auc=(.*"}, 501, f"{METRICS}[0].Regex", "regular expression"),
        ({f"{METRICS}.0.Regex": "(auc)=(.*)"}, 501, f"{METRICS}[0].Regex", "group"),
        ({f"{METRICS}.0.Regex": "auc=(.*?)"}, 501, f"{METRICS}[0].Regex", "empty"),
        ({METRICS: [{"Name": "a", "Regex": " a=(\\S+)"}] * 2}, 502, f"{METRICS}[1].Name", "each metric once"),
    ],
)
def test_each_rule_of_a_training_job_says_where_and_how_to_mend_it(
    training: dict[str, Any],
    assert_refused: Callable[..., None],
    changes: dict[str, Any],
    number: int,
    where: str,
    words: str,
) -> None:
    assert_refused(training, changes, number, where, words)


def test_a_definition_has_one_kind_of_resources(
    tuning: dict[str, Any], change: Change, problems: Problems
) -> None:
    body = "TrainingJobDefinition"
    config = {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 1}
    both = change(tuning, {f"{body}.HyperParameterTuningResourceConfig": config})
    assert [problem.number for problem in problems(both)] == [402]
    mixed = change(
        tuning,
        {
            f"{body}.ResourceConfig": None,
            f"{body}.HyperParameterTuningResourceConfig": {"InstanceConfigs": [config], "VolumeSizeInGB": 1},
        },
    )
    assert [problem.number for problem in problems(mixed)] == [402]
    none = change(
        mixed,
        {f"{body}.HyperParameterTuningResourceConfig": {"InstanceConfigs": [config | {"InstanceCount": 0}]}},
    )
    assert [problem.number for problem in problems(none)] == [403]


def test_spot_with_a_wait_as_long_as_the_run_is_taken(
    training: dict[str, Any], change: Change, plan_of: Callable[..., Plan]
) -> None:
    plan = plan_of(
        change(training, {"EnableManagedSpotTraining": True, f"{STOPPING}.MaxWaitTimeInSeconds": 3600})
    )
    assert (plan.spot, plan.max_wait) == (True, 3600)
    assert any("EnableManagedSpotTraining: nothing keeps checkpoints" in each for each in plan.notes)


def test_the_patterns_of_the_metric_line_and_of_aws_are_taken(
    training: dict[str, Any], change: Change, plan_of: Callable[..., Plan]
) -> None:
    patterns = {
        "validation:auc": r".*\[[0-9]+\].*#011validation-auc:(\S+)",
        "loss": r" loss=([-+]?[0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?)",
        "gan": r"GAN_loss=(.*?);",
    }
    definitions = [{"Name": name, "Regex": regex} for name, regex in patterns.items()]
    assert dict(plan_of(change(training, {METRICS: definitions})).metrics) == patterns


def test_a_training_job_may_run_for_a_day_if_nothing_else_is_said(
    training: dict[str, Any], change: Change, plan_of: Callable[..., Plan]
) -> None:
    assert plan_of(change(training, {STOPPING: {}})).max_runtime == 86400
    assert plan_of(change(training, {STOPPING: None})).max_runtime == 86400
