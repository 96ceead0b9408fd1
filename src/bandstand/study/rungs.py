"""Brackets, rungs and the comparison at a rung: the arithmetic of Hyperband with asynchronous rungs.

Sources: L. Li et al., "Hyperband: A Novel Bandit-Based Approach to Hyperparameter Optimization", JMLR 18
(2018), Algorithm 1, for brackets and their sizes; L. Li et al., "A System for Massively Parallel
Hyperparameter Tuning", MLSys 2020, for rungs that wait for nobody.
"""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from dataclasses import dataclass, field

FACTOR = 3

LARGEST = 3.4028234e38


def usable(value: float | None) -> bool:
    """Whether an objective can be compared: finite, and not the worst float32 printed in place of NaN."""
    return value is not None and math.isfinite(value) and abs(value) < LARGEST


def places_kept(placed: int) -> int:
    """How many of the trials placed at a rung go on: a third, rounded up, and so always the best one."""
    return -(-placed // FACTOR)


def bracket_rungs(min_resource: int, max_resource: int) -> tuple[tuple[int, ...], ...]:
    """The rungs of every bracket, most patient bracket last.

    Bracket k compares at min_resource * 3^k, min_resource * 3^(k+1), ... below max_resource, and there are
    floor(log3(max_resource / min_resource)) + 1 brackets (s_max + 1 in Hyperband's Algorithm 1, line 1).

    Args:
        min_resource: Reports before which nothing is stopped, at least 1.
        max_resource: Reports at which everything is stopped, at least min_resource.
    """
    levels = []
    resource = min_resource
    while resource <= max_resource:
        levels.append(resource)
        resource *= FACTOR
    return tuple(tuple(level for level in levels[k:] if level < max_resource) for k in range(len(levels)))


def bracket_sizes(brackets: int) -> tuple[int, ...]:
    """Trials that one round of Hyperband gives to each bracket.

    ceil((s_max + 1) / (s + 1) * 3^s) with s = s_max - k for bracket k (Algorithm 1, line 3).
    """
    s_max = brackets - 1
    return tuple(-(-brackets * FACTOR**s // (s + 1)) for s in range(s_max, -1, -1))


def dealt_brackets(sizes: tuple[int, ...], jobs: int) -> tuple[int, ...]:
    """Deal trials to brackets, in whole rounds of Hyperband and a last one of the same proportions.

    Within a round the most patient bracket comes first, the reverse of Algorithm 1: the early trials, which
    have nobody to be compared with, run long anyway, and so the later ones find whom to be compared with.

    Args:
        sizes: Trials that one round gives to each bracket.
        jobs: Trials in all.

    Returns:
        The bracket of each trial, by its number less one.
    """
    dealt: list[int] = []
    while len(dealt) < jobs:
        counts = _shares(sizes, min(sum(sizes), jobs - len(dealt)))
        for bracket in reversed(range(len(sizes))):
            dealt.extend([bracket] * counts[bracket])
    return tuple(dealt)


def _shares(sizes: tuple[int, ...], count: int) -> list[int]:
    """Divide `count` in proportion to the sizes, by largest remainder; of equals the first comes first."""
    total = sum(sizes)
    shares = [size * count // total for size in sizes]
    by_remainder = sorted(range(len(sizes)), key=lambda bracket: (-(sizes[bracket] * count % total), bracket))
    for bracket in by_remainder[: count - sum(shares)]:
        shares[bracket] += 1
    return shares


@dataclass(frozen=True)
class Verdict:
    """The outcome of a comparison at a rung.

    Args:
        goes_on: Whether the trial may continue.
        rank: Which of all it is, from 1 (the best).
        cutoff: The objective of the last rank that goes on; None when nothing can be compared.
    """

    goes_on: bool
    rank: int
    cutoff: float | None


@dataclass
class Rung:
    """The objectives of all trials, of whatever bracket, that have come to one resource level.

    Args:
        maximize: Whether greater objectives are better.
        values: Objective by trial; only those that can be compared.
    """

    maximize: bool
    values: dict[int, float] = field(default_factory=dict, init=False)
    _ranked: list[tuple[float, int]] = field(default_factory=list, init=False, repr=False)

    def enter(self, trial: int, value: float) -> None:
        """Keep a trial's objective for comparison, once; what cannot be compared moves nobody's cut-off."""
        if usable(value):
            self.values[trial] = value
            insort(self._ranked, self._key(trial, value))

    def others(self, trial: int) -> tuple[tuple[int, float], ...]:
        """(trial, objective) of all with whom a trial is compared, by trial number."""
        return tuple(sorted(item for item in self.values.items() if item[0] != trial))

    def judge(self, trial: int, value: float) -> Verdict:
        """Rank a trial among those that came before, without waiting for any other.

        A trial goes on when it is among the best third, rounded up, of all that have come so far, itself
        included. Of equals the earlier trial is better. An objective that cannot be compared ranks behind
        all and never goes on.

        Args:
            trial: The trial's number; its own objective has been entered.
            value: What it is judged by: that objective, or its best one since.
        """
        entered = self._key(trial, self.values[trial]) if trial in self.values else None
        at = len(self._ranked) if entered is None else bisect_left(self._ranked, entered)
        others = len(self._ranked) - (entered is not None)

        def other(place: int) -> float:
            return self._value(self._ranked[place + (place >= at)])

        if not usable(value):
            cutoff = other(places_kept(others) - 1) if others else None
            return Verdict(False, others + 1, cutoff)
        own = self._key(trial, value)
        better = bisect_left(self._ranked, own) - (entered is not None and entered < own)
        last = places_kept(others + 1) - 1
        if last == better:
            return Verdict(True, better + 1, value)
        return Verdict(better < last, better + 1, other(last if last < better else last - 1))

    def better(self, one: float, other: float) -> float:
        """The better of two objectives of one trial; what cannot be compared is never better.

        Args:
            one: The objective to prefer where neither is better.
            other: Another one.
        """
        return other if usable(other) and self._key(0, other) < self._key(0, one) else one

    def _key(self, trial: int, value: float) -> tuple[float, int]:
        return (-value if self.maximize else value, trial)

    def _value(self, key: tuple[float, int]) -> float:
        return -key[0] if self.maximize else key[0]
