"""Which parts of a channel's text files one worker reads."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass, replace

from bandstand.errors import InputError
from bandstand.training.rows.columns import Columns
from bandstand.training.rows.csv_parsing import BOM
from bandstand.training.rows.files import DataFile
from bandstand.training.rows.formats import Kind
from bandstand.training.rows.queries import QueryOf, next_group, query_of_csv, query_of_libsvm
from bandstand.training.rows.ranges import ByteRange, first_line, split


@dataclass(frozen=True)
class Header:
    """The line of names at the start of a file.

    Args:
        names: The columns' names.
        stop: Where the line ends, in bytes from the start of the file.
    """

    names: tuple[str, ...]
    stop: int


def share_of(
    files: Sequence[DataFile], part: int, parts: int, kind: Kind = "csv", columns: Columns | None = None
) -> tuple[ByteRange, ...]:
    """One worker's share of text files that several workers have.

    Files are split by bytes, packed ones are dealt out whole. Headers are left out, and the rows of a query
    are kept together.

    Args:
        files: All files, in the same order on every worker.
        part: Which worker, from 0.
        parts: How many workers there are.
        kind: What the files hold, CSV or libsvm.
        columns: What is said of the columns.

    Returns:
        The ranges to read, in the order of the files.
    """
    columns = columns or Columns()
    plain = split([file for file in files if not file.zipped], part, parts)
    packed = deal([file for file in files if file.zipped], part, parts)
    ranges = [*plain, *(ByteRange(file, 0, file.size) for file in packed)]
    ranges.sort(key=lambda range_: range_.file.name)
    if kind == "csv" and columns.header:
        ranges = [replace(own, start=max(own.start, read_header(own.file).stop)) for own in ranges]
    ranges = [_whole_groups(own, kind, columns) for own in ranges]
    return tuple(own for own in ranges if own.file.zipped or own.start < own.stop)


def deal(files: Sequence[DataFile], part: int, parts: int) -> tuple[DataFile, ...]:
    """One worker's share of files that cannot be split.

    The largest file that is left goes to the worker that has the fewest bytes (R. L. Graham, "Bounds on
    multiprocessing timing anomalies", 1969: at most a third more than the best possible).

    Args:
        files: All files, in the same order on every worker.
        part: Which worker, from 0.
        parts: How many workers there are.
    """
    loads = [0] * parts
    own = []
    for file in sorted(files, key=lambda file: (-file.size, file.name)):
        least = loads.index(min(loads))
        loads[least] += max(file.size, 1)
        if least == part:
            own.append(file)
    return tuple(sorted(own, key=lambda file: file.name))


def read_header(file: DataFile) -> Header:
    """The names at the start of a file of CSV.

    Args:
        file: The file.

    Raises:
        InputError: If the first line is a row.
    """
    line, stop = first_line(file)
    text = line.removeprefix(BOM).decode("utf-8", errors="replace").strip()
    names = tuple(name.strip() for row in csv.reader([text], skipinitialspace=True) for name in row)
    numbered = names == tuple(str(place) for place in range(len(names)))
    if names and not numbered and all(map(_is_number, names)):
        raise InputError(
            f"{file.path}, line 1: it holds numbers only, but header=true says that it is a line of names: a "
            "row would be lost. Leave header out, or write the names."
        )
    return Header(names, stop)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _whole_groups(own: ByteRange, kind: Kind, columns: Columns) -> ByteRange:
    if own.file.zipped:
        return own
    query_of = _query_reader(own.file, kind, columns)
    if query_of is None:
        return own
    start, stop = (next_group(own.file, place, query_of) for place in (own.start, own.stop))
    return replace(own, start=start, stop=stop)


def _query_reader(file: DataFile, kind: Kind, columns: Columns) -> QueryOf | None:
    if kind == "libsvm":
        line, _ = first_line(file, b"#")
        return query_of_libsvm if b" qid:" in line or b"\tqid:" in line else None
    if columns.query is None:
        return None
    names = read_header(file).names if columns.header else ()
    line, _ = first_line(file)
    try:
        layout = columns.resolve(len(names) or line.count(b",") + 1, names)
    except InputError:
        return None  # the file cannot be used, which its reading tells
    return None if layout.query is None else query_of_csv(layout.query)
