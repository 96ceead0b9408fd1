"""The mean over ranks, exact."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from bandstand.errors import JobError


def weighted_mean(pairs: Sequence[tuple[float, float]]) -> float:
    """The weighted mean of values, rounded once: computed in whole numbers, independent of the order.

    Every double is a whole number over a power of two, so sums and products of them are exact in Python's
    integers, and the quotient of two integers is correctly rounded
    (https://docs.python.org/3/library/stdtypes.html#typesnumeric).

    Args:
        pairs: (value, weight) of each rank. The value of a weight of 0 does not count, whatever it is.

    Returns:
        The mean; nan or infinite if a value with a weight is.

    Raises:
        JobError: If a weight is negative or not finite, or all weights are 0.
    """
    for rank, (_, weight) in enumerate(pairs):
        if not (math.isfinite(weight) and weight >= 0):
            raise JobError(
                f"mean(): the weight of rank {rank} is {weight}; expected a finite number of 0 or more."
            )
    counted = [(value, weight) for value, weight in pairs if weight > 0]
    if not counted:
        raise JobError("mean(): all weights are 0, so there is nothing to average: no rank has rows.")
    if not all(math.isfinite(value) for value, _ in counted):
        return sum(value for value, _ in counted)
    numerator, denominator = _sum(
        (nv * nw, dv * dw)
        for (nv, dv), (nw, dw) in ((v.as_integer_ratio(), w.as_integer_ratio()) for v, w in counted)
    )
    total, unit = _sum(weight.as_integer_ratio() for _, weight in counted)
    return (numerator * unit) / (total * denominator)


def _sum(ratios: Iterable[tuple[int, int]]) -> tuple[int, int]:
    terms = list(ratios)
    common = max(denominator for _, denominator in terms)
    return sum(numerator * (common // denominator) for numerator, denominator in terms), common
