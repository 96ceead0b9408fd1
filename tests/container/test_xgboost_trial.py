"""The installed XGBoost itself judges names, values, metrics and labels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xgboost

from bandstand.errors import InputError
from bandstand.training.rows import DataFile, Rows, read_rows, split
from bandstand_container.xgboost_trial import try_labels, try_settings


def judged(*metrics: str, **parameters: str) -> tuple[list[str], list[str]]:
    return try_settings({"objective": "binary:logistic", **parameters}, metrics, ("num_round", "eval_metric"))


def test_every_parameter_of_sagemakers_example_is_accepted() -> None:
    assert judged(
        "auc",
        "logloss",
        eta="0.1",
        alpha="1",
        max_depth="6",
        min_child_weight="3",
        subsample="0.8",
        colsample_bylevel="0.5",
        booster="gbtree",
        seed="7",
        nthread="1",
        verbosity="0",
        scale_pos_weight="2",
        gamma="4",
        reg_lambda="1",
        learning_rate="0.2",
        tree_method="hist",
        max_bin="64",
        grow_policy="lossguide",
    ) == ([], [])


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("etaa", "eta"),
        ("max_dept", "max_depth"),
        ("lerning_rate", "learning_rate"),
        ("rate_dropp", "rate_drop"),
        ("num_rounds", "num_round"),
        ("tweedie_variance", "tweedie_variance_power"),
        ("lambdarank_pair", "lambdarank_pair_method"),
        ("feature_select", "feature_selector"),
    ],
)
def test_a_misspelt_name_is_refused_with_the_nearest_one(name: str, meant: str) -> None:
    problems, _ = judged(**{name: "1"})
    version = xgboost.__version__
    expected = f"{name!r} is no parameter of XGBoost {version} nor of this algorithm. Did you mean {meant!r}?"
    assert problems == [expected]


def test_a_name_that_another_booster_or_objective_has_is_accepted_and_said_to_have_no_effect() -> None:
    problems, notes = judged(rate_drop="0.1", num_class="3", tweedie_variance_power="1.2")
    assert problems == []
    assert "rate_drop has no effect with the other settings." in notes
    assert "tweedie_variance_power has no effect with the other settings." in notes


def test_all_values_that_are_refused_are_listed() -> None:
    problems, _ = judged(
        "auc", "acuracy", eta="-1", max_depth="2.5", tree_method="histo", objective="reg:log"
    )
    told = "\n".join(problems)
    assert "eta = -1: value -1 for Parameter learning_rate should be greater equal to 0" in told
    assert "max_depth = 2.5: Invalid Parameter format for max_depth expect int" in told
    assert "tree_method = histo: Invalid Input: 'histo', valid values are: {'approx'" in told
    assert "objective = reg:log: XGBoost has no such objective. Did you mean 'reg:logistic'?" in told
    assert "eval_metric acuracy: Unknown metric function acuracy" in told
    assert len(problems) == 5


def test_values_that_only_another_booster_or_updater_has_are_judged_with_it() -> None:
    linear = {"booster": "gblinear", "updater": "coord_descent", "feature_selector": "greedy", "top_k": "3"}
    assert judged(**linear) == ([], [])
    (problem,) = judged(**{**linear, "booster": "gbtree", "feature_selector": "cyclic", "top_k": "0"})[0]
    assert problem == "updater = coord_descent: Unknown tree updater coord_descent"


def test_judging_leaves_the_verbosity_as_it_was() -> None:
    before = xgboost.get_config()["verbosity"]
    judged(verbosity="3", eta="-1")
    assert xgboost.get_config()["verbosity"] == before


def rows_of(tmp_path: Path, labels: str) -> Rows:
    path = tmp_path / "a.csv"
    path.write_text("".join(f"{label},1,2\n" for label in labels.split()))
    return read_rows(split([DataFile("a.csv", path, path.stat().st_size)], 0, 1)).rows


@pytest.mark.parametrize(
    ("objective", "labels", "line", "words"),
    [
        (
            "binary:logistic",
            "0 1 0.5 1 2",
            5,
            "the label is 2, which binary:logistic refuses: label must be in",
        ),
        ("binary:logistic", "0 1.0000001", 2, "the label is 1.0000001, which binary:logistic refuses: "),
        ("multi:softmax", "0 1 2 1.5", 4, "the label is 1.5, which multi:softmax refuses: "),
        ("count:poisson", "3 -1 3", 2, "label must be non-negative"),
        ("reg:gamma", "3 0 1", 2, "label must be positive"),
    ],
)
def test_labels_that_an_objective_refuses_are_told_with_file_and_line(
    tmp_path: Path, objective: str, labels: str, line: int, words: str
) -> None:
    parameters = {"objective": objective, **({"num_class": "3"} if objective.startswith("multi") else {})}
    problems = try_labels(parameters, rows_of(tmp_path, labels))
    assert problems[0].startswith(f"{tmp_path}/a.csv, line {line}: ")
    assert words in problems[0]


@pytest.mark.parametrize(
    "objective", ["binary:logistic", "reg:squarederror", "binary:hinge", "rank:pairwise"]
)
def test_labels_of_one_value_are_fine_on_one_of_several_ranks(tmp_path: Path, objective: str) -> None:
    assert try_labels({"objective": objective}, rows_of(tmp_path, "1 1 1")) == []
    assert (
        try_labels({"objective": objective}, Rows(np.empty(0, np.float32), np.empty((0, 2), np.float32)))
        == []
    )


def test_settings_with_which_no_label_can_be_trained_on_are_refused_as_such(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot train with these settings: Updater: `refresh` can not be"):
        try_labels({"objective": "binary:logistic", "updater": "refresh"}, rows_of(tmp_path, "0 1"))
