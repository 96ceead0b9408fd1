"""A job file's table `tuning`: strategies, early stopping, completion criteria and warm starts."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from bandstand.problem import Problem
from bandstand.request import Plan, TuningPlan

Job = Callable[..., Path]
Problems = Callable[..., list[Problem]]
PlanOf = Callable[..., Plan]

BAYESIAN = (('"hyperband"', '"bayesian"'), ("min_resource = 1\n", ""), ("max_resource = 30\n", ""))


def test_bayesian_needs_optuna_and_says_how_to_get_it(
    job: Job, problems: Problems, plan_of: PlanOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert plan_of(job(*BAYESIAN)).strategy == "Bayesian"
    monkeypatch.setitem(sys.modules, "optuna", None)
    (problem,) = problems(job(*BAYESIAN))
    assert (problem.number, problem.where) == (601, "tuning.strategy")
    assert "pip install" in problem.fix


@pytest.mark.parametrize(
    ("kind", "member"), [("identical", "IdenticalDataAndAlgorithm"), ("transfer", "TransferLearning")]
)
def test_a_warm_start_names_earlier_tuning_jobs(job: Job, plan_of: PlanOf, kind: str, member: str) -> None:
    keys = f'jobs = 30\nwarm_start = ["first", "second"]\nwarm_start_type = "{kind}"'
    plan = plan_of(job(*BAYESIAN, ("jobs = 30", keys)))
    assert (plan.parents, plan.warm_start) == (("first", "second"), member)
    assert any(
        note.startswith("tuning.warm_start: the earlier tuning jobs are looked up") for note in plan.notes
    )
    assert json.loads(plan.document)["WarmStartConfig"] == {
        "ParentHyperParameterTuningJobs": [
            {"HyperParameterTuningJobName": "first"},
            {"HyperParameterTuningJobName": "second"},
        ],
        "WarmStartType": member,
    }
    assert TuningPlan.from_dict(json.loads(json.dumps(plan.to_dict()))) == plan


@pytest.mark.parametrize(
    ("value", "number"),
    [
        ("[]", 206),
        ('["a", "b", "c", "d", "e", "f"]', 206),
        ('["a", "A"]', 333),
        ('["not a name"]', 204),
        ('"first"', 106),
        ("[1]", 106),
    ],
)
def test_parents_that_cannot_be_are_refused_by_their_key(
    job: Job, problems: Problems, value: str, number: int
) -> None:
    found = problems(job(*BAYESIAN, ("jobs = 30", f"jobs = 30\nwarm_start = {value}")))
    assert {problem.number for problem in found} == {number}
    assert all(problem.where.startswith("tuning.warm_start") for problem in found)


def test_a_type_of_warm_start_without_one_is_told_to_be_without_effect(job: Job, plan_of: PlanOf) -> None:
    plan = plan_of(job(("jobs = 30", 'jobs = 30\nwarm_start_type = "transfer"')))
    assert "tuning.warm_start_type: without effect, since there is no tuning.warm_start." in plan.notes


@pytest.mark.parametrize("strategy", ["hyperband", "hyperband-tpe", "random"])
def test_a_warm_start_goes_with_every_strategy(job: Job, plan_of: PlanOf, strategy: str) -> None:
    changes = BAYESIAN if strategy == "random" else BAYESIAN[:1]
    changes = [(old, new.replace("bayesian", strategy)) for old, new in changes]
    plan = plan_of(job(*changes, ("jobs = 30", 'jobs = 30\nwarm_start = ["a"]')))
    assert plan.parents == ("a",)
    assert "tuning.warm_start: the earlier tuning jobs are looked up in the record when this one starts." in (
        plan.notes
    )


def test_the_modelled_hyperband_is_told_to_be_for_this_machine_only(
    job: Job, problems: Problems, plan_of: PlanOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    modelled = ('"hyperband"', '"hyperband-tpe"')
    plan, plain = plan_of(job(modelled)), plan_of(job())
    assert (plan.strategy, plan.min_resource, plan.max_resource) == ("Hyperband-TPE", 1, 30)
    assert plan.document == plain.document
    (note,) = set(plan.notes) - set(plain.notes)
    assert "this machine only" in note
    assert "The request says Hyperband" in note
    assert TuningPlan.from_dict(json.loads(json.dumps(plan.to_dict()))) == plan
    monkeypatch.setitem(sys.modules, "optuna", None)
    (problem,) = problems(job(modelled))
    assert (problem.number, problem.where) == (601, "tuning.strategy")


def test_the_modelled_hyperband_keeps_hyperbands_rules(job: Job, problems: Problems, plan_of: PlanOf) -> None:
    modelled = ('"hyperband"', '"hyperband-tpe"')
    found = problems(job(modelled, ("max_resource = 30\n", 'early_stopping = "auto"\n')))
    assert {(problem.number, problem.where) for problem in found} == {
        (322, "tuning.early_stopping"),
        (323, "tuning.max_resource"),
    }
    inferred = ("[hyperparameters]", "[hyperparameters]\nepochs = 27")
    assert plan_of(job(modelled, inferred, ("max_resource = 30\n", ""), script=True)).max_resource == 27


GRID = (
    ('"hyperband"', '"grid"'),
    ("min_resource = 1\nmax_resource = 30\n", ""),
    ("num_round = { integer = [100, 200] }", "num_round = { categorical = [100, 200, 300] }"),
    ('eta = { continuous = [1e-3, 1.0], scale = "log" }', "eta = { categorical = [1e-3] }"),
)


def test_a_grid_needs_no_number_of_jobs_and_has_one_per_combination(job: Job, plan_of: PlanOf) -> None:
    plan = plan_of(job(*GRID, ("jobs = 30\n", "")))
    assert (plan.strategy, plan.jobs, plan.max_resource) == ("Grid", 6, None)
    assert "MaxNumberOfTrainingJobs" not in plan.document
    assert [each.name for each in plan.definitions[0].ranges] == ["num_round", "booster"]
    assert plan_of(job(*GRID, ("jobs = 30", "jobs = 6"))).jobs == 6


def test_a_grid_with_another_number_of_jobs_is_refused_by_its_key(job: Job, problems: Problems) -> None:
    found = problems(job(*GRID))
    assert [(problem.number, problem.where) for problem in found] == [(326, "tuning.jobs")]


@pytest.mark.parametrize("strategy", ["random", "grid"])
def test_early_stopping_goes_with_every_strategy_but_hyperband(
    job: Job, plan_of: PlanOf, problems: Problems, strategy: str
) -> None:
    changes = [*GRID, ('"grid"', f'"{strategy}"'), ("jobs = 30", 'jobs = 6\nearly_stopping = "auto"')]
    plan = plan_of(job(*changes))
    assert plan.early_stopping
    assert '"TrainingJobEarlyStoppingType": "Auto"' in plan.document
    assert TuningPlan.from_dict(json.loads(json.dumps(plan.to_dict()))) == plan
    found = problems(job(("jobs = 30", 'jobs = 30\nearly_stopping = "auto"')))
    assert [(problem.number, problem.where) for problem in found] == [(322, "tuning.early_stopping")]


def test_completion_criteria_are_keys_of_the_tuning_table(job: Job, plan_of: PlanOf) -> None:
    keys = "jobs = 30\ntarget = 0.9\nnot_improving = 3\nconvergence = true"
    plan = plan_of(job(("jobs = 30", keys)))
    assert (plan.target, plan.not_improving, plan.convergence) == (0.9, 3, True)
    assert json.loads(plan.document)["HyperParameterTuningJobConfig"]["TuningJobCompletionCriteria"] == {
        "TargetObjectiveMetricValue": 0.9,
        "BestObjectiveNotImproving": {"MaxNumberOfTrainingJobsNotImproving": 3},
        "ConvergenceDetected": {"CompleteOnConvergence": "Enabled"},
    }
    assert "TuningJobCompletionCriteria" not in plan_of(job()).document


@pytest.mark.parametrize(
    ("key", "value", "number"),
    [
        ("not_improving", "2", 207),
        ("target", "nan", 207),
        ("target", "-inf", 207),
        ("target", "1" + "0" * 60, 329),
        ("target", '"high"', 106),
        ("convergence", "1", 106),
    ],
)
def test_criteria_that_nothing_can_meet_are_refused_by_their_key(
    job: Job, problems: Problems, key: str, value: str, number: int
) -> None:
    found = problems(job(("jobs = 30", f"jobs = 30\n{key} = {value}")))
    assert [(problem.number, problem.where) for problem in found] == [(number, f"tuning.{key}")]


def test_other_strategies_need_a_number_of_jobs(job: Job, problems: Problems) -> None:
    found = problems(job(("jobs = 30\n", "")))
    assert [(problem.number, problem.where) for problem in found] == [(107, "tuning.jobs")]
