"""Rules of training job definitions: one, or a list of them, and what those of a list say together."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bandstand.metrics import metric_definitions
from bandstand.problem import Problem
from bandstand.request import DefinitionPlan, TuningPlan

CONFIG = "HyperParameterTuningJobConfig"
BODY, LIST = "TrainingJobDefinition", "TrainingJobDefinitions"
OBJECTIVE = {"Type": "Maximize", "MetricName": "validation:auc"}
PARENTS = {
    "WarmStartType": "TransferLearning",
    "ParentHyperParameterTuningJobs": [{"HyperParameterTuningJobName": "a"}],
}

Change = Callable[..., dict[str, Any]]
Problems = Callable[..., list[Problem]]
PlanOf = Callable[..., TuningPlan]


@pytest.fixture
def several(script_tuning: dict[str, Any], change: Change) -> dict[str, Any]:
    """A request of two definitions with ranges of their own, `trees` and `nets`, that breaks no rule."""
    body = script_tuning[BODY]
    metrics = [
        *body["AlgorithmSpecification"]["MetricDefinitions"],
        *metric_definitions(["score"]),
    ]
    trees = {
        "DefinitionName": "trees",
        "TuningObjective": OBJECTIVE,
        "HyperParameterRanges": script_tuning[CONFIG]["ParameterRanges"],
        **body,
    }
    nets = {
        **copy.deepcopy(body),
        "DefinitionName": "nets",
        "TuningObjective": {"Type": "Maximize", "MetricName": "score"},
        "HyperParameterRanges": {
            "ContinuousParameterRanges": [{"Name": "lr", "MinValue": "0.1", "MaxValue": "1"}]
        },
        "AlgorithmSpecification": {**body["AlgorithmSpecification"], "MetricDefinitions": metrics},
        "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 10},
    }
    return change(
        script_tuning,
        {
            BODY: None,
            LIST: [trees, nets],
            f"{CONFIG}.HyperParameterTuningJobObjective": None,
            f"{CONFIG}.ParameterRanges": None,
            f"{CONFIG}.StrategyConfig": None,
            f"{CONFIG}.Strategy": "Random",
        },
    )


def places(found: list[Problem]) -> set[tuple[int, str]]:
    return {(problem.number, problem.where) for problem in found}


def test_each_definition_of_a_list_has_a_plan_of_its_own(several: dict[str, Any], plan_of: PlanOf) -> None:
    plan = plan_of(several)
    trees, nets = plan.definitions
    assert (trees.name, trees.objective, trees.training.hosts) == ("trees", "validation:auc", 3)
    assert (nets.name, nets.objective, nets.training.hosts) == ("nets", "score", 1)
    assert [[spread.name for spread in each.ranges] for each in plan.definitions] == [
        ["num_round", "eta", "booster"],
        ["lr"],
    ]
    assert plan.objective == "validation:auc or score"
    assert TuningPlan.from_dict(json.loads(json.dumps(plan.to_dict()))) == plan


def test_a_training_job_is_made_of_its_definition(several: dict[str, Any], plan_of: PlanOf) -> None:
    job = plan_of(several).renamed("other").training(4, {"lr": "0.5"}, "nets")
    assert job.name.startswith("other-004-")
    assert (job.hosts, job.instance_type) == (1, "ml.m5.large")
    request = json.loads(job.document)
    assert request["ResourceConfig"]["InstanceType"] == "ml.m5.large"
    assert request["HyperParameters"]["lr"] == "0.5"
    assert request["HyperParameters"]["_tuning_objective_metric"] == "score"
    assert not {"DefinitionName", "TuningObjective", "HyperParameterRanges"} & set(request)


def test_a_plan_written_down_when_there_was_one_definition_is_read(
    tuning: dict[str, Any], plan_of: PlanOf
) -> None:
    plan = plan_of(tuning)
    (only,) = plan.to_dict().pop("definitions")
    older = {key: value for key, value in plan.to_dict().items() if key != "definitions"}
    older |= {key: only[key] for key in ("objective", "ranges")} | {"definition": only["training"]}
    assert TuningPlan.from_dict(json.loads(json.dumps(older))) == plan
    assert isinstance(plan.definition("anything"), DefinitionPlan)


def test_each_definitions_maximum_resource_is_read_from_its_own_hyperparameters(
    several: dict[str, Any], change: Change, plan_of: PlanOf
) -> None:
    hyperband = {
        f"{CONFIG}.Strategy": "Hyperband",
        f"{LIST}.0.StaticHyperParameters.epochs": "9",
        f"{LIST}.1.StaticHyperParameters.num_epochs": "30",
    }
    plan = plan_of(change(several, hyperband))
    assert [plan.max_resource_of(name) for name in ("trees", "nets")] == [9, 30]
    assert (plan.max_resource, plan.resource) == (30, "1 to 9 or 30")
    assert TuningPlan.from_dict(json.loads(json.dumps(plan.to_dict()))) == plan
    band = {f"{CONFIG}.StrategyConfig": {"HyperbandStrategyConfig": {"MaxResource": 5}}}
    plan = plan_of(change(several, {**hyperband, **band}))
    assert [plan.max_resource_of(name) for name in ("trees", "nets")] == [5, 5]
    assert plan.resource == "1 to 5"
    assert plan_of(several).resource == ""


def test_a_maximum_resource_that_cannot_be_is_told_for_every_definition(
    several: dict[str, Any], change: Change, problems: Problems
) -> None:
    found = problems(change(several, {f"{CONFIG}.Strategy": "Hyperband"}))
    assert [problem.number for problem in found] == [323, 323]
    assert [problem.found.split(":")[0] for problem in found] == ["trees", "nets"]
    changes = {
        f"{CONFIG}.Strategy": "Hyperband",
        f"{LIST}.0.StaticHyperParameters.epochs": "9",
        f"{LIST}.1.StaticHyperParameters.epochs": "30000",
        f"{CONFIG}.StrategyConfig": {"HyperbandStrategyConfig": {"MinResource": 10}},
    }
    found = problems(change(several, changes))
    assert sorted((problem.number, problem.found) for problem in found) == [(324, "10"), (325, "30000")]


def test_a_grid_of_several_definitions_has_as_many_jobs_as_all_of_their_combinations(
    several: dict[str, Any], change: Change, plan_of: PlanOf, assert_refused: Callable[..., None]
) -> None:
    def grid(**words: list[str]) -> dict[str, Any]:
        return {
            "CategoricalParameterRanges": [{"Name": name, "Values": each} for name, each in words.items()]
        }

    changes: dict[str, Any] = {
        f"{CONFIG}.Strategy": "Grid",
        f"{CONFIG}.ResourceLimits.MaxNumberOfTrainingJobs": None,
        f"{LIST}.0.HyperParameterRanges": grid(depth=["1", "2", "3"], eta=["0.1", "0.2"]),
        f"{LIST}.1.HyperParameterRanges": grid(lr=["0.1", "0.2"]),
    }
    assert plan_of(change(several, changes)).jobs == 8
    where = f"{CONFIG}.ResourceLimits.MaxNumberOfTrainingJobs"
    assert_refused(several, {**changes, where: 9}, 326, where, "8, one per combination")


def test_several_definitions_are_checked_each_for_itself(
    several: dict[str, Any], change: Change, problems: Problems
) -> None:
    document = change(
        several,
        {
            f"{LIST}.1.DefinitionName": "trees",
            f"{LIST}.1.TuningObjective.MetricName": "f1",
            f"{LIST}.1.HyperParameterRanges": None,
            f"{LIST}.0.Environment": {"B": "1"},
            f"{LIST}.1.Environment": {f"A{k}": "" for k in range(48)},
            f"{CONFIG}.HyperParameterTuningJobObjective": OBJECTIVE,
            f"{CONFIG}.ParameterRanges": {"CategoricalParameterRanges": []},
            f"{CONFIG}.TrainingJobEarlyStoppingType": "Auto",
            "WarmStartConfig": PARENTS,
        },
    )
    assert {
        (302, f"{CONFIG}.HyperParameterTuningJobObjective"),
        (304, f"{CONFIG}.ParameterRanges"),
        (331, f"{LIST}[1].DefinitionName"),
        (303, f"{LIST}[1].TuningObjective.MetricName"),
        (304, f"{LIST}[1].HyperParameterRanges"),
        (332, "WarmStartConfig"),
        (332, f"{CONFIG}.TrainingJobEarlyStoppingType"),
        (409, f"{LIST}[1].Environment"),
    } <= places(problems(document))


@pytest.mark.parametrize(
    ("changes", "number", "where", "words"),
    [
        ({f"{LIST}.1.DefinitionName": None}, 331, f"{LIST}[1].DefinitionName", "found nothing"),
        ({f"{LIST}.1.DefinitionName": "trees"}, 331, f"{LIST}[1].DefinitionName", "a second time"),
        ({f"{LIST}.1.TuningObjective": None}, 302, f"{LIST}[1].TuningObjective", "found nothing"),
        ({f"{LIST}.1.TuningObjective.Type": "Minimize"}, 334, f"{LIST}[1].TuningObjective.Type", "Maximize"),
        ({LIST: []}, 206, LIST, "at least 1"),
        ({f"{CONFIG}.Strategy": "Hyperband"}, 323, f"{CONFIG}.StrategyConfig", "MaxResource"),
        (
            {
                f"{CONFIG}.Strategy": "Grid",
                f"{LIST}.1.HyperParameterRanges": {
                    "IntegerParameterRanges": [{"Name": "depth", "MinValue": "few", "MaxValue": "many"}]
                },
            },
            310,
            f"{LIST}[1].HyperParameterRanges.IntegerParameterRanges[0].MinValue",
            "few",
        ),
        ({f"{LIST}.1.InputDataConfig.0.InputMode": "Pipe"}, 611, f"{LIST}[1].InputDataConfig[0]", "File"),
    ],
)
def test_a_list_that_cannot_be_is_refused_at_its_place(
    several: dict[str, Any],
    assert_refused: Callable[..., None],
    changes: dict[str, Any],
    number: int,
    where: str,
    words: str,
) -> None:
    assert_refused(several, changes, number, where, words)


def test_more_than_ten_definitions_are_too_many(several: dict[str, Any], problems: Problems) -> None:
    more = [{**several[LIST][0], "DefinitionName": f"d{number}"} for number in range(11)]
    assert (206, LIST) in places(problems({**several, LIST: more}))


def test_a_definition_and_a_list_of_them_are_too_many(tuning: dict[str, Any], problems: Problems) -> None:
    found = problems(tuning | {LIST: [tuning[BODY]]})
    assert (301, LIST) in places(found)
    assert not [problem for problem in found if problem.number in (302, 304)]


def test_a_single_definition_has_objective_and_ranges_in_the_configuration(
    tuning: dict[str, Any], change: Change, problems: Problems
) -> None:
    inside = {f"{BODY}.TuningObjective": OBJECTIVE, f"{BODY}.HyperParameterRanges": {}}
    assert places(problems(change(tuning, inside))) >= {
        (302, f"{BODY}.TuningObjective"),
        (304, f"{BODY}.HyperParameterRanges"),
    }


def test_a_list_of_one_may_do_all_that_a_single_definition_may(
    several: dict[str, Any], change: Change, plan_of: PlanOf
) -> None:
    one = change(several, {f"{LIST}.1": None})
    assert plan_of(change(one, {f"{CONFIG}.TrainingJobEarlyStoppingType": "Auto"})).early_stopping
    warm = change(one, {f"{CONFIG}.Strategy": "Bayesian", "WarmStartConfig": PARENTS})
    assert plan_of(warm).parents == ("a",)
    assert plan_of(
        change(one, {f"{CONFIG}.Strategy": "Hyperband", f"{LIST}.0.StaticHyperParameters.epochs": "9"})
    )


def test_more_definitions_than_training_jobs_is_a_note(
    several: dict[str, Any], change: Change, plan_of: PlanOf
) -> None:
    plan = plan_of(change(several, {f"{CONFIG}.ResourceLimits.MaxNumberOfTrainingJobs": 1}))
    assert "1 training job for 2 definitions: some get none." in plan.notes


def test_what_only_this_machine_refuses_goes_to_sagemaker(
    several: dict[str, Any], change: Change, plan_of: PlanOf, folder: Path
) -> None:
    image = "111122223333.dkr.ecr.eu-west-1.amazonaws.com/x:1"
    elsewhere = json.loads(
        json.dumps(several)
        .replace(folder.as_uri(), "s3://bucket")
        .replace('"bandstand:latest"', f'"{image}"')
    )
    for at in (0, 1):
        elsewhere[LIST][at]["StaticHyperParameters"] = {"epochs": "9"}
    changed = change(elsewhere, {f"{CONFIG}.Strategy": "Hyperband"})
    plan = plan_of(changed, on="sagemaker")
    assert (plan.max_resource, json.loads(plan.document)) == (9, changed)


def test_what_has_no_effect_is_told_once_for_all_definitions(
    several: dict[str, Any], plan_of: PlanOf
) -> None:
    (note,) = [note for note in plan_of(several).notes if note.startswith("Accepted without effect")]
    assert note.count("RoleArn") == 1
    assert f"{LIST}.RoleArn (no role is taken on), {LIST}.ResourceConfig.VolumeSizeInGB" in note
