"""Margins in a booster without trees are evaluated as the model itself is, for every kind of objective."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import xgboost

from bandstand.training.exact import ExactMetrics
from bandstand.training.judge import Judge
from bandstand.training.ring import Ring

RNG = np.random.default_rng(4)
FEATURES = RNG.normal(size=(600, 5)).astype(np.float32)
NOISY = FEATURES[:, 0] + RNG.normal(size=600)
BINARY = (NOISY > 0).astype(np.float32)
CLASSES = np.digitize(NOISY, [-0.5, 0.5]).astype(np.float32)


@pytest.mark.parametrize(
    ("parameters", "labels"),
    [
        ({"objective": "binary:logistic", "eval_metric": ["auc", "aucpr", "logloss", "error@0.3"]}, BINARY),
        (
            {"objective": "binary:logistic", "booster": "dart", "rate_drop": "0.4", "eval_metric": ["auc"]},
            BINARY,
        ),
        ({"objective": "binary:logistic", "booster": "gblinear", "eval_metric": ["auc", "logloss"]}, BINARY),
        ({"objective": "binary:logistic"}, BINARY),
        ({"objective": "binary:hinge", "eval_metric": ["error"]}, BINARY),
        ({"objective": "multi:softprob", "num_class": "3", "eval_metric": ["mlogloss", "auc"]}, CLASSES),
        ({"objective": "multi:softmax", "num_class": "3", "eval_metric": ["merror"]}, CLASSES),
        ({"objective": "count:poisson", "eval_metric": ["poisson-nloglik", "rmse"]}, CLASSES),
        ({"objective": "reg:gamma", "eval_metric": ["gamma-deviance"]}, CLASSES + 1),
        ({"objective": "reg:tweedie", "eval_metric": ["tweedie-nloglik@1.3"]}, CLASSES),
        ({"objective": "reg:absoluteerror", "eval_metric": ["mae", "mape"]}, CLASSES + 1),
        (
            {"objective": "reg:quantileerror", "quantile_alpha": "[0.1, 0.5]", "eval_metric": ["quantile"]},
            CLASSES,
        ),
        ({"objective": "rank:ndcg", "eval_metric": ["ndcg@5", "map", "pre@3"]}, BINARY),
    ],
    ids=lambda value: value["objective"] + value.get("booster", "") if isinstance(value, dict) else "",
)
def test_values_are_those_of_the_booster_itself_in_every_iteration(
    parameters: dict[str, Any], labels: np.ndarray
) -> None:
    parameters = {**parameters, "nthread": "1", "seed": "2"}
    train = xgboost.DMatrix(FEATURES[:400], labels[:400], nthread=1)
    held_out = xgboost.DMatrix(FEATURES[400:], labels[400:], nthread=1)
    booster = xgboost.Booster(parameters, [train, held_out])
    exact = ExactMetrics(Ring([0], 0), parameters, "validation", labels[400:])
    for iteration in range(5):
        booster.update(train, iteration)
        text = booster.eval(held_out, "validation")
        parts = [part.rpartition(":") for part in text.split("\t")[1:]]
        expected = {name.replace("validation-", "validation:", 1): float(value) for name, _, value in parts}
        assert exact(booster, held_out) == pytest.approx(expected, rel=1e-14, abs=1e-15)


@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
def test_rows_that_are_kept_in_the_order_of_earlier_margins_change_no_value(weighted: bool) -> None:
    parameters = {"objective": "binary:logistic", "eval_metric": ["auc", "aucpr", "logloss"], "nthread": "1"}
    weights = RNG.uniform(0.1, 3, 600).astype(np.float32) if weighted else None
    judge = Judge(parameters, "v", BINARY, {} if weights is None else {"weight": weights}, ())
    nothing = np.zeros((600, 1), np.float32)
    margins = np.zeros(600, np.float32)
    for _ in range(20):
        margins = margins + np.round(RNG.normal(FEATURES[:, 0]), 1).astype(np.float32)  # some are equal
        whole = xgboost.DMatrix(nothing, BINARY, weight=weights, base_margin=margins, nthread=1)
        text = xgboost.Booster(parameters, [whole]).eval(whole, "v")
        expected = [float(part.rpartition(":")[2]) for part in text.split("\t")[1:]]
        found = judge.evaluate(margins.reshape(-1, 1))
        assert list(found.values()) == pytest.approx(expected, rel=1e-12)
