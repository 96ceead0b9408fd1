"""Metrics over all rows of a channel, equal to what one process would compute for the same model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from bandstand.training.judge import CustomMetric, Judge
from bandstand.training.ring import Ring

_Scalar = TypeVar("_Scalar", bound=np.generic)
_Given = ParamSpec("_Given")
_Found = TypeVar("_Found")

_outside = ThreadPoolExecutor(1, thread_name_prefix="bandstand-metrics")


class ExactMetrics:
    """Evaluates a booster over the rows of all ranks of a ring.

    Over several ranks XGBoost itself gives a weighted mean of the ranks' values, which is not the metric for
    AUC and its like: with rows sorted by a feature 0.788 was reported where 0.838 is true. Here every rank
    predicts its own rows, the margins are gathered, and the ring's first rank lets the installed XGBoost
    evaluate all of them at once, as `base_margin` of a booster without trees, outside the ring. Margins are
    those that a single process would find, since a row's margin does not depend on other rows.

    Creating one, and calling it, is collective.

    Args:
        ring: The ranks that train together.
        parameters: The booster's parameters; `eval_metric` says what to evaluate.
        name: The channel's name, which the metrics' names start with.
        labels: Array of shape (rows,): this rank's labels, in the order of the rows that it predicts.
        weights: Array of shape (rows,), or of shape (groups,) where rows have query groups; None without
            weights, on every rank alike.
        groups: Array of the sizes of this rank's query groups; None without queries, on every rank alike.
        bounds: Two arrays of shape (rows,) between which labels lie, for survival times; None for none.
        custom_metric: Functions of the user's own, each as `xgboost.train` takes one: called with predictions
            and an `xgboost.DMatrix`, it returns (name, value) or a list of such pairs. The ring's first rank
            calls it. Predictions are those of all rows, transformed as the objective does it, of shape
            (rows,) or (rows, classes); the matrix has labels, weights, groups and bounds of all rows, but
            no features.
    """

    def __init__(
        self,
        ring: Ring,
        parameters: Mapping[str, object],
        name: str,
        labels: NDArray[np.float32],
        weights: NDArray[np.float32] | None = None,
        groups: NDArray[np.int64] | None = None,
        bounds: tuple[NDArray[np.float32], NDArray[np.float32]] | None = None,
        custom_metric: CustomMetric | Sequence[CustomMetric] = (),
    ) -> None:
        self._ring = ring
        self._rows, self._total = _share(ring, len(labels))
        self._margins = np.empty((0, 0), np.float32)
        everything = _gathered(ring, labels)
        low, high = bounds or (None, None)
        own = {"weight": weights, "group": groups, "label_lower_bound": low, "label_upper_bound": high}
        given = {what: _gathered(ring, values) for what, values in own.items() if values is not None}
        functions = (custom_metric,) if callable(custom_metric) else tuple(custom_metric)
        self._judge = None
        if ring.position == 0:
            self._judge = outside_ring(Judge, parameters, name, everything, given, functions).result()

    def __call__(self, booster: Any, matrix: Any) -> dict[str, float]:
        """Evaluate the booster as it is now.

        Args:
            booster: An `xgboost.Booster`.
            matrix: This rank's rows as an `xgboost.DMatrix`; any with the right features if it has none.

        Returns:
            Metric name, as `validation:auc`, to value on the ring's first rank; empty on the others.

        Raises:
            InputError: If a function of the user's own returns something else than it should.
        """
        margins = self._ring.sum(self.own_margins(booster, matrix))
        return outside_ring(self.evaluate, margins).result() if self._judge else {}

    def own_margins(self, booster: Any, matrix: Any) -> NDArray[np.float32]:
        """What this rank gives to the sum over all ranks, after which the first one can `evaluate`.

        For scripts that exchange several things at once, or go on while the first rank evaluates.

        Args:
            booster: An `xgboost.Booster`.
            matrix: This rank's rows as an `xgboost.DMatrix`; any with the right features if it has none.

        Returns:
            Array of shape (rows of all ranks, output groups): margins of this rank's rows, zeros elsewhere.
            It is overwritten by the next call.
        """
        margins = booster.predict(matrix, output_margin=True)
        groups = margins.size // len(margins)
        if self._margins.shape[1:] != (groups,):
            self._margins = np.zeros((self._total, groups), np.float32)
        mine = self._margins[self._rows]
        mine[:] = margins.reshape(len(margins), groups)[: len(mine)]
        return self._margins

    def evaluate(self, margins: NDArray[np.float32]) -> dict[str, float]:
        """The metrics of margins, on the ring's first rank only, to be called by `outside_ring`.

        Args:
            margins: Array of shape (rows of all ranks, output groups): the sum of all ranks' `own_margins`.

        Returns:
            Metric name, as `validation:auc`, to value.
        """
        return {} if self._judge is None else self._judge.evaluate(margins)


def outside_ring(
    function: Callable[_Given, _Found], *given: _Given.args, **named: _Given.kwargs
) -> Future[_Found]:
    """Call a function in a thread that is in no ring, after what was given to it before.

    What XGBoost computes there is of this process alone.
    """
    return _outside.submit(function, *given, **named)


def _share(ring: Ring, count: int) -> tuple[slice, int]:
    """Which of all values are this rank's, and how many there are."""
    counts = np.zeros(ring.size, np.int64)
    counts[ring.position] = count
    ends = np.cumsum([0, *ring.sum(counts)])
    return slice(int(ends[ring.position]), int(ends[ring.position + 1])), int(ends[-1])


def _gathered(ring: Ring, values: NDArray[_Scalar]) -> NDArray[_Scalar]:
    """The values of all ranks, one rank's behind the other's."""
    own, total = _share(ring, len(values))
    everything = np.zeros(total, values.dtype)
    everything[own] = values
    return ring.sum(everything)
