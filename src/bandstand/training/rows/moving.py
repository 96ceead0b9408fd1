"""Rows as plain arrays that can be sent, and rows put behind others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bandstand.training.rows.table import Rows


@dataclass(frozen=True)
class Shape:
    """How long the arrays of some rows are.

    Args:
        rows: How many rows.
        features: Features of a row.
        stored: Features that are stored in a sparse matrix; -1 for a dense one.
        groups: Query groups; -1 without queries.
        weighted: 1 if rows have weights, else 0.
    """

    rows: int
    features: int
    stored: int
    groups: int
    weighted: int

    @classmethod
    def of(cls, rows: Rows) -> Shape:
        """The shape of some rows."""
        dense = isinstance(rows.features, np.ndarray)
        return cls(
            len(rows),
            rows.columns,
            -1 if dense else int(rows.features.nnz),
            -1 if rows.groups is None else len(rows.groups),
            int(rows.weights is not None),
        )

    def arrays(self) -> list[tuple[int, type[np.generic]]]:
        """Length and type of each array, in the order of `arrays_of`."""
        found: list[tuple[int, type[np.generic]]] = [(self.rows, np.float32)]
        if self.weighted:
            found.append((self.rows, np.float32))
        if self.groups >= 0:
            found.append((self.groups, np.int64))
        if self.stored < 0:
            return [*found, (self.rows * self.features, np.float32)]
        return [*found, (self.rows + 1, np.int64), (self.stored, np.int32), (self.stored, np.float32)]


def arrays_of(rows: Rows) -> list[NDArray[Any]]:
    """The flat arrays that make up some rows.

    Args:
        rows: The rows.
    """
    found: list[NDArray[Any]] = [rows.labels]
    if rows.weights is not None:
        found.append(rows.weights)
    if rows.groups is not None:
        found.append(rows.groups)
    if isinstance(rows.features, np.ndarray):
        return [*found, rows.features.reshape(-1)]
    sparse = rows.features
    return [*found, sparse.indptr.astype(np.int64), sparse.indices.astype(np.int32), sparse.data]


def rows_of(shape: Shape, arrays: Sequence[NDArray[Any]]) -> Rows:
    """Rows made of flat arrays.

    Args:
        shape: How long they are.
        arrays: As `arrays_of` returns them.
    """
    rest = list(arrays)
    labels = rest.pop(0)
    weights = rest.pop(0) if shape.weighted else None
    groups = rest.pop(0) if shape.groups >= 0 else None
    if shape.stored < 0:
        return Rows(labels, rest[0].reshape(shape.rows, shape.features), weights, groups)
    from scipy.sparse import csr_array

    starts, indices, values = rest
    features = csr_array((values, indices, starts), shape=(shape.rows, shape.features))
    return Rows(labels, features, weights, groups)


def joined(first: Rows, second: Rows) -> Rows:
    """Rows with other rows behind them.

    Args:
        first: Some rows, maybe none.
        second: Others with the same features.
    """
    if not len(first):
        return second
    if isinstance(first.features, np.ndarray):
        features: Any = np.concatenate([first.features, second.features])
    else:
        from scipy.sparse import vstack

        features = vstack([first.features, second.features], format="csr")
    weights, groups = (
        None if a is None or b is None else np.concatenate([a, b])
        for a, b in ((first.weights, second.weights), (first.groups, second.groups))
    )
    return Rows(np.concatenate([first.labels, second.labels]), features, weights, groups)
