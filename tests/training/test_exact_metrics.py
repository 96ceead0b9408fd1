"""Every metric that the installed XGBoost has, over the rows of several ranks, is that of one process."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xgboost
from numpy.typing import NDArray

from bandstand.training.exact import ExactMetrics
from bandstand.training.ring import Ring

from .ring_of_threads import Threads

RNG = np.random.default_rng(5)
FEATURES = RNG.normal(size=(700, 4)).astype(np.float32)
FEATURES = FEATURES[np.argsort(FEATURES[:, 0])]  # so that the parts of the ranks are unlike each other
NOISY = FEATURES[:, 0] + FEATURES[:, 1] ** 2 + RNG.normal(size=700)
BINARY = (NOISY > 1).astype(np.float32)
CLASSES = np.digitize(NOISY, [0, 1, 2]).astype(np.float32)
POSITIVE = np.exp(NOISY / 3).astype(np.float32)
RESIDUAL = (NOISY / 10).astype(np.float32)
WEIGHTS = RNG.uniform(0.2, 3, 700).astype(np.float32)
GROUPS = np.array([1, 39, 60, 100, 50, 50, 75, 125, 120, 80], np.int64)
CUTS = (0, 200, 300, 700)
"""Where ranks begin and end; each boundary is one of the groups, too."""

CASES: dict[str, tuple[str, NDArray[np.float32], dict[str, str]]] = {
    "rmse": ("reg:squarederror", NOISY.astype(np.float32), {}),
    "rmsle": ("reg:squarederror", POSITIVE, {}),
    "mae": ("reg:absoluteerror", NOISY.astype(np.float32), {}),
    "mape": ("reg:squarederror", POSITIVE, {}),
    "mphe": ("reg:pseudohubererror", RESIDUAL, {}),
    "logloss": ("binary:logistic", BINARY, {}),
    "error": ("binary:logistic", BINARY, {}),
    "error@0.3": ("binary:logistic", BINARY, {}),
    "error@0.7": ("binary:logistic", BINARY, {}),
    "ams@0.15": ("binary:logitraw", BINARY, {}),
    "auc": ("binary:logistic", BINARY, {}),
    "aucpr": ("binary:logistic", BINARY, {}),
    "pre": ("binary:logistic", BINARY, {}),
    "pre@9": ("binary:logistic", BINARY, {}),
    "ndcg": ("binary:logistic", BINARY, {}),
    "ndcg@7-": ("binary:logistic", BINARY, {}),
    "map": ("binary:logistic", BINARY, {}),
    "map@6": ("binary:logistic", BINARY, {}),
    "merror": ("multi:softmax", CLASSES, {"num_class": "4"}),
    "merror@0.4": ("multi:softprob", CLASSES, {"num_class": "4"}),
    "mlogloss": ("multi:softprob", CLASSES, {"num_class": "4"}),
    "poisson-nloglik": ("count:poisson", CLASSES, {}),
    "gamma-nloglik": ("reg:gamma", POSITIVE, {}),
    "gamma-deviance": ("reg:gamma", POSITIVE, {}),
    "tweedie-nloglik@1.4": ("reg:tweedie", CLASSES, {"tweedie_variance_power": "1.4"}),
    "quantile": ("reg:quantileerror", NOISY.astype(np.float32), {"quantile_alpha": "[0.2, 0.7]"}),
    "cox-nloglik": ("survival:cox", np.where(BINARY > 0, POSITIVE, -POSITIVE), {}),
    "aft-nloglik": ("survival:aft", POSITIVE, {}),
    "interval-regression-accuracy": ("survival:aft", POSITIVE, {}),
}
OF_GROUPS = ("pre", "ndcg", "map")
"""Metrics that weigh groups, not rows."""

RANKING = ("ndcg", "ndcg@3", "ndcg@3-", "ndcg-", "map", "map@5", "map@5-", "map-", "pre", "pre@4", "auc")


def metrics_of_the_library() -> set[str]:
    """Names in XGBoost's library that it takes as a metric."""
    from xgboost import libpath

    library = Path(libpath.find_lib_path()[0]).read_bytes()
    words = {word.decode() for word in re.findall(rb"(?<=\0)([a-z][a-z0-9-]{1,30})(?=\0)", library)}
    # Short ones are not stored as text of their own.
    words |= {"rmse", "mae", "auc", "pre", "map", "ndcg", "error", "logloss", "aucpr", "ams"}
    matrix = xgboost.DMatrix(FEATURES[:2], BINARY[:2], nthread=1)
    found = set()
    with xgboost.config_context(verbosity=0):
        for word in words:
            try:
                xgboost.Booster({"eval_metric": word, "nthread": "1"}, [matrix]).eval(matrix)
            except xgboost.core.XGBoostError as error:
                if "Unknown metric function" in str(error):
                    continue
            found.add(word)
    return found


def in_one_process(booster: Any, matrix: Any) -> dict[str, float]:
    parts = [part.rpartition(":") for part in str(booster.eval(matrix, "v")).split("\t")[1:]]
    return {name.replace("v-", "v:", 1): float(value) for name, _, value in parts}


def over_ranks(
    parameters: dict[str, Any], booster: Any, part: Callable[[int], dict[str, Any]]
) -> dict[str, float]:
    """The metrics over three ranks; `part` gives what a rank has, as arguments of a DMatrix."""
    raw = booster.save_raw("ubj")

    def rank(ring: Ring) -> dict[str, float]:
        own = part(ring.position)
        bounds = (own["label_lower_bound"], own["label_upper_bound"]) if "label_lower_bound" in own else None
        about = (own["label"], own.get("weight"), own.get("group"), bounds)
        exact = ExactMetrics(ring, parameters, "v", *about)
        copy = xgboost.Booster({"nthread": "1"})
        copy.load_model(raw)
        return exact(copy, xgboost.DMatrix(own["data"], nthread=1))

    first, *others = Threads(3).run(rank)
    assert others == [{}, {}]
    return first


def check(
    metrics: list[str], objective: str, given: dict[str, Any], more: dict[str, str], groups: Any = None
) -> None:
    parameters = {"objective": objective, "eval_metric": metrics, "nthread": "1", "max_depth": "3", **more}
    whole = xgboost.DMatrix(**given, group=groups, nthread=1)
    booster = xgboost.Booster(parameters, [whole])
    for iteration in range(4):
        booster.update(whole, iteration)

    def part(position: int) -> dict[str, Any]:
        cut = slice(CUTS[position], CUTS[position + 1])
        if groups is None:
            return {name: values[cut] for name, values in given.items()}
        ends = np.cumsum(groups)
        own = (ends > cut.start) & (ends <= cut.stop)
        return {name: values[own if name == "weight" else cut] for name, values in given.items()} | {
            "group": groups[own]
        }

    expected, found = in_one_process(booster, whole), over_ranks(parameters, booster, part)
    assert list(found) == list(expected)
    for name, value in expected.items():
        assert np.isfinite(value), name
        assert found[name] == pytest.approx(value, abs=1e-9, rel=1e-9), name


@pytest.mark.parametrize(
    ("metric", "weighted"),
    [(metric, False) for metric in CASES]
    + [(metric, True) for metric in CASES if metric.partition("@")[0] not in OF_GROUPS],
)
def test_a_metric_over_several_ranks_is_that_of_one_process(metric: str, weighted: bool) -> None:
    objective, labels, more = CASES[metric]
    given: dict[str, Any] = {"data": FEATURES, "label": labels}
    if weighted:
        given["weight"] = WEIGHTS
    if objective == "survival:aft":
        given |= {"label_lower_bound": labels, "label_upper_bound": labels * np.where(BINARY > 0, 1.5, 1)}
        given["label_upper_bound"] = given["label_upper_bound"].astype(np.float32)
    check([metric], objective, given, more)


@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
@pytest.mark.parametrize("objective", ["rank:ndcg", "rank:pairwise", "rank:map"])
def test_ranking_metrics_over_query_groups_on_several_ranks_are_those_of_one_process(
    objective: str, weighted: bool
) -> None:
    labels = BINARY if objective == "rank:map" else CLASSES
    metrics = [
        metric for metric in RANKING if objective == "rank:map" or not metric.startswith(("map", "pre"))
    ]
    mixed = np.random.default_rng(6).permutation(
        len(FEATURES)
    )  # a group without a hit weighs 1, whatever is said
    given: dict[str, Any] = {"data": FEATURES[mixed], "label": labels[mixed]}
    if weighted:
        given["weight"] = WEIGHTS[: len(GROUPS)]
    check(metrics, objective, given, {}, GROUPS)


@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
def test_auc_of_several_classes_is_that_of_one_process(weighted: bool) -> None:
    given = {"data": FEATURES, "label": CLASSES} | ({"weight": WEIGHTS} if weighted else {})
    check(["auc", "aucpr"], "multi:softprob", given, {"num_class": "4"})


def test_all_metrics_of_an_objective_together_are_those_of_one_process() -> None:
    metrics = [metric for metric, (objective, *_) in CASES.items() if objective == "binary:logistic"]
    check(metrics, "binary:logistic", {"data": FEATURES, "label": BINARY}, {})


def test_every_metric_of_the_library_has_a_case_here() -> None:
    tested = {metric.partition("@")[0] for metric in (*CASES, *RANKING)}
    found = metrics_of_the_library()
    assert {"auc", "rmsle", "interval-regression-accuracy"} <= found
    assert found - tested == set()
