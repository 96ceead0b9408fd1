"""The declared hyperparameters of the built-in XGBoost against the installed XGBoost, and SageMaker's."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from collections.abc import Mapping

import numpy as np
import pytest
import xgboost

from bandstand.hyperparameter_declaration import Hyperparameter
from bandstand.hyperparameter_file import as_json, to_document
from bandstand.hyperparameters import Hyperparameters
from bandstand_container import xgboost_trial
from bandstand_container.xgboost_hyperparameters import FILE, OWN_NAMES, SCHEMA
from bandstand_container.xgboost_parameters import PARAMETERS
from bandstand_container.xgboost_settings import read_settings
from bandstand_container.xgboost_trial import try_settings

NEEDED: Mapping[str, dict[str, str]] = {
    name: needed
    for names, needed in (
        ("rate_drop one_drop skip_drop sample_type normalize_type", {"booster": "dart"}),
        ("tolerance max_row_perbatch", {"booster": "gblinear"}),
        ("feature_selector top_k", {"booster": "gblinear", "updater": "coord_descent"}),
        ("tweedie_variance_power", {"objective": "reg:tweedie"}),
        ("huber_slope", {"objective": "reg:pseudohubererror"}),
        ("quantile_alpha", {"objective": "reg:quantileerror"}),
        ("aft_loss_distribution aft_loss_distribution_scale", {"objective": "survival:aft"}),
        (" ".join(it.name for it in PARAMETERS if it.help.startswith("rank")), {"objective": "rank:ndcg"}),
        ("default_direction opt_dense_col", {"tree_method": "exact"}),
    )
    for name in names.split()
}
"""What has to be set for XGBoost to look at a parameter."""

MEANINGLESS: Mapping[tuple[str, str], str] = {
    ("eta", "high"): "XGBoost and SageMaker document [0, 1]; above 1 each tree overshoots its own optimum",
    ("colsample_bylevel", "low"): "documented as (0, 1]; the library takes one column for 0",
    ("colsample_bynode", "low"): "documented as (0, 1]; the library takes one column for 0",
    ("colsample_bytree", "low"): "documented as (0, 1]; the library takes one column for 0",
    ("subsample", "low"): "documented as (0, 1]; 0 is a share of no rows",
    ("tweedie_variance_power", "low"): "documented as (1, 2); at 1 it is count:poisson",
    ("tweedie_variance_power", "high"): "documented as (1, 2); at 2 it is reg:gamma",
    ("huber_slope", "low"): "the library divides by it",
    ("aft_loss_distribution_scale", "low"): "the library divides by it",
    ("max_row_perbatch", "low"): "the library takes it for no limit",
    ("monotone_constraints", "low"): "the library takes any negative number for -1",
    ("monotone_constraints", "high"): "the library takes any positive number for 1",
}
"""Bounds beyond which the library refuses nothing, and why they are bounds."""

LIMITED = [it for it in PARAMETERS if it.low is not None or it.high is not None]


def refusals(it: Hyperparameter, text: str) -> list[str]:
    """What XGBoost itself says of a value."""
    if it.name == "verbosity":  # global in the library, so that the trial leaves it to the declaration
        usual = xgboost.get_config()["verbosity"]
        try:
            xgboost.set_config(verbosity=int(text))
        except xgboost.core.XGBoostError as error:
            return [str(error)]
        finally:
            xgboost.set_config(verbosity=usual)  # the library keeps what it has refused
        return []
    return try_settings({**NEEDED.get(it.name, {}), it.name: text}, (), SCHEMA.names)[0]


def as_given(it: Hyperparameter, text: str) -> str:
    """A value as the algorithm passes it on."""
    settings, problems = read_settings(Hyperparameters({"num_round": "1", it.name: text}), 1, 1)
    assert problems == []
    return settings.parameters[it.name]


def outside(it: Hyperparameter, bound: str) -> str:
    """The number just beyond a bound; the bound itself where it is not allowed."""
    value = it.low if bound == "low" else it.high
    assert value is not None
    if bound in it.excludes:
        return str(value)
    if it.kind.startswith("integer"):
        return str(int(value) + (-1 if bound == "low" else 1))
    return repr(float(np.nextafter(np.float32(value), np.float32(-math.inf if bound == "low" else math.inf))))


def inside(it: Hyperparameter, bound: str) -> str:
    """The outermost number that is allowed."""
    value = it.low if bound == "low" else it.high
    assert value is not None
    if bound in it.excludes:
        return repr(
            float(np.nextafter(np.float32(value), np.float32(math.inf if bound == "low" else -math.inf)))
        )
    return str(int(value) if it.kind.startswith("integer") else float(value))


BOUNDS = [
    pytest.param(it, bound, id=f"{it.name}-{bound}")
    for it in LIMITED
    for bound, value in (("low", it.low), ("high", it.high))
    if value is not None
]


@pytest.mark.parametrize(("it", "bound"), BOUNDS)
def test_xgboost_takes_the_outermost_value_that_is_allowed(it: Hyperparameter, bound: str) -> None:
    text = inside(it, bound)
    if it.excludes and bound == "low" and it.low == 0:
        text = "1e-30"  # which is no denormal number of 32 bits
    assert refusals(it, as_given(it, text)) == []


@pytest.mark.parametrize(("it", "bound"), BOUNDS)
def test_what_is_just_outside_is_refused_here_and_by_xgboost_or_known_to_mean_nothing(
    it: Hyperparameter, bound: str
) -> None:
    text = outside(it, bound)
    with pytest.raises(ValueError, match="is not"):
        it.read(text)
    passed_on = f"({text})" if it.name == "monotone_constraints" else text
    assert bool(refusals(it, passed_on)) != ((it.name, bound) in MEANINGLESS)


@pytest.mark.parametrize("it", [it for it in PARAMETERS if it.choices], ids=lambda it: it.name)
def test_xgboost_has_every_choice_and_no_other(it: Hyperparameter) -> None:
    for choice in it.choices:
        needed = {"num_class": "2", "quantile_alpha": "0.5"} if it.name == "objective" else {}
        assert try_settings({**NEEDED.get(it.name, {}), **needed, it.name: choice}, (), ())[0] == [], choice
    assert refusals(it, "none-of-these")


@pytest.mark.parametrize("it", [it for it in PARAMETERS if it.kind == "boolean"], ids=lambda it: it.name)
@pytest.mark.parametrize("text", ["yes", "False"])
def test_xgboost_takes_truth_values_as_they_are_passed_on(it: Hyperparameter, text: str) -> None:
    assert refusals(it, as_given(it, text)) == []


@pytest.mark.parametrize("it", [it for it in PARAMETERS if it.default is not None], ids=lambda it: it.name)
def test_xgboost_takes_every_default(it: Hyperparameter) -> None:
    assert refusals(it, as_given(it, str(it.default))) == []


def test_every_name_of_the_installed_xgboost_is_declared_and_no_other_goes_to_it() -> None:
    matrix = xgboost.DMatrix(np.zeros((2, 1), np.float32), np.array([0, 1], np.float32), nthread=1)
    with xgboost.config_context(verbosity=0):
        has = {*xgboost_trial._known_names(matrix), *xgboost.get_config()}
    declared = {name for it in PARAMETERS for name in it.names}
    assert has - declared == set()
    assert declared - has == set()


@pytest.mark.parametrize(
    ("name", "default"),
    [
        ("alpha", "0 to 1000"),
        ("colsample_bylevel", "0.1 to 1"),
        ("colsample_bynode", "0.1 to 1"),
        ("colsample_bytree", "0.5 to 1"),
        ("eta", "0.1 to 0.5"),
        ("gamma", "0 to 5"),
        ("lambda", "0 to 1000"),
        ("max_delta_step", "0 to 10"),
        ("max_depth", "0 to 10"),
        ("min_child_weight", "0 to 120"),
        ("num_round", "1 to 4000"),
        ("subsample", "0.5 to 1"),
    ],
)
def test_default_ranges_are_those_that_sagemaker_recommends(name: str, default: str) -> None:
    declared = SCHEMA.find(name)
    assert declared is not None
    assert str(declared.tune) == f"{default}, linear scale"


def test_nothing_else_has_a_default_range() -> None:
    assert sum(it.tune is not None for it in SCHEMA.declared) == 12


def test_the_file_beside_the_algorithm_is_current() -> None:
    current = as_json(to_document(SCHEMA))
    command = "python -m bandstand_container.xgboost_rowsplit --export-hyperparameters"
    assert FILE.read_text("utf-8") == current, f"run: {command}"


def test_own_names_do_not_go_to_xgboost() -> None:
    assert not set(OWN_NAMES) & {name for it in PARAMETERS for name in it.names}


def test_the_algorithm_tells_its_hyperparameters() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bandstand_container.xgboost_rowsplit", "--help"],
        capture_output=True,
        text=True,
        env={name: value for name, value in os.environ.items() if not name.startswith("BANDSTAND_")},
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert (
        "  eta, learning_rate\n      a number from 0 to 1; default 0.3; default range 0.1 to 0.5"
        in done.stdout
    )
    assert "a job file's [hyperparameters]" in done.stdout
