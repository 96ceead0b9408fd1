"""Early stopping follows the metric's own direction, from whatever the booster remembers."""

from __future__ import annotations

import math

import pytest

from bandstand.errors import InputError
from bandstand.training.ring import Ring
from bandstand_container.xgboost_patience import Patience


class Remembering:
    """The attributes of a booster."""

    def __init__(self) -> None:
        self.attributes: dict[str, str] = {}

    def attr(self, name: str) -> str | None:
        return self.attributes.get(name)

    def set_attr(self, **values: str) -> None:
        self.attributes |= values


def ended_after(metric: str, values: list[float], rounds: int) -> tuple[int | None, dict[str, str]]:
    booster = Remembering()
    patience = Patience(Ring([0], 0), rounds, None)
    for iteration, value in enumerate(values, 1):
        if patience.is_over(booster, iteration, {"validation:x": 0.0, metric: value}):
            return iteration, booster.attributes
    return None, booster.attributes


def test_auc_should_grow() -> None:
    assert ended_after("validation:auc", [0.6, 0.7, 0.7, 0.65], 2) == (
        4,
        {"best_score": "0.7", "best_iteration": "1"},
    )


def test_logloss_should_fall() -> None:
    assert ended_after("validation:logloss", [0.6, 0.5, 0.55, 0.4], 2)[0] is None


def test_a_nan_is_never_the_best_value() -> None:
    assert ended_after("validation:auc", [math.nan, 0.5, math.nan, math.nan], 2)[0] == 4
    assert ended_after("validation:auc", [math.nan, math.nan], 2)[0] == 2


def test_a_restarted_training_remembers_the_best_value() -> None:
    booster = Remembering()
    booster.set_attr(best_score="0.9", best_iteration="4")
    patience = Patience(Ring([0], 0), 3, "validation:auc")
    assert not patience.is_over(booster, 7, {"validation:auc": 0.8})
    assert patience.is_over(booster, 8, {"validation:auc": 0.8})


def test_the_watched_metric_must_be_reported_and_have_a_direction() -> None:
    with pytest.raises(
        InputError, match="watches 'validation:auc', which is not among the reported: train:auc"
    ):
        Patience(Ring([0], 0), 3, "validation:auc").is_over(Remembering(), 1, {"train:auc": 0.8})
    with pytest.raises(InputError, match="whether 'train:made-up' should grow or fall is not known"):
        Patience(Ring([0], 0), 3, None).is_over(Remembering(), 1, {"train:made-up": 0.8})
