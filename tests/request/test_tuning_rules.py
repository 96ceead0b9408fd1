"""Rules of a tuning job: objective, ranges, strategy and limits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from bandstand.problem import Problem
from bandstand.request import TuningPlan

CONFIG = "HyperParameterTuningJobConfig"
RANGES = f"{CONFIG}.ParameterRanges"
INTEGERS = f"{RANGES}.IntegerParameterRanges"
CONTINUOUS = f"{RANGES}.ContinuousParameterRanges"
CATEGORIES = f"{RANGES}.CategoricalParameterRanges"
BAND = f"{CONFIG}.StrategyConfig.HyperbandStrategyConfig"
LIMITS = f"{CONFIG}.ResourceLimits"
BODY = "TrainingJobDefinition"

Change = Callable[..., dict[str, Any]]
Problems = Callable[..., list[Problem]]


def _integers(count: int) -> list[dict[str, str]]:
    return [{"Name": f"i{k}", "MinValue": "1", "MaxValue": "9"} for k in range(count)]


@pytest.mark.parametrize(
    ("changes", "number", "where", "words"),
    [
        ({f"{CONFIG}.HyperParameterTuningJobObjective": None}, 302, "Objective", "found nothing"),
        (
            {f"{CONFIG}.HyperParameterTuningJobObjective.MetricName": "validation:ac"},
            303,
            "MetricName",
            "Did you mean validation:auc?",
        ),
        (
            {f"{BODY}.AlgorithmSpecification.MetricDefinitions": None},
            303,
            "MetricName",
            "Define validation:auc in",
        ),
        ({RANGES: None}, 304, "ParameterRanges", "found no ranges"),
        ({RANGES: {}}, 304, "ParameterRanges", "found no ranges"),
        ({f"{INTEGERS}.0.Name": "eta"}, 305, f"{CONTINUOUS}[0].Name", '"eta" a second time'),
        ({f"{INTEGERS}.0.Name": "objective"}, 306, f"{INTEGERS}[0].Name", "StaticHyperParameters.objective"),
        ({INTEGERS: _integers(29)}, 307, RANGES, "31 ranges; allowed: 30 in all"),
        (
            {f"{BODY}.StaticHyperParameters": {f"h{k}": "1" for k in range(97)}},
            308,
            f"{BODY}.StaticHyperParameters",
            "Give at most 99.",
        ),
        ({f"{INTEGERS}.0.Name": "_tuning_objective_metric"}, 309, f"{INTEGERS}[0].Name", "AMT"),
        (
            {f"{BODY}.StaticHyperParameters._tuning_objective_metric": "validation:f1"},
            309,
            f"{BODY}.StaticHyperParameters._tuning_objective_metric",
            "validation:auc, which AMT sets",
        ),
        ({f"{INTEGERS}.0.Name": ""}, 309, f"{INTEGERS}[0].Name", "own name"),
        ({f"{BODY}.StaticHyperParameters": {"": "1"}}, 309, "StaticHyperParameters", "an empty name"),
        ({f"{INTEGERS}.0.MinValue": "100.0"}, 310, f"{INTEGERS}[0].MinValue", 'Write "100".'),
        ({f"{INTEGERS}.0.MinValue": "1.5"}, 310, f"{INTEGERS}[0].MinValue", "make the range continuous"),
        ({f"{INTEGERS}.0.MinValue": "ten"}, 310, f"{INTEGERS}[0].MinValue", "a whole number"),
        ({f"{INTEGERS}.0.MaxValue": str(2**63)}, 310, f"{INTEGERS}[0].MaxValue", "of 64 bits"),
        ({f"{CONTINUOUS}.0.MaxValue": "nan"}, 310, f"{CONTINUOUS}[0].MaxValue", "a finite number"),
        ({f"{CONTINUOUS}.0.MaxValue": "Infinity"}, 310, f"{CONTINUOUS}[0].MaxValue", "a finite number"),
        ({f"{CONTINUOUS}.0.MaxValue": "1e999"}, 310, f"{CONTINUOUS}[0].MaxValue", "a finite number"),
        ({f"{CONTINUOUS}.0.MaxValue": "1_0"}, 310, f"{CONTINUOUS}[0].MaxValue", "a finite number"),
        ({f"{CONTINUOUS}.0.MaxValue": ""}, 310, f"{CONTINUOUS}[0].MaxValue", "a finite number"),
        ({f"{INTEGERS}.0.MaxValue": "100"}, 311, f"{INTEGERS}[0]", "Make it static."),
        ({f"{INTEGERS}.0.MaxValue": "99"}, 311, f"{INTEGERS}[0]", "Swap them."),
        ({f"{CONTINUOUS}.0.MinValue": "1.0"}, 311, f"{CONTINUOUS}[0]", "Make it static."),
        ({f"{CONTINUOUS}.0.MinValue": "0"}, 312, f"{CONTINUOUS}[0].ScalingType", "0 has no logarithm"),
        ({f"{CONTINUOUS}.0.MinValue": "-1e-3"}, 312, f"{CONTINUOUS}[0].ScalingType", "bounds above 0"),
        (
            {f"{CONTINUOUS}.0.ScalingType": "ReverseLogarithmic"},
            312,
            f"{CONTINUOUS}[0].ScalingType",
            "0 <= bounds < 1",
        ),
        (
            {f"{INTEGERS}.0.ScalingType": "ReverseLogarithmic"},
            312,
            f"{INTEGERS}[0].ScalingType",
            "continuous ranges",
        ),
        ({f"{CATEGORIES}.0.Values": ["a", "b", "a"]}, 313, f"{CATEGORIES}[0].Values", '"a" more than once'),
        ({f"{RANGES}.AutoParameters": [{"Name": "a", "ValueHint": "1"}]}, 314, "AutoParameters", "Autotune"),
        ({f"{CONFIG}.Strategy": "Random"}, 321, BAND, "settings of Hyperband with Random"),
        ({f"{CONFIG}.TrainingJobEarlyStoppingType": "Auto"}, 322, "EarlyStoppingType", "Set it to Off"),
        ({f"{BAND}.MaxResource": None}, 323, f"{BAND}.MaxResource", "num_round is none of the names"),
        ({f"{CONFIG}.StrategyConfig": None}, 323, f"{BAND}.MaxResource", "n-epochs, n_epochs"),
        ({f"{BAND}.MinResource": 31}, 324, f"{BAND}.MinResource", "MaxResource, which is 30"),
        ({f"{BAND}.MaxResource": 20001}, 325, f"{BAND}.MaxResource", "at most 20000"),
        ({f"{LIMITS}.MaxParallelTrainingJobs": 101}, 327, "MaxParallelTrainingJobs", "at most 100"),
        ({f"{LIMITS}.MaxNumberOfTrainingJobs": 751}, 328, "MaxNumberOfTrainingJobs", "search at random"),
        (
            {f"{BODY}.TuningObjective": {"Type": "Maximize", "MetricName": "validation:auc"}},
            302,
            f"{BODY}.TuningObjective",
            f"Move it to {CONFIG}.HyperParameterTuningJobObjective.",
        ),
        (
            {f"{BODY}.HyperParameterRanges": {"IntegerParameterRanges": _integers(1)}},
            304,
            f"{BODY}.HyperParameterRanges",
            f"Move it to {RANGES}.",
        ),
        ({BODY: None}, 301, BODY, "Add TrainingJobDefinition."),
        (
            {
                "WarmStartConfig": {
                    "WarmStartType": "TransferLearning",
                    "ParentHyperParameterTuningJobs": [
                        {"HyperParameterTuningJobName": "a"},
                        {"HyperParameterTuningJobName": "A"},
                    ],
                }
            },
            333,
            "WarmStartConfig",
            '"A" a second time',
        ),
    ],
)
def test_each_rule_of_a_tuning_job_says_where_and_how_to_mend_it(
    tuning: dict[str, Any],
    assert_refused: Callable[..., None],
    changes: dict[str, Any],
    number: int,
    where: str,
    words: str,
) -> None:
    assert_refused(tuning, changes, number, where, words)


def test_one_fault_is_told_as_one_problem(tuning: dict[str, Any], change: Change, problems: Problems) -> None:
    for changes in (
        {f"{BAND}.MaxResource": "thirty"},
        {f"{INTEGERS}.0.MinValue": 3},
        {f"{CONFIG}.HyperParameterTuningJobObjective": "validation:auc"},
        {f"{LIMITS}.MaxNumberOfTrainingJobs": "30"},
        {f"{BODY}.AlgorithmSpecification": "bandstand:latest"},
        {f"{BODY}.ResourceConfig": []},
        {f"{BODY}.InputDataConfig": "data"},
        {RANGES: []},
    ):
        assert [problem.number for problem in problems(change(tuning, changes))] == [203], changes


def test_problems_of_every_part_come_together(
    tuning: dict[str, Any], change: Change, problems: Problems
) -> None:
    changes = {
        "HyperParameterTuningJobName": "a" * 40,
        f"{BAND}.MinResource": 50,
        f"{CONFIG}.TrainingJobEarlyStoppingType": "Auto",
        f"{CONTINUOUS}.0.MinValue": "0",
        f"{BODY}.AlgorithmSpecification.MetricDefinitions.0.Regex": "auc=([0-9]+)",
        f"{BODY}.EnableNetworkIsolation": True,
    }
    numbers = [problem.number for problem in problems(change(tuning, changes))]
    assert sorted(numbers) == [206, 312, 322, 324, 501, 617]


@pytest.mark.parametrize("name", ["epochs", "numepochs", "n-epochs", "n_epochs", "num_epochs"])
@pytest.mark.parametrize("text", ["27", '"27"', "027"])
def test_the_maximum_resource_follows_from_each_of_the_five_names(
    script_tuning: dict[str, Any], change: Change, plan_of: Callable[..., TuningPlan], name: str, text: str
) -> None:
    plan = plan_of(
        change(script_tuning, {f"{BAND}.MaxResource": None, f"{BODY}.StaticHyperParameters.{name}": text})
    )
    assert plan.max_resource == 27
    assert '"MaxResource"' not in plan.document


@pytest.mark.parametrize(
    ("static", "words"),
    [
        ({"num-epochs": "27"}, "num-epochs is none of the names that AMT knows"),
        ({"Epochs": "27"}, "Epochs is none of the names that AMT knows"),
        ({"epochs": "27", "num_epochs": "27"}, "more than one to infer it from: epochs, num_epochs"),
        ({"epochs": "many"}, 'epochs = "many"'),
        ({"epochs": "0"}, 'epochs = "0"'),
        ({"epochs": "2.5"}, 'epochs = "2.5"'),
    ],
)
def test_the_maximum_resource_follows_from_nothing_else(
    tuning: dict[str, Any], change: Change, problems: Problems, static: dict[str, str], words: str
) -> None:
    ranges = {"CategoricalParameterRanges": [{"Name": "booster", "Values": ["gbtree", "dart"]}]}
    document = change(tuning, {f"{BAND}.MaxResource": None, RANGES: ranges})
    document[BODY]["StaticHyperParameters"] |= static | {"num_round": "3"}
    del document[BODY]["StaticHyperParameters"]["num_round"]
    found = [problem for problem in problems(document) if problem.number == 323]
    assert words in str(found[0])


def test_a_tuned_number_of_epochs_gives_no_maximum_resource(
    tuning: dict[str, Any], change: Change, problems: Problems
) -> None:
    found = problems(change(tuning, {f"{BAND}.MaxResource": None, f"{INTEGERS}.0.Name": "epochs"}))
    assert "epochs, to infer it from, is tuned" in str(next(item for item in found if item.number == 323))


def test_an_inferred_maximum_is_held_against_the_minimum_and_the_ceiling(
    script_tuning: dict[str, Any], change: Change, problems: Problems
) -> None:
    static = f"{BODY}.StaticHyperParameters.epochs"
    low = change(script_tuning, {f"{BAND}.MaxResource": None, f"{BAND}.MinResource": 9, static: "3"})
    assert [problem.number for problem in problems(low)] == [324]
    high = change(script_tuning, {f"{BAND}.MaxResource": None, static: "20001"})
    assert [problem.number for problem in problems(high)] == [325]


@pytest.mark.parametrize(("low", "high"), [(1, 1), (1, 20000), (20000, 20000), (7, 8)])
def test_every_legal_pair_of_resources_is_taken(
    tuning: dict[str, Any], change: Change, plan_of: Callable[..., TuningPlan], low: int, high: int
) -> None:
    plan = plan_of(change(tuning, {f"{BAND}.MinResource": low, f"{BAND}.MaxResource": high}))
    assert (plan.min_resource, plan.max_resource) == (low, high)


def test_random_needs_no_resources(
    tuning: dict[str, Any], change: Change, plan_of: Callable[..., TuningPlan]
) -> None:
    plan = plan_of(change(tuning, {f"{CONFIG}.Strategy": "Random", f"{CONFIG}.StrategyConfig": None}))
    assert (plan.strategy, plan.max_resource) == ("Random", None)


def test_a_grid_counts_its_combinations(tuning: dict[str, Any], change: Change, problems: Problems) -> None:
    grid = change(tuning, {f"{CONFIG}.Strategy": "Grid", f"{CONFIG}.StrategyConfig": None})
    found = [str(problem) for problem in problems(grid) if problem.number == 326]
    assert len(found) == 2
    assert all("categorical ranges only" in problem for problem in found)
    grid = change(grid, {INTEGERS: None, CONTINUOUS: None})
    found = [str(problem) for problem in problems(grid) if problem.number == 326]
    assert "Set it to 2, or leave it out." in found[0]


def test_a_grid_that_leaves_its_number_of_jobs_out_may_not_be_too_large(
    script_tuning: dict[str, Any], change: Change, problems: Problems, plan_of: Callable[..., TuningPlan]
) -> None:
    def grid(first: int, second: int) -> dict[str, Any]:
        ranges = [
            {"Name": name, "Values": [str(value) for value in range(count)]}
            for name, count in (("num_round", first), ("depth", second))
        ]
        return change(
            script_tuning,
            {
                f"{CONFIG}.Strategy": "Grid",
                f"{CONFIG}.StrategyConfig": None,
                f"{CONFIG}.ParameterRanges": {"CategoricalParameterRanges": ranges},
                f"{LIMITS}.MaxNumberOfTrainingJobs": None,
            },
        )

    assert plan_of(grid(30, 25)).jobs == 750
    found = problems(grid(30, 26))
    assert [(problem.number, problem.found) for problem in found] == [(328, "780")]
    assert "Take categories out" in found[0].fix


def test_completion_criteria_are_planned_as_they_are_asked_for(
    tuning: dict[str, Any], change: Change, plan_of: Callable[..., TuningPlan], problems: Problems
) -> None:
    criteria = f"{CONFIG}.TuningJobCompletionCriteria"
    asked = {"TargetObjectiveMetricValue": 1, "ConvergenceDetected": {"CompleteOnConvergence": "Disabled"}}
    plan = plan_of(change(tuning, {criteria: asked}))
    assert (plan.target, plan.not_improving, plan.convergence) == (1.0, None, False)
    (problem,) = problems(change(tuning, {criteria: {"BestObjectiveNotImproving": {}}}))
    assert problem.number == 329
    assert problem.where.endswith("MaxNumberOfTrainingJobsNotImproving")


def test_a_goal_against_the_metrics_nature_is_a_note_not_a_problem(
    tuning: dict[str, Any], change: Change, plan_of: Callable[..., TuningPlan]
) -> None:
    plan = plan_of(change(tuning, {f"{CONFIG}.HyperParameterTuningJobObjective.Type": "Minimize"}))
    assert plan.goal == "minimize"
    assert any("of a metric called validation:auc, more is better" in note for note in plan.notes)


def test_more_than_an_account_usually_allows_is_a_note(
    tuning: dict[str, Any], change: Change, plan_of: Callable[..., TuningPlan]
) -> None:
    plan = plan_of(
        change(
            tuning,
            {
                f"{CONFIG}.Strategy": "Random",
                f"{CONFIG}.StrategyConfig": None,
                f"{LIMITS}.MaxNumberOfTrainingJobs": 751,
                f"{LIMITS}.MaxParallelTrainingJobs": 11,
                f"{LIMITS}.MaxRuntimeInSeconds": 31 * 86400,
            },
        )
    )
    for words in ("751 training jobs", "11 training jobs at a time", "more than 30 days"):
        assert any(words in note for note in plan.notes)


def test_fewer_combinations_than_jobs_is_a_note(
    tuning: dict[str, Any], change: Change, plan_of: Callable[..., TuningPlan]
) -> None:
    plan = plan_of(
        change(tuning, {INTEGERS: None, CONTINUOUS: None, f"{BODY}.StaticHyperParameters.num_round": "9"})
    )
    assert any("2 combinations for 30 training jobs" in note for note in plan.notes)


def test_a_misspelt_strategy_is_one_problem_and_not_one_of_its_settings_too(
    tuning: dict[str, Any], change: Change, problems: Problems
) -> None:
    found = problems(change(tuning, {f"{CONFIG}.Strategy": "hyperband"}))
    assert [(problem.number, problem.fix) for problem in found] == [(205, "Did you mean Hyperband?")]
