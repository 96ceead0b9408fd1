"""Tuning jobs played on recorded curves. Standard library only: peers play in environments of their own."""

from __future__ import annotations

import heapq
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

PARALLEL = 4
MAX_RESOURCE = 30
_START_SECONDS = 0.5
_REPORT_SECONDS = 0.1


class Rule(Protocol):
    """Whoever starts trials and stops them."""

    def start(self) -> tuple[int, Sequence[float]] | None:
        """The next trial: its number, and the curve it will report; None when there is no more."""

    def report(self, trial: int, iteration: int, value: float) -> bool:
        """Take a report; whether the trial is to stop."""

    def end(self, trial: int, value: float, *, stopped: bool) -> None:
        """Take a trial's end."""


@dataclass(frozen=True)
class Played:
    """What a tuning job came to.

    Args:
        iterations: Of all trials together.
        best: The best last value of a trial.
    """

    iterations: int
    best: float


def play(rule: Rule, seed: int, parallel: int = PARALLEL) -> Played:
    """Play a tuning job, some trials at a time, that report at slightly uneven times.

    Args:
        rule: Decides.
        seed: Of the times.
        parallel: How many trials run at a time.
    """
    draw = random.Random(seed)
    queue: list[tuple[float, int, int, Sequence[float]]] = []
    iterations, best, running = 0, float("-inf"), 0

    def fill(now: float) -> None:
        nonlocal running
        while running < parallel and (new := rule.start()) is not None:
            trial, curve = new
            running += 1
            heapq.heappush(queue, (now + _START_SECONDS * draw.uniform(0.8, 1.2), trial, 1, curve))

    fill(0.0)
    while queue:
        now, trial, iteration, curve = heapq.heappop(queue)
        iterations += 1
        value = curve[iteration - 1]
        stopped = rule.report(trial, iteration, value)
        if stopped or iteration == len(curve):
            running -= 1
            best = max(best, value)
            rule.end(trial, value, stopped=stopped)
            fill(now)
        else:
            heapq.heappush(
                queue, (now + _REPORT_SECONDS * draw.uniform(0.8, 1.2), trial, iteration + 1, curve)
            )
    return Played(iterations, best)


class RunToEnd:
    """Stops nothing before a given iteration.

    Args:
        curves: One for each trial.
        last: The iteration at which every trial is stopped; None to let each run to its own end.
    """

    def __init__(self, curves: Sequence[Sequence[float]], last: int | None = None) -> None:
        self._curves = iter(enumerate(curves))
        self._last = last

    def start(self) -> tuple[int, Sequence[float]] | None:
        return next(self._curves, None)

    def report(self, trial: int, iteration: int, value: float) -> bool:
        return iteration == self._last

    def end(self, trial: int, value: float, *, stopped: bool) -> None:
        return
