"""Hyperparameters become XGBoost's parameters; what is wrong is listed."""

from __future__ import annotations

import pytest

from bandstand.hyperparameters import Hyperparameters
from bandstand_container.xgboost_settings import Settings, read_settings


def read(ranks: int = 3, **given: str) -> tuple[Settings, list[str]]:
    return read_settings(Hyperparameters({"num_round": "10", **given}), ranks, 2)


def test_names_of_this_algorithm_and_of_the_platform_do_not_go_to_xgboost() -> None:
    settings, problems = read(
        algorithm="xgboost",
        eta="0.1",
        early_stopping_rounds="5",
        train_metrics="True",
        save_model_on_termination="true",
        sagemaker_program="x.py",
        _tuning_objective_metric="validation:auc",
    )
    assert problems == []
    assert settings.parameters == {"eta": "0.1", "nthread": "2"}
    assert (settings.rounds, settings.patience, settings.train_metrics) == (10, 5, True)


@pytest.mark.parametrize(
    "written", ["auc,logloss", '["auc", "logloss"]', "['auc', 'logloss']", "auc, logloss"]
)
def test_the_tuned_metric_is_evaluated_after_the_others(written: str) -> None:
    settings, _ = read(eval_metric=written, _tuning_objective_metric='"validation:error"')
    assert settings.metrics == ("auc", "logloss", "error")
    assert settings.for_booster()["eval_metric"] == ["auc", "logloss", "error"]


def test_a_metric_of_the_training_channel_is_evaluated_when_it_is_tuned() -> None:
    assert read(_tuning_objective_metric="train:rmse")[0].train_metrics is True
    assert read(_tuning_objective_metric="validation:rmse")[0].train_metrics is None


@pytest.mark.parametrize(
    ("name", "written", "read_as"),
    [
        ("max_depth", "4.0", "4"),
        ("max_leaves", "1e2", "100"),
        ("max_depth", "007", "7"),
        ("seed", " -3 ", "-3"),
        ("eta", "0.30", "0.30"),
        ("eta", "1e-05", "1e-05"),
        ("eta", '"0.3"', "0.3"),
        ("tree_method", '"hist"', "hist"),
        ("one_drop", "True", "1"),
        ("refresh_leaf", "off", "0"),
        ("base_score", "0.25", "0.25"),
        ("quantile_alpha", "0.1, 0.9", "[0.1, 0.9]"),
    ],
)
def test_values_are_passed_on_as_xgboost_reads_them(name: str, written: str, read_as: str) -> None:
    settings, problems = read(**{name: written})
    assert problems == []
    assert settings.parameters[name] == read_as


def test_a_parameter_goes_to_xgboost_by_one_name_whatever_the_job_calls_it() -> None:
    settings, problems = read(**{"learning-rate": "0.1", "reg_lambda": "2", "random_state": "7"})
    assert problems == []
    assert settings.parameters == {"eta": "0.1", "lambda": "2", "seed": "7", "nthread": "2"}


def test_null_is_a_parameter_that_was_not_given() -> None:
    settings, problems = read(max_depth="null", eta="None")
    assert (settings.parameters, problems) == ({"nthread": "2"}, [])


def test_constraints_are_passed_on_in_xgboosts_own_form() -> None:
    settings, _ = read(monotone_constraints="[1, 0, -1]", interaction_constraints="[[0, 1], [2]]")
    assert settings.parameters["monotone_constraints"] == "(1,0,-1)"
    assert settings.parameters["interaction_constraints"] == "[[0, 1], [2]]"


def test_threads_may_be_chosen_by_the_user() -> None:
    assert read(nthread="1")[0].parameters["nthread"] == "1"
    assert read(n_jobs="1")[0].parameters["nthread"] == "1"


@pytest.mark.parametrize(
    "given", [{"tree_method": "exact"}, {"updater": "grow_colmaker,prune"}, {"booster": "gblinear"}]
)
def test_methods_without_a_distributed_form_need_one_rank(given: dict[str, str]) -> None:
    assert "cannot train on rows that are split over 3 ranks" in read(**given)[1][0]
    assert read(ranks=1, **given)[1] == []


def test_every_problem_is_listed() -> None:
    _, problems = read(
        num_round="ten",
        early_stopping_rounds="0",
        eval_metric="[1, [2]]",
        train_metrics="perhaps",
        _tuning_objective_metric="auc",
    )
    assert len(problems) == 5
    assert problems[0] == "Hyperparameter 'num_round' is 'ten'; expected a whole number of 1 or more."
    assert (
        problems[1] == "Hyperparameter 'early_stopping_rounds' is '0'; expected a whole number of 1 or more."
    )
    assert (
        "The tuning objective is 'auc'; this algorithm reports train:METRIC and validation:METRIC"
        in problems[4]
    )


def test_early_stopping_needs_a_metric_with_a_known_direction() -> None:
    _, problems = read(early_stopping_rounds="5", eval_metric="gamma-deviance,made-up")
    assert "whether 'made-up' should grow or fall is not known" in problems[0]


def test_a_misspelt_number_of_rounds_is_told_once_with_the_name_that_was_meant() -> None:
    _, problems = read_settings(Hyperparameters({"num_rounds": "10"}), 1, 1)
    assert problems == ["There is no hyperparameter 'num_rounds'. Did you mean 'num_round'?"]


def test_a_missing_number_of_rounds_is_told_with_what_it_is() -> None:
    _, problems = read_settings(Hyperparameters({}), 1, 1)
    assert problems == [
        "Hyperparameter 'num_round' is missing; expected a whole number of 1 or more: Iterations in all."
    ]


def test_names_and_ranges_are_checked_before_xgboost_sees_them() -> None:
    settings, problems = read(etaa="0.1", eta="1.5", subsample="0", boster="dart", booster="tree")
    assert settings.parameters == {"nthread": "2"}
    assert problems == [
        "There is no hyperparameter 'etaa'. Did you mean 'eta'?",
        "Hyperparameter 'eta' is '1.5'; expected a number from 0 to 1.",
        "Hyperparameter 'subsample' is '0'; expected a number above 0, up to 1.",
        "There is no hyperparameter 'boster'. Did you mean 'booster'?",
        "Hyperparameter 'booster' is 'tree'; expected one of gbtree, gblinear, dart. Did you mean 'gbtree'?",
    ]


def test_one_parameter_under_two_names_is_refused() -> None:
    _, problems = read(eta="0.1", learning_rate="0.2")
    assert problems == [
        "Hyperparameter 'eta' is given twice, as 'eta' and as 'learning_rate'. Keep one of them."
    ]
