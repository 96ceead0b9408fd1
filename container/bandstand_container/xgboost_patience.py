"""Early stopping: decided once for all ranks, in the direction that the metric has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from bandstand.errors import InputError
from bandstand.metrics import known_goal
from bandstand.training.ring import Ring


class Goals:
    """In which direction metrics improve.

    Args:
        declared: Metric name to `maximize` or `minimize`, as the tuning job has it.
        of_others: The direction of metrics whose names do not tell; None if nothing was said.
    """

    def __init__(self, declared: Mapping[str, str], of_others: str | None) -> None:
        self._declared = declared
        self._of_others = of_others

    def __call__(self, name: str) -> str | None:
        """The direction of a metric, None if it is not known."""
        return self._declared.get(name) or known_goal(name) or self._of_others


class Patience:
    """Watches one metric and says when to give up.

    The best value and its iteration (from 0) are kept in the booster's attributes `best_score` and
    `best_iteration`, as `xgboost.train` does, so that checkpoints and the model file have them.

    Args:
        ring: The ranks that train together; the first one decides.
        rounds: Iterations without a better value after which training ends.
        metric: The metric to watch; None for the last one that is reported.
        goal_of: Gives the direction in which a metric improves, None if that is not known.
    """

    def __init__(
        self,
        ring: Ring,
        rounds: int,
        metric: str | None,
        goal_of: Callable[[str], str | None] = known_goal,
    ) -> None:
        self._goal_of = goal_of
        self._ring = ring
        self._rounds = rounds
        self._metric = metric

    def is_over(self, booster: Any, iteration: int, values: Mapping[str, float]) -> bool:
        """Whether to end after this iteration, the same on all ranks. Collective in the ring.

        Args:
            booster: The `xgboost.Booster`.
            iteration: The iteration that has ended, from 1.
            values: Metric name to value, on the ring's first rank.

        Raises:
            InputError: If the metric is not reported, or whether it should grow or fall is not known.
        """
        verdict = np.zeros(2)
        if self._ring.position == 0:
            better = self._better(values, booster.attr("best_score"))
            verdict[:] = (0.0, 0.0) if better is None else (1.0, better)
        is_better, value = self._ring.sum(verdict)
        if is_better:
            booster.set_attr(best_score=repr(float(value)), best_iteration=str(iteration - 1))
        return self.was_over(booster, iteration)

    def was_over(self, booster: Any, iteration: int) -> bool:
        """Whether training had to end after an iteration already, as the booster remembers.

        Args:
            booster: The `xgboost.Booster`.
            iteration: Its last iteration, 0 if it has none.
        """
        best = booster.attr("best_iteration")
        return iteration - (0 if best is None else int(best) + 1) >= self._rounds

    def _better(self, values: Mapping[str, float], best: str | None) -> float | None:
        """The watched metric's value if it is the best so far; a nan never is."""
        name = self._metric or next(reversed(list(values)), "the last metric")
        if name not in values:
            raise InputError(
                f"early_stopping_rounds watches {name!r}, which is not among the reported: "
                f"{', '.join(values) or 'none'}. Add its channel, or leave early_stopping_rounds out."
            )
        goal = self._goal_of(name)
        if goal is None:
            raise InputError(
                f"early_stopping_rounds is given, but whether {name!r} should grow or fall is not known. Put "
                "a metric such as auc last in eval_metric, say custom_metric_goal for one of your own, or "
                "leave early_stopping_rounds out."
            )
        value, sign = values[name], 1 if goal == "maximize" else -1
        improves = value == value if best is None else sign * value > sign * float(best)
        return value if improves else None
