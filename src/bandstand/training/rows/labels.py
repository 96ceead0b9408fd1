"""What the log says about labels: shares of few values, or the range of many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_FEW = 20
"""Distinct values up to which labels are counted one by one."""


@dataclass(frozen=True)
class LabelSummary:
    """The labels of one rank, small enough to be told to the others.

    Args:
        total: Their sum.
        low: The least; 0 without rows.
        high: The greatest; 0 without rows.
        counts: (value, rows) of each distinct value, ascending; None if there are more than a few.
    """

    total: float
    low: float
    high: float
    counts: list[tuple[float, int]] | None


def summarize_labels(labels: NDArray[np.float32]) -> LabelSummary:
    """Sum up one rank's labels.

    Args:
        labels: Array of shape (rows,), finite.
    """
    if not len(labels):
        return LabelSummary(0.0, 0.0, 0.0, [])
    low, high = float(labels.min()), float(labels.max())
    # Sorting is for labels that can be few only: a sample of them tells nearly always.
    values = None
    if len(np.unique(labels[: 50 * _FEW])) <= _FEW:
        found, rows = np.unique(labels, return_counts=True)
        if len(found) <= _FEW:
            values = [(float(value), int(count)) for value, count in zip(found, rows, strict=True)]
    return LabelSummary(float(labels.sum(dtype=np.float64)), low, high, values)


def describe_labels(summaries: Sequence[LabelSummary], counts: Sequence[int]) -> str:
    """Labels of all ranks in words: `label 1 in 11.27 % of the rows`.

    Args:
        summaries: One of each rank.
        counts: Rows of each rank, in the same order; at least one has rows.
    """
    rows = sum(counts)
    filled = [summary for summary, count in zip(summaries, counts, strict=True) if count]
    together: Counter[float] = Counter()
    for summary in filled:
        together.update(dict(summary.counts or ()))
    if all(summary.counts is not None for summary in filled) and len(together) <= _FEW:
        shares = {value: f"{100 * count / rows:.2f} %" for value, count in sorted(together.items())}
        if set(shares) <= {0.0, 1.0}:
            return f"label 1 in {shares.get(1.0, '0.00 %')} of the rows"
        return "labels " + ", ".join(f"{value:g} ({share})" for value, share in shares.items())
    mean = sum(summary.total for summary in filled) / rows
    low, high = min(summary.low for summary in filled), max(summary.high for summary in filled)
    return f"labels from {low:g} to {high:g}, mean {mean:g}"
