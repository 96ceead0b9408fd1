"""Read one worker's share of CSV into memory, or say everything that is wrong with it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bandstand.errors import InputError
from bandstand.training.rows.columns import Columns, Layout
from bandstand.training.rows.csv_faults import find_faults, usual_width
from bandstand.training.rows.csv_parsing import bad_rows, parse, single, tidy
from bandstand.training.rows.differences import differing, differing_names
from bandstand.training.rows.doubts import counted_header, counted_labels
from bandstand.training.rows.growing import Growing
from bandstand.training.rows.places import MAX_FAULTS, Fault, FaultList, Place
from bandstand.training.rows.queries import group_rows, uneven_weights
from bandstand.training.rows.ranges import Block, ByteRange
from bandstand.training.rows.shares import read_header
from bandstand.training.rows.table import Reading, Rows
from bandstand.training.rows.text_reading import cheap_place_of, expected_bytes, locator, take_all

_QUICK = 1 << 20
"""Bytes of a share from which on pyarrow's parser pays, which takes 0.03 s and 30 MB to load."""


def read_csv(ranges: Sequence[ByteRange], columns: Columns, block: int) -> Reading:
    """Read byte ranges of CSV.

    Memory is that of the rows in single precision, and a few times `block`.

    Args:
        ranges: What to read; headers are not in them.
        columns: What is said of the columns.
        block: About how many bytes to parse at a time.

    Raises:
        InputError: If a file changes while it is read, or is damaged.
    """
    reader = _Reader(expected_bytes(ranges), columns)
    counts = take_all(reader, ranges, block)
    return reader.finish(ranges, counts)


class _Reader:
    """Collects blocks of rows in one table that grows in place.

    Args:
        expected: Bytes that will come, all blocks together.
        columns: What is said of the columns.
    """

    def __init__(self, expected: int, columns: Columns) -> None:
        self.filled = 0
        self._columns = columns
        self._quick = expected >= _QUICK
        self._bytes_left = expected
        self._labels = Growing(np.float32)
        self._features = Growing(np.float32)
        self._weights = Growing(np.float32)
        self._queries = Growing(np.int64)
        self._width: int | None = None
        self._names: tuple[str, ...] = ()
        self._layout: Layout | None = None
        self._kept: slice | list[int] = slice(1, None)
        self._origin: Place | None = None
        self._file_widths: dict[str, int] = {}
        self._faults = FaultList()
        self._doubts: list[Fault] = []

    def take(self, block: Block) -> None:
        """Parse a block and keep its rows, or its faults."""
        self._bytes_left -= len(block.data)
        name = block.file.name
        header = counted_header(block) if block.offset == 0 and not self._columns.header else None
        if header:
            self._doubts.append(header)
        text = tidy(block.data, at_start=block.offset == 0)
        try:
            values = parse(text, quick=self._quick)
        except ValueError:
            values = None
        if values is not None and not values.size:
            return
        if name not in self._file_widths:
            names = read_header(block.file).names if self._columns.header else ()
            width = usual_width(block) if values is None else values.shape[1]
            self._file_widths[name] = len(names) or width
            if values is not None or width > 1:  # else its lines tell more than its width
                self._compare(block, self._file_widths[name], names)
        width = self._file_widths[name]
        if self._width is not None and (self._layout is None or width != self._width):
            return  # which has been told, and where label, weight and query stand is not known
        layout = self._layout or Layout()
        if values is None or values.shape[1] != width or bad_rows(values, layout):
            self._faults.add(*find_faults(block, width, layout))
        elif not self._faults:
            self._keep(values, layout, len(text))

    def _compare(self, block: Block, width: int, names: tuple[str, ...]) -> None:
        text = tidy(block.data, at_start=block.offset == 0)
        place = cheap_place_of(block, len(text) - len(text.lstrip(b"\n")))
        if self._width is None:
            self._width, self._names, self._origin = width, names, place
            try:
                self._layout = self._columns.resolve(width, names)
            except InputError as error:
                self._faults.add(Fault.at(place, str(error)))
                return
            others = self._layout.others
            if others != (0,):
                self._kept = [column for column in range(width) if column not in others]
        elif width != self._width:
            self._faults.add(Fault.at(place, differing(width, self._width, str(self._origin))))
        elif names != self._names:
            self._faults.add(Fault.at(place, differing_names(names, self._names, str(self._origin))))

    def _keep(self, values: NDArray[np.float64], layout: Layout, size: int) -> None:
        left = self._bytes_left / size
        kept = single(values)
        self._labels.extend(kept[:, layout.label], left)
        self._features.extend(kept[:, self._kept], left)
        if layout.weight is not None:
            self._weights.extend(kept[:, layout.weight], left)
        if layout.query is not None:
            self._queries.extend(values[:, layout.query].astype(np.int64), left)
        self.filled += len(values)

    def finish(self, ranges: Sequence[ByteRange], counts: tuple[int, ...]) -> Reading:
        """Everything that was read."""
        locate = locator(ranges, counts, _row_lines)
        layout = self._layout or Layout()
        features = self._features.finish() if self.filled else np.empty((0, 0), np.float32)
        groups = None
        if layout.query is not None and not self._faults:
            groups, faults = group_rows(self._queries.finish(), counts, locate)
            self._faults.add(*faults)
        weights = None if layout.weight is None else self._weights.finish()
        if weights is not None and groups is not None:
            self._faults.add(*uneven_weights(weights, groups, locate))
        rows = Rows(self._labels.finish(), features, weights, groups, locate)
        doubt = counted_labels(rows.labels, self._origin, layout.label) if self._origin else None
        return Reading(
            rows,
            tuple(self._faults.listed),
            self._faults.more,
            (*self._doubts[:MAX_FAULTS], *([doubt] if doubt else [])),
            self._origin,
            self._width or 0,
            self._names,
        )


def _row_lines(block: Block) -> list[int]:
    lines = tidy(block.data, at_start=block.offset == 0).split(b"\n")
    return [number for number, line in enumerate(lines) if line]
