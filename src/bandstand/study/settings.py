"""Settings that depend on the seed and the trial's number only: drawn at random, or dealt from a grid."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable

from bandstand.errors import InputError
from bandstand.request.ranges import CategoricalRange, Range

Settings = tuple[tuple[str, str], ...]
"""(name, value as text) of every tuned hyperparameter, in the order of the ranges."""


def random_settings(seed: int, trial: int, ranges: Iterable[Range]) -> Settings:
    """Draw the settings of one trial.

    Every hyperparameter has a stream of its own, so that adding, removing or reordering ranges leaves the
    values of the others as they were, and no trial depends on when or whether another one ran. In a space
    with few combinations a setting may come again; as many training jobs run as were asked for.

    Args:
        seed: The study's seed.
        trial: The trial's number, from 1.
        ranges: The tuned hyperparameters; each maps a number in [0, 1) to a value as text.

    Returns:
        (name, value as text) in the order of the ranges.
    """
    return tuple(
        (each.name, each.at(random.Random(f"{seed}/{trial}/{each.name}").random())) for each in ranges
    )


class Grid:
    """Every combination of categories of every definition once, in an order drawn from the seed.

    Without the shuffle the first trials would all have the first category of the first range, and whoever
    ends a tuning job early would have seen a corner of the grid only.

    Args:
        seed: The study's seed.
        spaces: The tuned hyperparameters of each definition, categorical all of them.

    Raises:
        InputError: A range is none of categories.
    """

    def __init__(self, seed: int, spaces: Iterable[Iterable[Range]]) -> None:
        self._spaces = [categorical(each) for each in spaces]
        cells = [(at, cell) for at, each in enumerate(self._spaces) for cell in range(grid_size(each))]
        stream = random.Random(f"{seed}/grid")
        keys = [stream.random() for _ in cells]
        self._order = [cells[place] for place in sorted(range(len(cells)), key=keys.__getitem__)]

    def settings(self, trial: int) -> tuple[int, Settings]:
        """Which definition a trial, from 1 to the number of combinations, is of, from 0, and its settings."""
        space, cell = self._order[trial - 1]
        chosen = []
        for each in reversed(self._spaces[space]):
            cell, at = divmod(cell, len(each.values))
            chosen.append((each.name, each.values[at]))
        return space, tuple(reversed(chosen))


def categorical(ranges: Iterable[Range]) -> tuple[CategoricalRange, ...]:
    """The ranges, which have to be categorical.

    Raises:
        InputError: Naming those that are not.
    """
    found = tuple(ranges)
    numbers = [each.name for each in found if not isinstance(each, CategoricalRange)]
    if numbers:
        raise InputError(
            f"A grid needs categories; found ranges of numbers: {', '.join(numbers)}. List the values to try."
        )
    return tuple(each for each in found if isinstance(each, CategoricalRange))


def grid_size(ranges: Iterable[CategoricalRange]) -> int:
    """How many combinations there are."""
    return math.prod(len(each.values) for each in ranges)
