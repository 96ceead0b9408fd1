"""Rows of one query stay together: a group belongs to the worker whose share holds its first row."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from bandstand.training.rows.files import DataFile
from bandstand.training.rows.places import Fault, Place
from bandstand.training.rows.ranges import ByteRange, read_lines

QueryOf = Callable[[bytes], bytes | None]
"""The query of a line as it is written; None for a line that is no row."""

_WINDOW = 64 << 10
"""Bytes that are looked at around a boundary at a time."""

_LIBSVM = re.compile(rb"\s*[^\s#]+\s+qid:([^\s#]+)")


def query_of_libsvm(line: bytes) -> bytes | None:
    """The query of a line of a libsvm file; None if it has none.

    Args:
        line: The line.
    """
    found = _LIBSVM.match(line)
    return found[1] if found else None


def query_of_csv(column: int) -> QueryOf:
    """What reads the query of a line of CSV.

    Args:
        column: The query's column, from 0.
    """

    def read(line: bytes) -> bytes | None:
        fields = line.split(b",")
        return fields[column].strip(b' \t\r"') if column < len(fields) else None

    return read


def next_group(file: DataFile, position: int, query_of: QueryOf, window: int = _WINDOW) -> int:
    """Where the first group begins that does not begin before a position.

    Every worker finds the same place for the same position, so shares that end and begin at these places
    leave nothing out and overlap nowhere.

    Args:
        file: A text file that is not packed.
        position: In bytes from the start of the file.
        query_of: Reads the query of a line.
        window: Bytes to look at, at a time.

    Returns:
        A position where a line begins, or the size of the file.
    """
    if position <= 0 or position >= file.size:
        return min(max(position, 0), file.size)
    back, before = window, None
    while before is None and back < position + window:
        lines = _queries(file, max(position - back, 0), position, query_of, window)
        before = next((query for _, query in reversed(list(lines))), None)
        back *= 4
    for place, query in _queries(file, position, file.size, query_of, window):
        if query != before:
            return place
    return file.size


def _queries(
    file: DataFile, start: int, stop: int, query_of: QueryOf, block: int
) -> Iterator[tuple[int, bytes]]:
    for lines in read_lines(ByteRange(file, start, stop), block):
        place = lines.offset
        for line in lines.data.splitlines(keepends=True):
            query = query_of(line)
            if query is not None:
                yield place, query
            place += len(line)


def group_rows(
    queries: NDArray[np.int64], counts: Sequence[int], locate: Callable[[int], Place]
) -> tuple[NDArray[np.int64], list[Fault]]:
    """Sizes of the groups of rows that stand together, each within one file.

    Args:
        queries: Array of shape (rows,).
        counts: Rows of each file, in order.
        locate: Finds the place of a row.

    Returns:
        The sizes, and a fault for a query of a file that comes again after another one.
    """
    sizes: list[NDArray[np.int64]] = []
    faults = []
    begin = 0
    for count in counts:
        part = queries[begin : begin + count]
        starts = np.flatnonzero(np.diff(part, prepend=part[0] - 1)) if count else np.empty(0, np.int64)
        sizes.append(np.diff(starts, append=count))
        seen, first = np.unique(part[starts], return_index=True)
        if len(seen) < len(starts):
            again = np.setdiff1d(np.arange(len(starts)), first)[0]
            text = (
                f"query {part[starts[again]]} comes again after another one; rows of one query have to stand "
                "together. Sort the file by query."
            )
            faults.append(Fault.at(locate(begin + int(starts[again])), text))
        begin += count
    return np.concatenate([*sizes, np.empty(0, np.int64)]).astype(np.int64), faults


def uneven_weights(
    weights: NDArray[np.float32], groups: NDArray[np.int64], locate: Callable[[int], Place]
) -> list[Fault]:
    """A fault for the first row that weighs other than the first one of its query: queries weigh as a whole.

    Args:
        weights: Array of shape (rows,).
        groups: Sizes of the query groups.
        locate: Finds the place of a row.
    """
    wrong = np.flatnonzero(weights != np.repeat(weights[np.cumsum(groups) - groups], groups))
    if not len(wrong):
        return []
    text = (
        f"its weight is {weights[wrong[0]]:g}, but that of the first row of its query is another one. "
        "Ranking weighs whole queries: give all rows of a query the same weight."
    )
    return [Fault.at(locate(int(wrong[0])), text)]
