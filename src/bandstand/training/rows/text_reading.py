"""What readers of text files have in common: ranges, counts, and the lines where rows stand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from bandstand.training.rows.places import Place
from bandstand.training.rows.ranges import Block, ByteRange, count_lines, read_lines, unpacked_size

_NEAR = 1 << 16
"""Bytes before a block up to which counting its lines costs next to nothing."""

RowLines = Callable[[Block], Sequence[int]]
"""The lines of a block that are rows, as their numbers in it from 0."""


class BlockReader(Protocol):
    """Takes blocks of lines, one after another."""

    filled: int

    def take(self, block: Block) -> None:
        """Keep the block's rows, or what is wrong with it."""


def take_all(reader: BlockReader, ranges: Sequence[ByteRange], block: int) -> tuple[int, ...]:
    """Give a reader everything that stands in some ranges.

    Args:
        reader: The reader.
        ranges: What to read.
        block: About how many bytes to parse at a time.

    Returns:
        How many rows each range holds.
    """
    counts = []
    for part in ranges:
        before = reader.filled
        for lines in read_lines(part, block):
            reader.take(lines)
        counts.append(reader.filled - before)
    return tuple(counts)


def expected_bytes(ranges: Sequence[ByteRange]) -> int:
    """About how many bytes of text stand in some ranges.

    Args:
        ranges: What will be read.
    """
    return sum(unpacked_size(part.file) if part.file.zipped else part.stop - part.start for part in ranges)


def locator(
    ranges: Sequence[ByteRange], counts: Sequence[int], row_lines: RowLines
) -> Callable[[int], Place]:
    """What finds the line of a row, by reading its file again.

    Args:
        ranges: What was read.
        counts: How many rows each range holds.
        row_lines: Finds the lines of a block that are rows.
    """

    def locate(row: int) -> Place:
        for part, count in zip(ranges, counts, strict=True):
            if row >= count:
                row -= count
                continue
            for block in read_lines(part):
                numbers = row_lines(block)
                if row < len(numbers):
                    return place_of(block, numbers[row])
                row -= len(numbers)
        raise IndexError("there is no such row")

    return locate


def place_of(block: Block, number: int) -> Place:
    """The place of a line of a block.

    Args:
        block: The block.
        number: The line's number in it, from 0.
    """
    return Place(str(block.file.path), count_lines(block.file, block.offset) + number + 1)


def cheap_place_of(block: Block, number: int) -> Place:
    """The place of a line of a block, or just its file where that needs reading what stands before the block.

    Args:
        block: The block.
        number: The line's number in it, from 0.
    """
    return place_of(block, number) if block.offset <= _NEAR else Place(str(block.file.path), 0)
