"""Read one worker's share of a channel, whatever it holds."""

from __future__ import annotations

from collections.abc import Sequence

from bandstand.training.rows.columns import Columns
from bandstand.training.rows.csv_reading import read_csv
from bandstand.training.rows.files import DataFile
from bandstand.training.rows.formats import Kind
from bandstand.training.rows.libsvm_reading import read_libsvm
from bandstand.training.rows.parquet_reading import read_parquet
from bandstand.training.rows.ranges import BLOCK, ByteRange
from bandstand.training.rows.shares import share_of
from bandstand.training.rows.table import Reading


def read_rows(
    ranges: Sequence[ByteRange], kind: Kind = "csv", columns: Columns | None = None, block: int = BLOCK
) -> Reading:
    """Read byte ranges of text files.

    Args:
        ranges: What to read, as `share_of` finds it.
        kind: What the files hold, CSV or libsvm.
        columns: What is said of the columns.
        block: About how many bytes to parse at a time.

    Raises:
        InputError: If a file changes while it is read, or is damaged.
    """
    read = read_libsvm if kind == "libsvm" else read_csv
    return read(ranges, columns or Columns(), block)


def read_share(
    files: Sequence[DataFile], part: int, parts: int, kind: Kind, columns: Columns, block: int = BLOCK
) -> Reading:
    """Read one worker's share of files that several workers have.

    Args:
        files: All files, in the same order on every worker.
        part: Which worker, from 0.
        parts: How many workers there are.
        kind: What the files hold.
        columns: What is said of the columns.
        block: About how many bytes of text to parse at a time.

    Raises:
        InputError: If a file changes while it is read, or cannot be read at all.
    """
    if kind == "parquet":
        return read_parquet(files, part, parts, columns)
    return read_rows(share_of(files, part, parts, kind, columns), kind, columns, block)
