"""Text of libsvm rows into numbers: `label[:weight] [qid:query] index:value index:value ... [# comment]`."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bandstand.training.rows.csv_parsing import BOM, bad_queries, single

_COMMENTS = re.compile(rb"#[^\n]*")
_BLANKS = re.compile(rb"  +")
_TO_COMMAS = bytes.maketrans(b" :\n", b",,,")
_BLANK, _COLON, _END = b" :\n"
_QUERY = -1
"""What stands for `qid` where indices stand."""

MOST_FEATURES = 2**31 - 1
"""Indices up to this fit into 32 bits."""


@dataclass(frozen=True, eq=False)
class SparseBlock:
    """Rows of which only some features are stored.

    Args:
        labels: Array of shape (rows,).
        lengths: Array of shape (rows,): how many features of each row are stored.
        indices: Array of the features' indices as they are written, row by row, ascending in each.
        values: Array of their values.
        weights: Array of shape (rows,); None if no row has a weight.
        queries: Array of shape (rows,); None if no row has a query.
    """

    labels: NDArray[np.float32]
    lengths: NDArray[np.int64]
    indices: NDArray[np.int32]
    values: NDArray[np.float32]
    weights: NDArray[np.float32] | None
    queries: NDArray[np.int64] | None

    def __len__(self) -> int:
        return len(self.labels)


def tidy_sparse(data: bytes, *, at_start: bool) -> bytes:
    r"""Lines ended by `\n`, with single blanks between fields, without comments.

    Args:
        data: Whole lines.
        at_start: Whether they are the first of their file.
    """
    if at_start:
        data = data.removeprefix(BOM)
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if b"#" in data:
        data = _COMMENTS.sub(b"", data)
    if b"\t" in data:
        data = data.replace(b"\t", b" ")
    if b"  " in data:
        data = _BLANKS.sub(b" ", data)
    if b" \n" in data or b"\n " in data:
        data = data.replace(b" \n", b"\n").replace(b"\n ", b"\n")
    return data.strip(b" ")


def parse_sparse(text: bytes, base: int | None = None) -> SparseBlock:
    """Numbers of tidy lines.

    A row without a weight among rows that have one weighs 1.

    Args:
        text: Lines as `tidy_sparse` leaves them, at least one of them not empty.
        base: The index of the first feature, if it is known.

    Returns:
        The rows of all lines that are not empty.

    Raises:
        ValueError: If a line is no row: something is no number, a label or value is not finite, an index is
            not whole, too low or there twice, a query is there in some rows only.
    """
    text = re.sub(rb"\n\n+", b"\n", text).strip(b"\n") + b"\n"
    if b" -" in text or b" +" in text or b"(" in text:  # nan(1), which numpy takes here, and only here
        raise ValueError("an index is negative, or something is no number")
    has_queries = b" qid:" in text
    if has_queries:
        text = text.replace(b" qid:", b" %d:" % _QUERY)
    letters = np.frombuffer(text, np.uint8)
    ends = letters[(letters == _BLANK) | (letters == _COLON) | (letters == _END)]
    numbers = _numbers(text[:-1].translate(_TO_COMMAS))
    if len(numbers) != len(ends):
        raise ValueError("a field is empty")
    before = np.concatenate([[_END], ends[:-1]])  # what stands before each number
    is_label, is_value, is_index = before == _END, before == _COLON, before == _BLANK
    follows_label = np.concatenate([[False], is_label[:-1]])
    is_weight = is_value & follows_label
    if (is_value[1:] != (is_index[:-1] | is_weight[1:])).any() or is_index[-1]:
        raise ValueError("an index has no value, or a value has no index")
    is_value &= ~is_weight
    starts = np.flatnonzero(is_label)
    kept = single(numbers)
    if not np.isfinite(kept[is_label]).all() or np.isinf(kept[is_value]).any():
        raise ValueError("a label or value is not finite")
    row_of = np.cumsum(is_label) - 1
    queries = None
    if has_queries:
        weighted = is_weight[np.minimum(starts + 1, len(numbers) - 1)]
        queries = _take_queries(numbers, is_index, is_value, starts + 1 + weighted)
    weights = None
    if is_weight.any():
        weights = np.ones(len(starts), np.float32)
        weights[row_of[is_weight]] = kept[is_weight]
        if not (np.isfinite(weights).all() and (weights >= 0).all()):
            raise ValueError("a weight is not finite, or negative")
    rows = row_of[is_index]
    indices, values = _ascending(rows, _indices(numbers[is_index], base), kept[is_value])
    if ((np.diff(indices) == 0) & (np.diff(rows) == 0)).any():
        raise ValueError("an index is there twice")
    lengths = np.bincount(rows, minlength=len(starts)).astype(np.int64)
    return SparseBlock(kept[is_label], lengths, indices, values, weights, queries)


def _numbers(text: bytes) -> NDArray[np.float64]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return np.fromstring(
                text.decode("latin1"), np.float64, sep=","
            )  # with a blank, 1.5.5 would be two
        except DeprecationWarning:
            raise ValueError("something is no number") from None


def _take_queries(
    numbers: NDArray[np.float64],
    is_index: NDArray[np.bool_],
    is_value: NDArray[np.bool_],
    places: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Queries of all rows; they are no features any more."""
    marks = np.flatnonzero(is_index & (numbers == _QUERY))
    if not np.array_equal(marks, places):
        raise ValueError("a query is missing in some rows, or does not follow the label")
    found = numbers[marks + 1]
    if bad_queries(found):
        raise ValueError("a query is no whole number")
    is_index[marks] = False
    is_value[marks + 1] = False
    return found.astype(np.int64)


def _indices(found: NDArray[np.float64], base: int | None) -> NDArray[np.int32]:
    if not ((found >= (base or 0)) & (found <= MOST_FEATURES) & (np.floor(found) == found)).all():
        raise ValueError("an index is not whole, too low, or too high")
    return found.astype(np.int32)


def _ascending(
    rows: NDArray[np.int64], indices: NDArray[np.int32], values: NDArray[np.float32]
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    if not ((np.diff(indices) < 0) & (np.diff(rows) == 0)).any():
        return indices, values
    order = np.lexsort((indices, rows))
    return indices[order], values[order]
