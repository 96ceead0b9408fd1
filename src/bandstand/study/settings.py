"""Random settings: a function of the seed, the trial's number and the hyperparameter's name only."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bandstand.request.ranges import Range


def random_settings(seed: int, trial: int, ranges: Iterable[Range]) -> tuple[tuple[str, str], ...]:
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
