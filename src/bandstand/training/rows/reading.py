"""Read one worker's share of a channel into memory, or say everything that is wrong with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bandstand.training.rows.doubts import counted_header, counted_labels
from bandstand.training.rows.faults import Fault, find_faults, usual_width
from bandstand.training.rows.parsing import bad_rows, parse, tidy
from bandstand.training.rows.ranges import BLOCK, Block, ByteRange, count_lines, read_lines

MAX_FAULTS = 20
"""Faults that one worker lists; the rest is only counted."""

_SPARE = 1.02
"""How much more room than expected is made for rows: their lengths vary."""


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of one worker.

    Args:
        labels: Array of shape (rows,), single precision.
        features: Array of shape (rows, features), single precision; nan where a value is missing.
        ranges: What they were read from, in order.
        counts: How many rows each range holds.
    """

    labels: NDArray[np.float32]
    features: NDArray[np.float32]
    ranges: tuple[ByteRange, ...] = ()
    counts: tuple[int, ...] = ()

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def columns(self) -> int:
        """Features of a row; 0 for a worker that has no rows."""
        return int(self.features.shape[1])

    def locate(self, row: int) -> tuple[str, int]:
        """Where a row stands: the file's path and the line in it, from 1.

        Args:
            row: The row's place among this worker's rows, from 0.
        """
        for part, count in zip(self.ranges, self.counts, strict=True):
            if row >= count:
                row -= count
                continue
            for block in read_lines(part):
                lines = tidy(block.data, at_start=block.offset == 0).split(b"\n")
                filled = [number for number, line in enumerate(lines) if line]
                if row < len(filled):
                    return str(part.file.path), count_lines(part.file, block.offset) + filled[row] + 1
                row -= len(filled)
        raise IndexError(f"this worker has {len(self)} rows")


@dataclass(frozen=True, eq=False)
class Reading:
    """What came of reading one worker's share.

    Args:
        rows: The rows; those of faulty blocks are left out.
        faults: What is wrong, the first `MAX_FAULTS`.
        more: How many more faults there are at least.
        doubts: What may be wrong.
        origin: File and line of the first row, to name when workers disagree; None without rows.
        columns: Columns of a row, the label included; 0 without rows.
    """

    rows: Rows
    faults: tuple[Fault, ...]
    more: int
    doubts: tuple[Fault, ...]
    origin: tuple[str, int] | None
    columns: int


def read_rows(ranges: Sequence[ByteRange], block: int = BLOCK) -> Reading:
    """Read byte ranges of label-first CSV.

    Memory is that of the rows in single precision, and a few times `block`.

    Args:
        ranges: What to read.
        block: About how many bytes to parse at a time.

    Raises:
        InputError: If a file changes while it is read.
    """
    reader = _Reader(sum(part.stop - part.start for part in ranges))
    counts = []
    for part in ranges:
        before = reader.filled
        for lines in read_lines(part, block):
            reader.take(lines)
        counts.append(reader.filled - before)
    return reader.finish(tuple(ranges), tuple(counts))


class _Reader:
    """Collects blocks of rows in one table that grows in place.

    Args:
        expected: Bytes that will come, all blocks together.
    """

    def __init__(self, expected: int) -> None:
        self.filled = 0
        self._bytes_left = expected
        self._labels = np.empty(0, np.float32)
        self._features = np.empty((0, 0), np.float32)
        self._width: int | None = None
        self._origin: tuple[str, int] | None = None
        self._file_widths: dict[str, int] = {}
        self._faults: list[Fault] = []
        self._more = 0
        self._doubts: list[Fault] = []

    def take(self, block: Block) -> None:
        """Parse a block and keep its rows, or its faults."""
        self._bytes_left -= len(block.data)
        name = block.file.name
        header = counted_header(block) if block.offset == 0 else None
        if header:
            self._doubts.append(header)
        text = tidy(block.data, at_start=block.offset == 0)
        try:
            values = parse(text)
        except ValueError:
            values = None
        if values is not None and not values.size:
            return
        if name not in self._file_widths:
            self._file_widths[name] = usual_width(block) if values is None else values.shape[1]
            if values is not None or self._file_widths[name] > 1:  # else its lines tell more than its width
                self._compare(block, self._file_widths[name])
        width = self._file_widths[name]
        if values is None or values.shape[1] != width or bad_rows(values):
            self._add(find_faults(block, width))
        elif not self._faults:
            self._keep(values, len(text))

    def _compare(self, block: Block, width: int) -> None:
        text = tidy(block.data, at_start=block.offset == 0)
        empty = len(text) - len(text.lstrip(b"\n"))
        place = (str(block.file.path), count_lines(block.file, block.offset) + empty + 1)
        if self._width is None:
            self._width, self._origin = width, place
            if width < 2:
                self._add([Fault(*place, "it has one column; expected the label and at least one feature.")])
        elif width != self._width and self._origin:
            self._add([Fault(*place, differing(width, self._width, "{}, line {}".format(*self._origin)))])

    def _add(self, faults: list[Fault]) -> None:
        room = MAX_FAULTS - len(self._faults)
        self._faults += faults[:room]
        self._more += len(faults[room:])

    def _keep(self, values: NDArray[np.float32], size: int) -> None:
        rows, width = values.shape
        need = self.filled + rows
        if need > len(self._labels):
            expected = need + int(max(self._bytes_left, 0) / size * rows * _SPARE)
            if not len(self._labels):
                self._features = np.empty((0, width - 1), np.float32)
            # In place: a copy would need the memory twice. Nothing else refers to these arrays.
            self._labels.resize(expected, refcheck=False)
            self._features.resize((expected, width - 1), refcheck=False)
        self._labels[self.filled : need] = values[:, 0]
        self._features[self.filled : need] = values[:, 1:]
        self.filled = need

    def finish(self, ranges: tuple[ByteRange, ...], counts: tuple[int, ...]) -> Reading:
        """Everything that was read."""
        self._labels.resize(self.filled, refcheck=False)
        self._features.resize((self.filled, self._features.shape[1]), refcheck=False)
        rows = Rows(self._labels, self._features, ranges, counts)
        doubt = counted_labels(rows.labels, self._origin) if self._origin else None
        doubts = (*self._doubts[:MAX_FAULTS], *([doubt] if doubt else []))
        return Reading(rows, tuple(self._faults), self._more, doubts, self._origin, self._width or 0)


def differing(width: int, other: int, place: str) -> str:
    """The text of the fault that files differ in width.

    Args:
        width: Columns that were found.
        other: Columns that were found before.
        place: Where the others were found.
    """
    return (
        f"its rows have {width} columns, but those of {place} have {other}. All files need the same columns."
    )
