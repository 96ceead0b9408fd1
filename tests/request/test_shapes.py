"""Documents against the service model: all that boto3 checks, and all that it does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from botocore.validate import ParamValidator

from bandstand.problem import Problem
from bandstand.request.findings import Findings
from bandstand.request.service_model import TRAINING, TUNING, request_shape
from bandstand.request.shapes import check_shapes

CONFIG = "HyperParameterTuningJobConfig"
BODY = "TrainingJobDefinition"


def _problems(document: dict[str, Any], operation: str = TUNING) -> list[Problem]:
    findings = Findings(exact=True)
    check_shapes(operation, document, findings)
    return findings.problems


def test_a_right_document_has_no_problem_and_comes_back_unchanged(
    tuning: dict[str, Any], training: dict[str, Any]
) -> None:
    for operation, document in ((TUNING, tuning), (TRAINING, training)):
        findings = Findings(exact=True)
        assert check_shapes(operation, document, findings) == document
        assert findings.problems == []
        assert not ParamValidator().validate(document, request_shape(operation)).has_errors()


@pytest.mark.parametrize(
    ("path", "value", "number", "words"),
    [
        ("HyperParameterTuningJobName", "a" * 33, 206, "33 characters; allowed: at most 32"),
        ("HyperParameterTuningJobName", "tune_1", 204, "letters, digits and hyphens"),
        ("HyperParameterTuningJobName", "tune\n", 204, "letters, digits and hyphens"),
        (f"{BODY}.StaticHyperParameters.a", "a\0b", 209, 'found "a\\x00b"'),
        (f"{BODY}.StaticHyperParameters", {"a\0": "b"}, 209, "the name"),
        (f"{BODY}.StaticHyperParameters.a", "\udcff", 209, 'Take "\\udcff" out.'),
        (f"{BODY}.Environment", {"A": "\0"}, 209, "a program can be given"),
        ("HyperParameterTuningJobName", "-tune", 204, "letters, digits and hyphens"),
        ("HyperParameterTuningJobName", "", 206, "0 characters; allowed: at least 1"),
        ("HyperParameterTuningJobName", 7, 203, 'Write it in quotes: "7".'),
        ("HyperParameterTuningJobNmae", "tune", 201, "Did you mean HyperParameterTuningJobName?"),
        (f"{CONFIG}.Strategy", "hyperband", 205, "Did you mean Hyperband?"),
        (f"{CONFIG}.RandomSeed", -1, 207, "allowed: 0 or more"),
        (f"{CONFIG}.RandomSeed", 2**31, 207, "allowed: 0 to 2147483647"),
        (f"{CONFIG}.TuningJobCompletionCriteria.TargetObjectiveMetricValue", 10**400, 207, "a finite number"),
        (f"{CONFIG}.RandomSeed", True, 203, "a whole number"),
        (f"{CONFIG}.RandomSeed", 7.0, 203, "a whole number"),
        (f"{CONFIG}.ResourceLimits.MaxParallelTrainingJobs", "4", 203, "Write it without quotes: 4."),
        (f"{CONFIG}.ResourceLimits.MaxParallelTrainingJobs", 0, 207, "1 or more"),
        (f"{CONFIG}.ResourceLimits.MaxRuntimeInSeconds", 119, 207, "120 to 15768000"),
        (f"{CONFIG}.ResourceLimits.MaxRuntimeInSeconds", 15768001, 207, "120 to 15768000"),
        (f"{CONFIG}.ResourceLimits.MaxRuntimeInSeconds", "x", 203, "Write a whole number."),
        (f"{CONFIG}.HyperParameterTuningJobObjective.MetricName", "a" * 256, 206, "at most 255"),
        (f"{CONFIG}.StrategyConfig.HyperbandStrategyConfig.MinResource", 0, 207, "1 or more"),
        (f"{CONFIG}.ParameterRanges.CategoricalParameterRanges.0.Values", [], 206, "at least 1"),
        (f"{CONFIG}.ParameterRanges.CategoricalParameterRanges.0.Values", ["a"] * 31, 206, "at most 30"),
        (f"{CONFIG}.ParameterRanges.CategoricalParameterRanges.0.Values", "a", 203, "a list"),
        (f"{CONFIG}.ParameterRanges.CategoricalParameterRanges.0.Values", ["a" * 257], 206, "at most 256"),
        (f"{CONFIG}.ParameterRanges.IntegerParameterRanges.0.MinValue", 100, 203, 'in quotes: "100".'),
        (f"{CONFIG}.ParameterRanges.IntegerParameterRanges.0.ScalingType", "Log", 205, "Logarithmic"),
        (f"{CONFIG}.TuningJobCompletionCriteria", {"TargetObjectiveMetricValue": "x"}, 203, "a number"),
        (
            f"{CONFIG}.TuningJobCompletionCriteria",
            {"BestObjectiveNotImproving": {"MaxNumberOfTrainingJobsNotImproving": 2}},
            207,
            "3 or more",
        ),
        (f"{BODY}.StaticHyperParameters.text", "two\nlines", 204, "one line of text"),
        (f"{BODY}.StaticHyperParameters.text", "carriage\rreturn", 204, "Take the line breaks out."),
        (f"{BODY}.StaticHyperParameters.text", "a" * 2501, 206, "at most 2500"),
        (f"{BODY}.StaticHyperParameters.text", None, 203, "found null"),
        (f"{BODY}.StaticHyperParameters", {f"h{k}": "1" for k in range(101)}, 206, "at most 100"),
        (f"{BODY}.StaticHyperParameters", {"h" * 257: "1"}, 206, "the name 257 characters"),
        (f"{BODY}.StaticHyperParameters", {7: "1"}, 203, "Write the key as text."),
        (f"{BODY}.Environment", {"1A": "x"}, 204, "the first no digit"),
        (f"{BODY}.Environment", {"A" * 513: "x"}, 206, "at most 512"),
        (f"{BODY}.Environment", {"A": "x" * 513}, 206, "at most 512"),
        (f"{BODY}.Environment", {f"A{k}": "x" for k in range(49)}, 206, "at most 48"),
        (f"{BODY}.RoleArn", "Training", 206, "at least 20"),
        (f"{BODY}.RoleArn", "arn:aws:iam::1111:role/Training", 204, "arn:aws:iam::<12 digits>:role/<name>"),
        (f"{BODY}.AlgorithmSpecification.TrainingImage", "i" * 256, 206, "at most 255"),
        (f"{BODY}.AlgorithmSpecification.MetricDefinitions.0.Regex", "x" * 501, 206, "at most 500"),
        (f"{BODY}.AlgorithmSpecification.ContainerEntrypoint", ["x"], 201, "docker run IMAGE train"),
        (f"{BODY}.HyperParameters", {"a": "1"}, 201, "Did you mean StaticHyperParameters?"),
        (f"{BODY}.InputDataConfig", [], 206, "at least 1"),
        (f"{BODY}.InputDataConfig.0.ChannelName", "my channel", 204, "text that matches"),
        (f"{BODY}.InputDataConfig.0.DataSource.S3DataSource.S3Uri", "data/train", 208, "file:///path"),
        (f"{BODY}.InputDataConfig.0.DataSource.S3DataSource.S3Uri", "file://data", 208, "absolute path"),
        (f"{BODY}.OutputDataConfig.S3OutputPath", "s3:/bucket", 208, "s3://bucket/prefix"),
        (f"{BODY}.ResourceConfig.InstanceType", "ml.m5.xlrage", 205, "Did you mean ml.m5.xlarge?"),
        (f"{BODY}.StoppingCondition.MaxRuntimeInSeconds", 0, 207, "1 or more"),
        (f"{BODY}.EnableNetworkIsolation", "false", 203, "true or false"),
        (f"{BODY}.RetryStrategy", {"MaximumRetryAttempts": 31}, 207, "1 to 30"),
        (BODY, [], 203, "an object"),
        ("Tags", [{"Key": f"k{k}", "Value": ""} for k in range(51)], 206, "at most 50"),
        ("Tags", [{"Key": "what?", "Value": ""}], 204, "text that matches"),
        ("Tags", [{"Key": "a"}], 202, "Add Tags[0].Value."),
    ],
)
def test_each_limit_of_the_model_is_enforced(
    tuning: dict[str, Any],
    change: Callable[..., dict[str, Any]],
    path: str,
    value: Any,
    number: int,
    words: str,
) -> None:
    document = change(tuning, {path: value if value is not None else 0})
    if value is None:
        *parts, last = path.split(".")
        inside = document
        for part in parts:
            inside = inside[part]
        inside[last] = None
    found = [problem for problem in _problems(document) if problem.number == number]
    assert any(words in str(problem) for problem in found), _problems(document)


@pytest.mark.parametrize(
    "tag", ["plain", "with space", "größe", "数据", "a_b.c:d/e=f+g-h@i", "\u00a0wide", "½"]
)
def test_a_tag_may_have_letters_digits_and_spaces_of_any_language(
    tuning: dict[str, Any], change: Callable[..., dict[str, Any]], tag: str
) -> None:
    assert _problems(change(tuning, {"Tags": [{"Key": tag, "Value": tag}]})) == []


def test_every_required_member_is_asked_for(tuning: dict[str, Any], training: dict[str, Any]) -> None:
    assert {problem.where for problem in _problems({}) if problem.number == 202} == {
        "HyperParameterTuningJobName",
        "HyperParameterTuningJobConfig",
    }
    where = {problem.where for problem in _problems({"TrainingJobName": "a"}, TRAINING)}
    assert where == {"RoleArn", "OutputDataConfig"}
    body = _problems(tuning | {BODY: {}})
    assert {f"{BODY}.RoleArn", f"{BODY}.StoppingCondition"} <= {problem.where for problem in body}


def test_all_problems_are_found_at_once(
    tuning: dict[str, Any], change: Callable[..., dict[str, Any]]
) -> None:
    document = change(
        tuning,
        {
            "HyperParameterTuningJobName": "x y",
            f"{CONFIG}.RandomSeed": -1,
            f"{CONFIG}.Strategy": "Best",
            f"{BODY}.RoleArn": None,
            f"{BODY}.Color": "blue",
        },
    )
    assert [problem.number for problem in _problems(document)] == [204, 205, 207, 201, 202]


def test_what_comes_back_has_members_of_the_right_type_only(
    tuning: dict[str, Any], change: Callable[..., dict[str, Any]]
) -> None:
    document = change(tuning, {f"{CONFIG}.RandomSeed": "7", "Color": 1, f"{BODY}.StaticHyperParameters.a": 3})
    sound = check_shapes(TUNING, document, Findings(exact=True))
    assert "Color" not in sound
    assert "RandomSeed" not in sound[CONFIG]
    assert "a" not in sound[BODY]["StaticHyperParameters"]
    assert not ParamValidator().validate(sound, request_shape(TUNING)).has_errors()


def test_a_long_value_is_shown_in_short_and_on_one_line(tuning: dict[str, Any]) -> None:
    problem = _problems(tuning | {"HyperParameterTuningJobName": "bad\nname" * 100})[-1]
    assert len(problem.found) < 160
    assert "\n" not in str(problem)
