"""Which rows of a channel's Parquet files one worker reads: whole row groups, or whole queries of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bandstand.errors import InputError
from bandstand.training.rows.arrow_numbers import numbers
from bandstand.training.rows.files import DataFile

INSTALL = "pip install 'bandstand[parquet]'"


@dataclass(frozen=True)
class RowRange:
    """Some rows of a file.

    Args:
        file: The file.
        start: The first row, from 0.
        stop: The row after the last one.
    """

    file: DataFile
    start: int
    stop: int


def open_parquet(file: DataFile) -> Any:
    """A file as a `pyarrow.parquet.ParquetFile`; only its footer is read.

    Args:
        file: The file.

    Raises:
        InputError: If pyarrow is not installed, or the file is no Parquet.
    """
    try:
        from pyarrow import ArrowInvalid
        from pyarrow.parquet import ParquetFile
    except ImportError:
        raise InputError(
            f"{file.path} is Parquet, which is read with pyarrow. Install it: {INSTALL}."
        ) from None
    if file.zipped:
        raise InputError(f"{file.path} is a packed Parquet file, which cannot be read in parts. Unpack it.")
    try:
        return ParquetFile(file.path)
    except ArrowInvalid as error:
        raise InputError(f"{file.path} is no Parquet file, or is damaged: {error}") from None


def group_starts(source: Any) -> list[int]:
    """The first row of each row group of a file, and the number of its rows.

    Args:
        source: A `pyarrow.parquet.ParquetFile`.
    """
    counts = [source.metadata.row_group(place).num_rows for place in range(source.num_row_groups)]
    return [0, *np.cumsum(counts, dtype=np.int64).tolist()]


def split_row_groups(groups: Sequence[int], part: int, parts: int) -> tuple[int, int]:
    """One worker's share of row groups: those whose first row is in its share of the rows.

    Args:
        groups: Rows of each row group of all files, in order.
        part: Which worker, from 0.
        parts: How many workers there are.

    Returns:
        The first row group, and the one after the last.
    """
    starts = np.cumsum([0, *groups], dtype=np.int64)
    low, high = (int(starts[-1]) * at / parts for at in (part, part + 1))
    first, stop = (int(np.searchsorted(starts[:-1], edge)) for edge in (low, high))
    return first, stop


def share_of_parquet(
    files: Sequence[DataFile], part: int, parts: int, query: int | None = None
) -> tuple[RowRange, ...]:
    """One worker's share of Parquet files that several workers have.

    Args:
        files: All files, in the same order on every worker.
        part: Which worker, from 0.
        parts: How many workers there are.
        query: The column of the query, from 0: rows of one query are kept together. None without queries.

    Returns:
        The rows to read, in order.

    Raises:
        InputError: If a file cannot be read.
    """
    edges = []
    for file in files:
        with open_parquet(file) as source:
            edges.append(group_starts(source))
    groups = [after - begin for ends in edges for begin, after in pairwise(ends)]
    first, stop = split_row_groups(groups, part, parts)
    ranges = []
    before = 0
    for file, ends in zip(files, edges, strict=True):
        count = len(ends) - 1
        low, high = (min(max(place - before, 0), count) for place in (first, stop))
        before += count
        begin, end = ends[low], ends[high]
        if begin < end and query is not None:
            with open_parquet(file) as source:
                begin, end = (_next_group(source, ends, place, query) for place in (low, high))
        if begin < end:
            ranges.append(RowRange(file, begin, end))
    return tuple(ranges)


def _next_group(source: Any, ends: Sequence[int], place: int, query: int) -> int:
    """The first row from a row group on that belongs to another query than the row before the group."""
    if not 0 < place < len(ends) - 1:
        return ends[place]
    filled = next((back for back in range(place - 1, -1, -1) if ends[back] < ends[back + 1]), None)
    if filled is None:
        return ends[place]
    before = _queries(source, filled, query)
    for group in range(place, len(ends) - 1):
        others = np.flatnonzero(_queries(source, group, query) != before[-1])
        if len(others):
            return ends[group] + int(others[0])
    return ends[-1]


def _queries(source: Any, group: int, query: int) -> NDArray[np.float64]:
    name = source.schema_arrow.names[query]
    batches = source.iter_batches(row_groups=[group], columns=[name], use_threads=False)
    return np.concatenate([numbers(batch.column(0)) for batch in batches])
