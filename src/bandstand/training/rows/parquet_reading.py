"""Read one worker's share of Parquet files into memory, or say everything that is wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bandstand.errors import InputError
from bandstand.training.rows.arrow_numbers import is_number, numbers
from bandstand.training.rows.columns import Columns, Layout
from bandstand.training.rows.csv_parsing import bad_queries, single
from bandstand.training.rows.differences import differing, differing_names
from bandstand.training.rows.files import DataFile
from bandstand.training.rows.parquet_shares import RowRange, group_starts, open_parquet, share_of_parquet
from bandstand.training.rows.places import Fault, FaultList, Place
from bandstand.training.rows.queries import group_rows, uneven_weights
from bandstand.training.rows.table import Reading, Rows, nothing_read

BATCH = 8192
"""Rows that are decoded at a time; eight times as many take 25 MB more, and no less time."""


def read_parquet(
    files: Sequence[DataFile], part: int, parts: int, columns: Columns, batch: int = BATCH
) -> Reading:
    """Read one worker's share of Parquet files: of other workers' row groups, nothing.

    Memory is that of the rows in single precision, and of one row group as it is stored.

    Args:
        files: All files, in the same order on every worker.
        part: Which worker, from 0.
        parts: How many workers there are.
        columns: Which columns are label, weight and query.
        batch: Rows that are decoded at a time.

    Raises:
        InputError: If a file cannot be read.
    """
    if not files:
        return nothing_read()
    names, faults = _common_names(files)
    if faults:
        return nothing_read(faults)
    try:
        layout = columns.resolve(len(names), names)
    except InputError as error:
        return nothing_read([Fault(str(files[0].path), 0, str(error))])
    ranges = share_of_parquet(files, part, parts, layout.query)
    return _Reader(names, layout, ranges, batch).read()


def _common_names(files: Sequence[DataFile]) -> tuple[tuple[str, ...], list[Fault]]:
    """The names of all files' columns, and what is wrong with the columns."""
    names: tuple[str, ...] = ()
    faults = []
    for file in files:
        with open_parquet(file) as source:
            schema = source.schema_arrow
        own = tuple(schema.names)
        names = names or own
        text = None
        if len(own) != len(names):
            text = differing(len(own), len(names), str(files[0].path))
        elif own != names:
            text = differing_names(own, names, str(files[0].path))
        if text:
            faults.append(Fault(str(file.path), 0, text))
        faults += [
            Fault(
                str(file.path),
                0,
                f"its column {place} ({field.name}) holds {field.type}, which is no number. Encode it as "
                "numbers, or leave the column out.",
            )
            for place, field in enumerate(schema, 1)
            if not is_number(field.type)
        ]
    return names, faults


class _Reader:
    """Fills one table with rows, whose number is known before.

    Args:
        names: The columns' names.
        layout: Which columns are no features.
        ranges: What to read.
        batch: Rows that are decoded at a time.
    """

    def __init__(
        self, names: tuple[str, ...], layout: Layout, ranges: Sequence[RowRange], batch: int
    ) -> None:
        self._names = names
        self._layout = layout
        self._ranges = ranges
        self._batch = batch
        total = sum(part.stop - part.start for part in ranges)
        self._kept = [column for column in range(len(names)) if column not in layout.others]
        self._labels = np.empty(total, np.float32)
        self._features = np.empty((total, len(self._kept)), np.float32)
        self._weights = None if layout.weight is None else np.empty(total, np.float32)
        self._queries = None if layout.query is None else np.empty(total, np.int64)
        self._faults = FaultList()

    def read(self) -> Reading:
        """Read everything."""
        filled = 0
        for part in self._ranges:
            for first, table in _batches(part, self._batch):
                self._take(table, filled, part.file, first)
                filled += table.num_rows
        counts = [part.stop - part.start for part in self._ranges]
        locate = _locator(self._ranges, counts)
        groups = None
        if self._queries is not None and not self._faults:
            groups, faults = group_rows(self._queries, counts, locate)
            self._faults.add(*faults)
            if self._weights is not None:
                self._faults.add(*uneven_weights(self._weights, groups, locate))
        rows = Rows(self._labels, self._features, self._weights, groups, locate)
        if not filled:
            return nothing_read()
        return Reading(
            rows,
            tuple(self._faults.listed),
            self._faults.more,
            origin=locate(0),
            columns=len(self._names),
            names=self._names,
        )

    def _take(self, table: Any, filled: int, file: DataFile, first: int) -> None:
        here = slice(filled, filled + table.num_rows)
        for place, column in enumerate(self._kept):
            values = single(numbers(table.column(column)))
            self._features[here, place] = values
            self._judge(
                np.isinf(values), column, values, "is infinite or beyond single precision", file, first
            )
        label = single(numbers(table.column(self._layout.label)))
        self._labels[here] = label
        text = "is no finite number in single precision, as a label has to be"
        self._judge(~np.isfinite(label), self._layout.label, label, text, file, first)
        if self._weights is not None and self._layout.weight is not None:
            weight = single(numbers(table.column(self._layout.weight)))
            self._weights[here] = weight
            bad = ~(np.isfinite(weight) & (weight >= 0))
            self._judge(bad, self._layout.weight, weight, "is no finite weight from 0 on", file, first)
        if self._queries is not None and self._layout.query is not None:
            query = numbers(table.column(self._layout.query))
            if bad_queries(query):
                bad = np.array([bad_queries(query[[row]]) for row in range(len(query))])
                text = "is no whole number from 0 on, as a query has to be"
                self._judge(bad, self._layout.query, query, text, file, first)
            else:
                self._queries[here] = query.astype(np.int64)

    def _judge(
        self, bad: NDArray[np.bool_], column: int, values: NDArray[Any], text: str, file: DataFile, first: int
    ) -> None:
        self._faults.add(
            *(
                Fault.at(
                    Place(str(file.path), first + int(row) + 1, "row"),
                    f"column {column + 1} ({self._names[column]}) holds {_shown(values[row])}, which {text}.",
                )
                for row in np.flatnonzero(bad)
            )
        )


def _shown(value: float) -> str:
    return "nothing" if np.isnan(value) else f"{value:g}"


def _batches(part: RowRange, batch: int) -> Any:
    """The rows of a range, some at a time, with the number of the first one in the file."""
    with open_parquet(part.file) as source:
        ends = group_starts(source)
        for group, begin in enumerate(ends[:-1]):
            if ends[group + 1] <= part.start or begin >= part.stop:
                continue
            for table in source.iter_batches(batch, [group], use_threads=False):
                low, high = max(part.start - begin, 0), min(part.stop - begin, table.num_rows)
                if low < high:
                    yield begin + low, table.slice(low, high - low)
                begin += table.num_rows


def _locator(ranges: Sequence[RowRange], counts: Sequence[int]) -> Callable[[int], Place]:
    def locate(row: int) -> Place:
        for part, count in zip(ranges, counts, strict=True):
            if row < count:
                return Place(str(part.file.path), part.start + row + 1, "row")
            row -= count
        raise IndexError("there is no such row")

    return locate
