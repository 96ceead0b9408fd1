"""Metrics over all rows of a channel, equal to what one process would compute for the same model."""

from __future__ import annotations

import math
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from bandstand.training.output import note
from bandstand.training.ring import Ring

_Scalar = TypeVar("_Scalar", bound=np.generic)

_WITHOUT_TREES = {"booster": "gbtree", "process_type": "default"}


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
    ) -> None:
        self._ring = ring
        self._name = name
        self._rows, self._total = _share(ring, len(labels))
        self._margins = np.empty((0, 0), np.float32)
        everything = _gathered(ring, labels)
        low, high = bounds or (None, None)
        own = {"weight": weights, "group": groups, "label_lower_bound": low, "label_upper_bound": high}
        given = {what: _gathered(ring, values) for what, values in own.items() if values is not None}
        self._judge = _Judge(parameters, everything, given) if ring.position == 0 else None

    def __call__(self, booster: Any, matrix: Any) -> dict[str, float]:
        """Evaluate the booster as it is now.

        Args:
            booster: An `xgboost.Booster`.
            matrix: This rank's rows as an `xgboost.DMatrix`; any with the right features if it has none.

        Returns:
            Metric name, as `validation:auc`, to value on the ring's first rank; empty on the others.
        """
        margins = booster.predict(matrix, output_margin=True)
        groups = margins.size // len(margins)
        if self._margins.shape[1:] != (groups,):
            self._margins = np.zeros((self._total, groups), np.float32)
        mine = self._margins[self._rows]
        mine[:] = margins.reshape(len(margins), groups)[: len(mine)]
        gathered = self._ring.sum(self._margins)
        if self._judge is None:
            return {}
        return self._judge.evaluate(gathered, self._name)


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


class _Judge:
    """Evaluates margins with the installed XGBoost, in a thread that is in no ring.

    Args:
        parameters: The booster's parameters.
        labels: Array of shape (rows,), all rows of the channel.
        given: Weights, groups and bounds of all rows, if they have any, as arguments of a DMatrix.
    """

    def __init__(
        self,
        parameters: Mapping[str, object],
        labels: NDArray[np.float32],
        given: Mapping[str, NDArray[Any]],
    ) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="bandstand-metrics")
        self._parameters = {**parameters, **_WITHOUT_TREES}
        self._parameters.pop("verbosity", None)
        self._warned: set[str] = set()
        self._thread.submit(self._prepare, labels, given).result()

    def _prepare(self, labels: NDArray[np.float32], given: Mapping[str, NDArray[Any]]) -> None:
        import xgboost

        # In another thread than the main one XGBoost writes to stderr itself, each time: what it warns of is
        # told below, once.
        xgboost.set_config(verbosity=0)
        nothing = np.full((len(labels), 1), np.nan, np.float32)
        self._matrix = xgboost.DMatrix(nothing, labels, nthread=self._parameters.get("nthread"), **given)
        self._booster = xgboost.Booster(self._parameters, [self._matrix])

    def evaluate(self, margins: NDArray[np.float32], name: str) -> dict[str, float]:
        """The metrics of all rows.

        Args:
            margins: Array of shape (rows, output groups).
            name: What the metrics' names start with.
        """
        found = self._thread.submit(self._evaluate, margins, name).result()
        for metric, value in found.items():
            if not math.isfinite(value) and metric not in self._warned:
                self._warned.add(metric)
                note(
                    f"warning: {metric} is {value}. Either predictions are not finite, or the metric has no "
                    "value for these labels, as auc has none for labels of one class."
                )
        return found

    def _evaluate(self, margins: NDArray[np.float32], name: str) -> dict[str, float]:
        self._matrix.set_base_margin(margins if margins.shape[1] > 1 else margins[:, 0])
        found = {}
        # [0]  validation-auc:0.8312...  validation-logloss:0.5...
        for part in str(self._booster.eval(self._matrix, name)).split("\t")[1:]:
            metric, _, value = part.removeprefix(f"{name}-").rpartition(":")
            found[f"{name}:{metric}"] = float(value)
        return found
