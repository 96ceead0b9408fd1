"""Rows that can be used, but may not be what they seem: told in the log, not refused."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bandstand.training.rows.csv_parsing import tidy
from bandstand.training.rows.places import Fault, Place
from bandstand.training.rows.ranges import Block

_COLUMNS = 3
"""Columns from which on a first line 0,1,2,... may be a header."""

_ROWS = 20
"""Rows from which on labels that count up may be the rows' numbers."""


def counted_header(block: Block) -> Fault | None:
    """Whether a file's first line reads `0,1,2,...`, as the header of a table without names does.

    Args:
        block: The first lines of the file.
    """
    line, _, rest = block.data.partition(b"\n")
    fields = tidy(line, at_start=True).strip(b"\n").split(b",")
    if len(fields) < _COLUMNS or not rest or fields != [str(n).encode() for n in range(len(fields))]:
        return None
    text = (
        f"it reads 0, 1, 2, ... {len(fields) - 1}, and is used as a row. If these are the numbers of the "
        "columns, write the file without them (in pandas: header=False)."
    )
    return Fault(str(block.file.path), 1, text)


def counted_labels(labels: NDArray[np.float32], origin: Place, column: int = 0) -> Fault | None:
    """Whether labels count up by one from row to row, as the numbers of rows do.

    Args:
        labels: Array of shape (rows,).
        origin: Where the first of them stands.
        column: The label's column, from 0.
    """
    if len(labels) < _ROWS or not (np.diff(labels) == 1).all():
        return None
    text = (
        f"from here on the label (column {column + 1}) counts up by one from row to row. If these are "
        "the numbers of the rows, write the file without them (in pandas: index=False)."
    )
    return Fault.at(origin, text)
