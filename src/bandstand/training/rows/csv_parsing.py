"""Text of rows into numbers: quick, strict, and the only judge of what is a row."""

from __future__ import annotations

import io
import re
import warnings

import numpy as np
from numpy.typing import NDArray

from bandstand.training.rows.arrow_numbers import numbers
from bandstand.training.rows.columns import Layout

BOM = b"\xef\xbb\xbf"
"""UTF-8's byte order mark, which some programs put at the start of a file."""

MOST_QUERIES = 2**53
"""Whole numbers below this are exact in double precision."""

_QUOTED = re.compile(rb'(?<![^,\n])"([^",\n]*)"(?![^,\n])')
_BLANKS = re.compile(rb"[ \t]+(?=[,\n]|\Z)|(?<=[,\n])[ \t]+|\A[ \t]+")


def tidy(data: bytes, *, at_start: bool) -> bytes:
    r"""Lines as the parser wants them: ended by `\n`, no byte order mark, no blanks or quotes around fields.

    Args:
        data: Whole lines.
        at_start: Whether they are the first of their file.
    """
    if at_start and data.startswith(BOM):
        data = data[len(BOM) :]
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if b'"' in data:
        data = _QUOTED.sub(rb"\1", data)
    if b" " in data or b"\t" in data:
        data = _BLANKS.sub(b"", data)
    return data


def parse(text: bytes, *, quick: bool = False) -> NDArray[np.float64]:
    """Numbers of tidy lines.

    An empty field, and `nan` in any case, is a missing value.

    Args:
        text: Lines as `tidy` leaves them.
        quick: Whether to let pyarrow try first, if it is installed: three to five times as quick as numpy,
            for 30 MB more of memory. What it refuses, numpy judges.

    Returns:
        Array of shape (rows, columns); shape (0, 0) if there are only empty lines.

    Raises:
        ValueError: If a field is no number or lines differ in their number of fields.
    """
    if not text.strip(b"\n"):
        return np.empty((0, 0))
    found = _parse_with_arrow(text) if quick else None
    return _parse_with_numpy(text) if found is None else found


def _parse_with_arrow(text: bytes) -> NDArray[np.float64] | None:
    try:
        from pyarrow import ArrowInvalid, csv, float64, py_buffer, system_memory_pool
    except ImportError:
        return None
    if b"(" in text:  # nan(1), which Arrow takes and numpy does not
        return None
    first = text.lstrip(b"\n").partition(b"\n")[0]
    names = [str(column) for column in range(first.count(b",") + 1)]
    try:
        table = csv.read_csv(
            py_buffer(text),
            csv.ReadOptions(column_names=names, use_threads=False, block_size=len(text) + 1),
            csv.ParseOptions(quote_char=False),
            csv.ConvertOptions(column_types=dict.fromkeys(names, float64()), null_values=[""]),
            memory_pool=system_memory_pool(),  # gives memory back, unlike the default one
        )
    except ArrowInvalid:
        return None
    columns = [np.concatenate([numbers(part) for part in column.chunks]) for column in table.columns]
    return np.column_stack(columns)


def _parse_with_numpy(text: bytes) -> NDArray[np.float64]:
    if b",," in text:  # twice, since a replacement does not see the comma that it has just used
        text = text.replace(b",,", b",nan,").replace(b",,", b",nan,")
    if b",\n" in text:
        text = text.replace(b",\n", b",nan\n")
    if text.endswith(b","):
        text += b"nan"
    if text.startswith(b",") or b"\n," in text:
        text = re.sub(rb"^,", b"nan,", text, flags=re.MULTILINE)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found: NDArray[np.float64] = np.loadtxt(
            io.BytesIO(text),
            np.float64,
            delimiter=",",
            comments=None,
            ndmin=2,
            encoding="latin1",
        )
    return found


def single(values: NDArray[np.float64]) -> NDArray[np.float32]:
    """Numbers in single precision, which is what XGBoost keeps; infinite beyond its range.

    Args:
        values: Any numbers.
    """
    with np.errstate(over="ignore"):
        return values.astype(np.float32)


def bad_rows(values: NDArray[np.float64], layout: Layout) -> bool:
    """Whether a row cannot be trained on.

    Its label is missing or not finite, a feature is infinite, the weight is no finite number from 0 on, or
    the query is no whole number.

    Args:
        values: Array of shape (rows, columns).
        layout: Which columns are no features.
    """
    kept = single(values)
    if np.isinf(kept).any() or np.isnan(kept[:, layout.label]).any():
        return True
    if layout.weight is not None and not (kept[:, layout.weight] >= 0).all():
        return True
    return layout.query is not None and bad_queries(values[:, layout.query])


def bad_queries(queries: NDArray[np.float64]) -> bool:
    """Whether some are no whole numbers from 0 on that double precision can tell apart.

    Args:
        queries: Array of shape (rows,).
    """
    with np.errstate(invalid="ignore"):
        return not ((queries >= 0) & (queries < MOST_QUERIES) & (np.floor(queries) == queries)).all()
