"""What runs, what it reads, and whether both are there."""

from __future__ import annotations

import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import xgboost

from bandstand.metrics import metric_definitions
from bandstand.problem import Problem
from bandstand.request import Plan, TuningPlan
from bandstand.request.xgboost_metrics import DEFAULTS, reported_metrics

Change = Callable[..., dict[str, Any]]
Problems = Callable[..., list[Problem]]
PlanOf = Callable[..., Plan]

IMAGE = "AlgorithmSpecification.TrainingImage"
AWS = "683313688378.dkr.ecr.us-east-1.amazonaws.com/sagemaker-xgboost:1.7-1"


def _script(folder: Path, program: str = "train.py", home: str = "src") -> dict[str, Any]:
    static = {"sagemaker_program": program, "sagemaker_submit_directory": (folder / home).as_uri()}
    return {"HyperParameters": static, IMAGE: "mine:1"}


def _numbers(found: list[Problem]) -> list[int]:
    return [problem.number for problem in found]


def test_an_image_with_nothing_that_names_a_program_is_refused(
    training: dict[str, Any], change: Change, problems: Problems
) -> None:
    found = problems(change(training, {IMAGE: "mine:1", "HyperParameters": None}))
    assert _numbers(found) == [421]
    assert "Add algorithm, or sagemaker_program and sagemaker_submit_directory" in found[0].fix


def test_a_script_of_any_image_runs(
    training: dict[str, Any], change: Change, plan_of: PlanOf, folder: Path
) -> None:
    assert plan_of(change(training, _script(folder))).image == "mine:1"


def test_a_script_may_be_named_by_the_environment_and_in_quotes(
    training: dict[str, Any], change: Change, plan_of: PlanOf, folder: Path
) -> None:
    submit = f'"{(folder / "src").as_uri()}"'
    plan_of(
        change(
            training,
            {
                IMAGE: "mine:1",
                "HyperParameters": {"sagemaker_submit_directory": submit, "algorithm": '"auto"'},
                "Environment": {"SAGEMAKER_PROGRAM": "train.py"},
            },
        )
    )


def test_a_script_that_is_not_there_gets_the_nearest_name(
    training: dict[str, Any], change: Change, problems: Problems, folder: Path
) -> None:
    found = problems(change(training, _script(folder, "trian.py")))
    assert (found[0].number, found[0].fix) == (422, "Did you mean train.py?")


def test_a_folder_that_is_not_there_is_named(
    training: dict[str, Any], change: Change, problems: Problems, folder: Path
) -> None:
    found = problems(change(training, _script(folder, home="source")))
    assert _numbers(found) == [422]
    assert f"{folder}/source, which does not exist" in found[0].found


def test_a_program_outside_its_folder_is_refused(
    training: dict[str, Any], change: Change, problems: Problems, folder: Path
) -> None:
    (folder / "other.py").write_text("")
    found = problems(change(training, _script(folder, "../other.py")))
    assert (found[0].number, found[0].allowed) == (422, "a program below it")


def test_a_program_that_is_a_link_to_itself_is_refused(
    training: dict[str, Any], change: Change, problems: Problems, folder: Path
) -> None:
    (folder / "src" / "loop.py").symlink_to(folder / "src" / "loop.py")
    found = problems(change(training, _script(folder, "loop.py")))
    assert _numbers(found) == [422]


def test_a_program_that_cannot_be_executed_is_refused(
    training: dict[str, Any], change: Change, problems: Problems, plan_of: PlanOf, folder: Path
) -> None:
    program = folder / "src" / "train"
    program.write_text("#!/bin/sh\n")
    found = problems(change(training, _script(folder, "train")))
    assert (found[0].number, found[0].fix) == (422, f"Run: chmod +x {program}")
    program.chmod(0o755)
    plan_of(change(training, _script(folder, "train")))


def test_code_may_be_an_archive_but_not_another_file(
    training: dict[str, Any], change: Change, problems: Problems, plan_of: PlanOf, folder: Path
) -> None:
    with tarfile.open(folder / "code.tar.gz", "w:gz") as archive:
        archive.add(folder / "src" / "train.py", "train.py")
    plan_of(change(training, _script(folder, home="code.tar.gz")))
    assert "no archive" in problems(change(training, _script(folder, home="src/train.py")))[0].found


def test_code_elsewhere_or_in_the_image_cannot_run_here(
    training: dict[str, Any], change: Change, problems: Problems, folder: Path
) -> None:
    for place, number in ((None, 422), ("/opt/ml/code", 422), ("s3://bucket/code.tar.gz", 613)):
        changes = _script(folder)
        if place is None:
            del changes["HyperParameters"]["sagemaker_submit_directory"]
        else:
            changes["HyperParameters"]["sagemaker_submit_directory"] = place
        assert _numbers(problems(change(training, changes))) == [number]


def test_an_unknown_algorithm_gets_the_nearest_name(
    training: dict[str, Any], change: Change, problems: Problems
) -> None:
    found = problems(change(training, {"HyperParameters.algorithm": "xgbost"}))
    assert (found[0].number, found[0].fix) == (620, "Did you mean xgboost?")
    assert "no built-in" in problems(change(training, {"HyperParameters.algorithm": "linear"}))[0].found


def test_the_built_in_horovod_reports_three_metrics_and_no_others(
    tuning: dict[str, Any], change: Change, problems: Problems, plan_of: PlanOf
) -> None:
    body, metric = "TrainingJobDefinition", "HyperParameterTuningJobObjective.MetricName"
    horovod = {f"{body}.StaticHyperParameters": {"algorithm": "horovod"}}
    ranges = {"IntegerParameterRanges": [{"Name": "epochs", "MinValue": "2", "MaxValue": "9"}]}
    horovod["HyperParameterTuningJobConfig.ParameterRanges"] = ranges
    for name in ("validation:accuracy", "validation:acuracy", "train:auc"):
        changes = {
            **horovod,
            f"HyperParameterTuningJobConfig.{metric}": name,
            f"{body}.AlgorithmSpecification.MetricDefinitions": metric_definitions([name]),
        }
        document = change(tuning, changes)
        if name == "validation:accuracy":
            assert plan_of(document)
        else:
            assert _numbers(problems(document)) == [424]


@pytest.mark.parametrize("image", [AWS, "sagemaker-xgboost", f"{AWS}@sha256:{'0' * 64}"])
def test_an_image_of_aws_stands_for_the_built_in_with_its_metrics(
    tuning: dict[str, Any], change: Change, plan_of: Callable[..., TuningPlan], image: str
) -> None:
    body = "TrainingJobDefinition"
    plan = plan_of(
        change(
            tuning,
            {
                f"{body}.{IMAGE}": image,
                f"{body}.StaticHyperParameters.algorithm": None,
                f"{body}.AlgorithmSpecification.MetricDefinitions": None,
            },
        )
    )
    assert dict(plan.definitions[0].training.hyperparameters)["algorithm"] == "xgboost"
    assert '"algorithm"' not in plan.document
    assert [name for name, _ in plan.definitions[0].training.metrics] == ["validation:auc"]
    assert any("stands in for it here" in note for note in plan.notes)


AWS_PATTERN = r".*\[[0-9]+\].*#011validation-auc:([-+]?[0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?).*"
"""How AWS's container prints a metric; given with its image, SageMaker refuses it."""


@pytest.mark.parametrize("program", [None, "train.py"])
def test_a_pattern_for_awss_image_is_refused_as_sagemaker_refuses_it(
    tuning: dict[str, Any], training: dict[str, Any], change: Change, problems: Problems, program: str | None
) -> None:
    metrics = [{"Name": "validation:auc", "Regex": AWS_PATTERN}]
    mine = {IMAGE: AWS, "AlgorithmSpecification.MetricDefinitions": metrics}
    settings = {"algorithm": None} | ({"sagemaker_program": program} if program else {})
    for document, where, static in (
        (training, "", "HyperParameters"),
        (tuning, "TrainingJobDefinition.", "StaticHyperParameters"),
    ):
        changes = {f"{where}{key}": value for key, value in mine.items()}
        changes |= {f"{where}{static}.{key}": value for key, value in settings.items()}
        found = [problem for problem in problems(change(document, changes)) if problem.number != 422]
        assert [(problem.number, problem.where) for problem in found] == [
            (503, f"{where}AlgorithmSpecification.MetricDefinitions")
        ]
        assert "SageMaker refuses" in found[0].found
        assert found[0].fix.startswith("Take them out")


def test_a_metric_that_no_line_can_hold_has_to_be_defined(
    tuning: dict[str, Any], change: Change, problems: Problems
) -> None:
    body, config = "TrainingJobDefinition", "HyperParameterTuningJobConfig"
    changes = {
        f"{body}.AlgorithmSpecification.MetricDefinitions": None,
        f"{config}.HyperParameterTuningJobObjective.MetricName": "validation:" + "." * 244,
    }
    for image in (AWS, "bandstand:latest"):
        found = problems(change(tuning, changes | {f"{body}.{IMAGE}": image}))
        assert _numbers(found) == [303]


def test_an_image_that_only_resembles_ones_of_aws_stands_for_nothing(
    training: dict[str, Any], change: Change, problems: Problems
) -> None:
    for image in ("my-sagemaker-xgboost:1", "sagemaker-xgboost-fork", "x/sagemaker-xgboost/y"):
        found = problems(change(training, {IMAGE: image, "HyperParameters": {"num_round": "3"}}))
        assert _numbers(found) == [421]


def test_the_built_in_needs_its_channels_and_rounds(
    tuning: dict[str, Any], change: Change, problems: Problems
) -> None:
    body = "TrainingJobDefinition"
    config = "HyperParameterTuningJobConfig"
    found = problems(
        change(
            tuning,
            {f"{body}.InputDataConfig": None, f"{config}.ParameterRanges.IntegerParameterRanges": None},
        )
    )
    assert _numbers(found) == [424, 424, 435]
    assert [problem.allowed for problem in found] == [
        "a channel named train",
        "a channel named validation",
        "a whole number of 1 or more",
    ]
    assert found[2].fix == "Add num_round, static or tuned."


@pytest.mark.parametrize(
    "kind",
    [
        "text/csv",
        "csv",
        "text/csv; label_size=1",
        "CSV",
        "text/libsvm",
        "text/x-libsvm",
        "libsvm",
        "application/x-parquet",
        "parquet",
        None,
    ],
)
def test_the_built_in_reads_csv_libsvm_and_parquet(
    training: dict[str, Any], change: Change, plan_of: PlanOf, kind: str | None
) -> None:
    plan_of(change(training, {"InputDataConfig.0.ContentType": kind}))


@pytest.mark.parametrize("kind", ["application/x-recordio-protobuf", "text/plain", "text/x-csv", ""])
def test_the_built_in_reads_nothing_else(
    training: dict[str, Any], change: Change, problems: Problems, kind: str
) -> None:
    assert _numbers(problems(change(training, {"InputDataConfig.0.ContentType": kind}))) == [621]


def test_an_objective_that_the_built_in_never_prints_gets_the_nearest(
    tuning: dict[str, Any], change: Change, problems: Problems, plan_of: PlanOf
) -> None:
    name = "HyperParameterTuningJobConfig.HyperParameterTuningJobObjective.MetricName"
    metrics = "TrainingJobDefinition.AlgorithmSpecification.MetricDefinitions"
    number = r"([-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)"
    bare = change(tuning, {name: "auc", metrics: [{"Name": "auc", "Regex": f" auc={number}"}]})
    assert problems(bare)[0].fix == "Did you mean validation:auc?"
    plan_of(change(bare, {metrics: [{"Name": "auc", "Regex": f" validation:auc={number}"}]}))


@pytest.mark.parametrize(
    ("settings", "channels", "metrics"),
    [
        ({"eval_metric": "auc,logloss"}, ["train", "validation"], ["validation:auc", "validation:logloss"]),
        (
            {"eval_metric": '["auc"]', "train_metrics": "true"},
            ["train", "validation"],
            ["validation:auc", "train:auc"],
        ),
        ({"eval_metric": "auc"}, ["train"], ["train:auc"]),
        ({}, ["train", "validation"], ["validation:logloss"]),
        ({"_tuning_objective_metric": "train:auc"}, ["train", "validation"], ["validation:auc", "train:auc"]),
        ({"objective": "rank:ndcg"}, ["train"], []),
    ],
)
def test_a_training_job_of_awss_image_has_the_metrics_that_it_will_report(settings, channels, metrics):
    assert reported_metrics({"objective": "binary:logistic", **settings}, channels) == metrics


@pytest.mark.parametrize("objective", DEFAULTS)
def test_the_metric_that_xgboost_chooses_for_an_objective_is_known(objective):
    labels = [1, 2, 2, 1] if objective == "reg:gamma" else [0, 1, 1, 0]
    bounds = {"label_lower_bound": [1] * 4, "label_upper_bound": [2] * 4}
    matrix = xgboost.DMatrix([[1.0], [2.0], [3.0], [4.0]], labels, **bounds)
    classes = {"num_class": 2} if objective.startswith("multi:") else {}
    model = xgboost.train({"objective": objective, **classes}, matrix, 1)
    assert f"train-{DEFAULTS[objective]}:" in model.eval(matrix, "train")
