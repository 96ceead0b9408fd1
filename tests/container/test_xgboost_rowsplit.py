"""The parts of the training loop that need no second process."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import xgboost
from numpy.typing import NDArray

from bandstand.errors import JobError
from bandstand.training.ring import Ring
from bandstand_container.xgboost_rowsplit import Pace, require_one_model


class Pair(Ring):
    """A ring of two, whose other rank gives what the test says."""

    def __init__(self, other: NDArray[Any]) -> None:
        super().__init__([0, 1], 0)
        self.other = other

    def sum(self, values: NDArray[Any]) -> NDArray[Any]:
        return values + self.other


def test_ranks_with_different_models_end_the_job() -> None:
    matrix = xgboost.DMatrix(np.arange(8.0).reshape(4, 2), [0, 1, 0, 1], nthread=1)
    booster = xgboost.Booster({"nthread": 1}, [matrix])
    booster.update(matrix, 0)
    require_one_model(Ring([0], 0), booster)
    with pytest.raises(JobError, match="has trained different models on different ranks"):
        require_one_model(Pair(np.array([0, 12345])), booster)


def test_checkpoints_follow_the_time_that_iterations_take_on_the_first_rank() -> None:
    now = 0.0
    pace = Pace(Ring([0], 0), lambda: now)
    every = []
    for seconds in (4.0, 2.0, 2.0, 2.0, 1000.0):
        now += seconds
        every.append(pace.iterations_in(60.0))
    # The mean is taken anew after the iterations 1, 2 and 4: 4 s, 3 s, 2.5 s.
    assert every == [15, 20, 20, 24, 24]


def test_iterations_that_are_longer_than_the_time_between_checkpoints_have_one_each() -> None:
    now = 0.0
    pace = Pace(Ring([0], 0), lambda: now)
    now = 500.0
    assert pace.iterations_in(60.0) == 1
