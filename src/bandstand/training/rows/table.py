"""The rows of one worker in memory, and what came of reading them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bandstand.training.rows.places import Fault, Place


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of one worker.

    Args:
        labels: Array of shape (rows,), single precision.
        features: Array of shape (rows, features), single precision; nan where a value is missing. Rows of
            libsvm files are a `scipy.sparse.csr_array`, in which what is not stored is missing.
        weights: Array of shape (rows,), single precision; None if rows have no weights.
        groups: Array of the sizes of the query groups, in the order of the rows; None without queries.
        locator: Finds the place of a row, from 0; None for rows that came from another worker.
    """

    labels: NDArray[np.float32]
    features: Any
    weights: NDArray[np.float32] | None = None
    groups: NDArray[np.int64] | None = None
    locator: Callable[[int], Place] | None = None

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def columns(self) -> int:
        """Features of a row; 0 for a worker that has no rows."""
        return int(self.features.shape[1])

    @property
    def group_weights(self) -> NDArray[np.float32] | None:
        """Weights as XGBoost has them: one for each query group, if there are groups, else for each row."""
        if self.weights is None or self.groups is None:
            return self.weights
        firsts: NDArray[np.int64] = np.cumsum(self.groups) - self.groups
        return self.weights[firsts]

    def locate(self, row: int) -> Place:
        """Where a row stands.

        Args:
            row: The row's place among this worker's rows, from 0.
        """
        if self.locator is None or row >= len(self):
            raise IndexError(f"this worker has read {len(self) if self.locator else 0} rows")
        return self.locator(row)


@dataclass(frozen=True, eq=False)
class Reading:
    """What came of reading one worker's share.

    Args:
        rows: The rows; those of faulty blocks are left out.
        faults: What is wrong, the first `MAX_FAULTS`.
        more: How many more faults there are at least.
        doubts: What may be wrong.
        origin: Where the first row stands, to name when workers disagree; None without rows.
        columns: Columns of a row, whatever they hold; 0 without rows, and for libsvm.
        names: Names of the columns; empty if they have none.
        lowest: The lowest index of a feature in libsvm; None if there is none.
        highest: The highest one; -1 if there is none.
    """

    rows: Rows
    faults: tuple[Fault, ...] = ()
    more: int = 0
    doubts: tuple[Fault, ...] = ()
    origin: Place | None = None
    columns: int = 0
    names: tuple[str, ...] = ()
    lowest: int | None = None
    highest: int = -1


def no_rows(width: int = 0) -> Rows:
    """Rows of a worker that has none.

    Args:
        width: Features that a row would have.
    """
    return Rows(np.empty(0, np.float32), np.empty((0, width), np.float32))


def nothing_read(faults: Sequence[Fault] = ()) -> Reading:
    """A reading without rows.

    Args:
        faults: Why.
    """
    return Reading(no_rows(), tuple(faults))
