"""What margins are worth: the installed XGBoost's own metrics, and functions of the user's."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bandstand.errors import InputError
from bandstand.training.output import note

CustomMetric = Callable[[NDArray[np.float32], Any], tuple[str, float] | list[tuple[str, float]]]
"""A metric of the user's own, as `xgboost.train(custom_metric=...)` takes it: predictions, DMatrix."""

_WITHOUT_TREES = {"booster": "gbtree", "process_type": "default"}

_SORTING = frozenset({"auc", "aucpr"})
"""Metrics that spend their time in sorting rows by their margins."""

_OF_ANY_ORDER = _SORTING | {"logloss", "error", "rmse", "mae"}
"""Metrics that are the same in whatever order rows are; those of ranking go by it where margins are equal."""


class Judge:
    """Evaluates margins with the installed XGBoost, in a thread that is in no ring, always the same one.

    Args:
        parameters: The booster's parameters.
        name: What the metrics' names start with.
        labels: Array of shape (rows,), all rows of the channel.
        given: Weights, groups and bounds of all rows, if they have any, as arguments of a DMatrix.
        custom: Functions of the user's own.
    """

    def __init__(
        self,
        parameters: Mapping[str, object],
        name: str,
        labels: NDArray[np.float32],
        given: Mapping[str, NDArray[Any]],
        custom: Sequence[CustomMetric],
    ) -> None:
        import xgboost

        self._name = name
        self._custom = custom
        self._warned: set[str] = set()
        own = {**parameters, **_WITHOUT_TREES}
        own.pop("verbosity", None)
        # In another thread than the main one XGBoost writes to stderr itself, each time: what it warns of is
        # told below, once.
        xgboost.set_config(verbosity=0)
        nothing = np.full((len(labels), 1), np.nan, np.float32)
        self._matrix = xgboost.DMatrix(nothing, labels, nthread=own.get("nthread"), **given)
        self._booster = xgboost.Booster(own, [self._matrix])
        may_reorder = not custom and not set(given) - {"weight"} and _sort(own.get("eval_metric"))
        self._by_row = {"label": labels, **given} if may_reorder else {}
        self._order = np.arange(0)
        self._evaluations = 0

    def evaluate(self, margins: NDArray[np.float32]) -> dict[str, float]:
        """The metrics of all rows, XGBoost's own first.

        Args:
            margins: Array of shape (rows, output groups).

        Returns:
            Metric name, as `validation:auc`, to value.

        Raises:
            InputError: If a function of the user's own returns something else than it should.
        """
        single = margins[:, 0] if margins.shape[1] == 1 else None
        self._matrix.set_base_margin(margins if single is None else self._ordered(single))
        found = {}
        # [0]  validation-auc:0.8312...  validation-logloss:0.5...
        for part in str(self._booster.eval(self._matrix, self._name)).split("\t")[1:]:
            metric, _, text = part.removeprefix(f"{self._name}-").rpartition(":")
            found[f"{self._name}:{metric}"] = float(text)
        for function in self._custom:
            # Each function gets an array of its own, so that it may change it.
            for metric, value in custom_values(function, self._booster.predict(self._matrix), self._matrix):
                full = f"{self._name}:{metric}"
                if full in found:
                    fix = "Give it a name of its own."
                    raise InputError(f"{_told(function)} returned {metric!r}, which is there already. {fix}")
                found[full] = value
        self._warn(found)
        return found

    def _ordered(self, margins: NDArray[np.float32]) -> NDArray[np.float32]:
        """The margins with rows in about the order that a metric sorts them into, which it then does sooner.

        It is made anew ever more rarely, as an iteration changes margins ever less.
        """
        if not self._by_row:
            return margins
        self._evaluations += 1
        if self._evaluations & (self._evaluations - 1) == 0:
            self._order = np.argsort(-margins)
            self._matrix.set_info(**{name: values[self._order] for name, values in self._by_row.items()})
        return margins[self._order]

    def _warn(self, found: Mapping[str, float]) -> None:
        for metric, value in found.items():
            if not math.isfinite(value) and metric not in self._warned:
                self._warned.add(metric)
                note(
                    f"warning: {metric} is {value}. Either predictions are not finite, or the metric has no "
                    "value for these labels, as auc has none for labels of one class."
                )


def _sort(metrics: object) -> bool:
    """Whether any of some metrics sorts rows, and all are free of their order."""
    named = {metrics} if isinstance(metrics, str) else set(metrics) if isinstance(metrics, list) else set()
    return bool(named & _SORTING) and {name.partition("@")[0] for name in named} <= _OF_ANY_ORDER


def custom_values(
    function: CustomMetric, predictions: NDArray[np.float32], matrix: Any
) -> list[tuple[str, float]]:
    """Call a metric of the user's own, and check what it returns.

    Args:
        function: As `xgboost.train(custom_metric=...)` takes it.
        predictions: What it is to judge.
        matrix: An `xgboost.DMatrix` with labels and weights.

    Returns:
        Names and values.

    Raises:
        InputError: If that is no pair of a name and one number, nor a list of such pairs; or if the function
            ends the program, which would look like the end of the training.
    """
    try:
        returned: object = function(predictions, matrix)
    except SystemExit as leave:
        raise InputError(f"{_told(function)} ended the program by sys.exit({leave.code!r}).") from None
    found = []
    for pair in returned if isinstance(returned, list) else [returned]:
        if not (isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[0], str)):
            what = f"{str(returned)[:100]!r} ({type(returned).__name__})"
            raise InputError(
                f"{_told(function)} returned {what}; expected a name and a value, as in "
                "return 'profit', 12.5, or a list of such pairs."
            )
        name, value = pair
        number = np.asarray(value)
        if number.size != 1 or number.dtype.kind not in "biuf":
            kind = type(value).__name__ + (f" of shape {number.shape}" if number.shape else "")
            raise InputError(
                f"{_told(function)} returned {str(value)[:100]!r} ({kind}) as the value of {name!r}; "
                "expected one number, over all rows."
            )
        found.append((name, float(number.item())))
    return found


def _told(function: CustomMetric) -> str:
    """A function by name and place."""
    name = getattr(function, "__name__", type(function).__name__)
    code = getattr(function, "__code__", None)
    place = f" ({code.co_filename}, line {code.co_firstlineno})" if code else ""
    return f"The custom metric {name}{place}"
