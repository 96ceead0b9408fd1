"""Each iteration's metrics, evaluated and reported while the next iteration is trained."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future, wait
from types import TracebackType

import numpy as np
import xgboost
from numpy.typing import NDArray

from bandstand.errors import InputError
from bandstand.training.exact import ExactMetrics, outside_ring
from bandstand.training.ring import Ring
from bandstand.training.run import Run

Evaluated = Mapping[str, tuple[ExactMetrics, xgboost.DMatrix]]
"""Name of a channel to its metrics and to this rank's rows of it."""


class Reports:
    """Reports each iteration once, in order: the last one before a `with` block on it is left.

    In each iteration the ranks exchange one array: margins, and whether any rank was asked to stop. Then all
    but the ring's first rank go on; that one evaluates beside its own next iteration, and prints the line as
    soon as the values are there.

    Args:
        run: This rank.
        ring: The ranks that train together.
        channels: What to evaluate; nothing is reported if it is empty.
        goal_of: Gives the direction in which a metric improves, None if that is not known.
    """

    def __init__(
        self, run: Run, ring: Ring, channels: Evaluated, goal_of: Callable[[str], str | None]
    ) -> None:
        self._run = run
        self._ring = ring
        self._channels = channels
        self._goal_of = goal_of
        self._pending: Future[dict[str, float]] | None = None
        self._values: dict[str, float] = {}
        self._stop_agreed = False

    def __enter__(self) -> Reports:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.finish()
        elif self._pending is not None:  # the error that is under way is the one to tell
            wait([self._pending])

    def report(self, booster: xgboost.Booster, iteration: int) -> None:
        """Begin the report of an iteration that has just been trained. Collective in the ring.

        Args:
            booster: The model.
            iteration: From 1.

        Raises:
            InputError: If a function of the user's own has returned something else than it should.
        """
        own = [metrics.own_margins(booster, rows) for metrics, rows in self._channels.values()]
        asked = np.array([self._run.stopping], np.float32)
        *margins, any_asked = self._ring.sums([*own, asked])
        self._stop_agreed = bool(any_asked[0])
        self.finish()
        if not self._channels:
            return
        if self._ring.position == 0:
            self._pending = outside_ring(self._evaluate, iteration, margins)
        else:
            self._run.report(iteration, {})

    def stop_agreed(self) -> bool:
        """Whether any rank had been asked to stop by the latest report, the same on all ranks."""
        return self._stop_agreed

    def finish(self) -> Mapping[str, float]:
        """Wait until the latest report is printed.

        Returns:
            Its values by name, on the ring's first rank; empty on the others.
        """
        if self._pending is not None:
            pending, self._pending = self._pending, None
            self._values = pending.result()
        return self._values

    def _evaluate(self, iteration: int, margins: list[NDArray[np.float32]]) -> dict[str, float]:
        values: dict[str, float] = {}
        for (metrics, _), gathered in zip(self._channels.values(), margins, strict=True):
            values |= metrics.evaluate(gathered)
        objective = self._run.hyperparameters.objective
        if objective is not None and objective not in values:
            raise InputError(
                f"The tuning objective is {objective!r}; reported are {', '.join(values)}. A custom "
                "metric is reported under the name that its function returns."
            )
        goals = {name: goal for name in values if (goal := self._goal_of(name)) is not None}
        self._run.report(iteration, values, goals)
        return values
