"""Read one worker's share of libsvm into memory as a sparse matrix, or say what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from bandstand.training.rows.columns import Columns
from bandstand.training.rows.growing import Growing
from bandstand.training.rows.libsvm_faults import find_sparse_faults
from bandstand.training.rows.libsvm_parsing import SparseBlock, parse_sparse, tidy_sparse
from bandstand.training.rows.places import FaultList, Place
from bandstand.training.rows.queries import group_rows, uneven_weights
from bandstand.training.rows.ranges import Block, ByteRange
from bandstand.training.rows.table import Reading, Rows, no_rows
from bandstand.training.rows.text_reading import cheap_place_of, expected_bytes, locator, take_all


def read_libsvm(ranges: Sequence[ByteRange], columns: Columns, block: int) -> Reading:
    """Read byte ranges of libsvm files.

    Indices are kept as they are written: which one the first feature has is for all workers to settle.

    Args:
        ranges: What to read.
        columns: What is said of the columns; `index_base` is what counts here.
        block: About how many bytes to parse at a time.

    Raises:
        InputError: If a file changes while it is read, or is damaged.
    """
    reader = _Reader(expected_bytes(ranges), columns.index_base)
    counts = take_all(reader, ranges, block)
    return reader.finish(ranges, counts)


def settle_features(rows: Rows, base: int, width: int) -> Rows:
    """Rows whose first feature is column 0, with the width that all workers have agreed on.

    Args:
        rows: Rows as `read_libsvm` returns them; their memory is used, not copied.
        base: The index of the first feature.
        width: How many features there are.
    """
    if not len(rows):
        return no_rows(width)
    from scipy.sparse import csr_array

    features = rows.features
    features.indices -= base
    settled = csr_array((features.data, features.indices, features.indptr), shape=(len(rows), width))
    return Rows(rows.labels, settled, rows.weights, rows.groups, rows.locator)


class _Reader:
    """Collects blocks of rows in one sparse matrix that grows in place.

    Args:
        expected: Bytes that will come, all blocks together.
        base: The index of the first feature, if it is known.
    """

    def __init__(self, expected: int, base: int | None) -> None:
        self.filled = 0
        self._base = base
        self._bytes_left = expected
        self._labels = Growing(np.float32)
        self._weights = Growing(np.float32)
        self._weighted = False
        self._queries = Growing(np.int64)
        self._has_queries: bool | None = None
        self._lengths = Growing(np.int64)
        self._indices = Growing(np.int32)
        self._values = Growing(np.float32)
        self._lowest: int | None = None
        self._highest = -1
        self._origin: Place | None = None
        self._faults = FaultList()

    def take(self, block: Block) -> None:
        """Parse a block and keep its rows, or its faults."""
        self._bytes_left -= len(block.data)
        text = tidy_sparse(block.data, at_start=block.offset == 0)
        if not text.strip(b"\n"):
            return
        try:
            found = parse_sparse(text, self._base)
        except ValueError:
            found = None
        known = self._has_queries
        if found is None or (known is not None and known != (found.queries is not None)):
            self._faults.add(*find_sparse_faults(block, self._base, known))
            return
        self._has_queries = found.queries is not None
        if self._origin is None:
            self._origin = cheap_place_of(block, len(text) - len(text.lstrip(b"\n")))
        if not self._faults:
            self._keep(found, self._bytes_left / len(text))

    def _keep(self, found: SparseBlock, left: float) -> None:
        if found.weights is not None and not self._weighted:
            self._weighted = True
            self._weights.extend(np.ones(self.filled, np.float32), 0.0)
        if self._weighted:
            ones = np.ones(len(found), np.float32)
            self._weights.extend(ones if found.weights is None else found.weights, left)
        if found.queries is not None:
            self._queries.extend(found.queries, left)
        self._labels.extend(found.labels, left)
        self._lengths.extend(found.lengths, left)
        self._indices.extend(found.indices, left)
        self._values.extend(found.values, left)
        if len(found.indices):
            lowest = int(found.indices.min())
            self._lowest = lowest if self._lowest is None else min(lowest, self._lowest)
            self._highest = max(self._highest, int(found.indices.max()))
        self.filled += len(found)

    def finish(self, ranges: Sequence[ByteRange], counts: tuple[int, ...]) -> Reading:
        """Everything that was read."""
        locate = locator(ranges, counts, _row_lines)
        groups = None
        if self._has_queries and not self._faults:
            groups, faults = group_rows(self._queries.finish(), counts, locate)
            self._faults.add(*faults)
        rows = self._rows(groups, locate) if self.filled else no_rows()
        if rows.weights is not None and groups is not None:
            self._faults.add(*uneven_weights(rows.weights, groups, locate))
        return Reading(
            rows,
            tuple(self._faults.listed),
            self._faults.more,
            origin=self._origin,
            lowest=self._lowest,
            highest=self._highest,
        )

    def _rows(self, groups: NDArray[np.int64] | None, locate: Callable[[int], Place]) -> Rows:
        from scipy.sparse import csr_array

        starts = np.concatenate([[0], np.cumsum(self._lengths.finish())])
        features = csr_array(
            (self._values.finish(), self._indices.finish(), starts), shape=(self.filled, self._highest + 1)
        )
        weights = self._weights.finish() if self._weighted else None
        return Rows(self._labels.finish(), features, weights, groups, locate)


def _row_lines(block: Block) -> list[int]:
    lines = tidy_sparse(block.data, at_start=block.offset == 0).split(b"\n")
    return [number for number, line in enumerate(lines) if line]
