"""Text of rows into numbers: quick, strict, and the only judge of what is a row."""

from __future__ import annotations

import io
import re
import warnings

import numpy as np
from numpy.typing import NDArray

from bandstand.training.rows.decimals import read_decimals

BOM = b"\xef\xbb\xbf"
"""UTF-8's byte order mark, which some programs put at the start of a file."""

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


def parse(text: bytes) -> NDArray[np.float32]:
    """Numbers of tidy lines.

    Numbers are read as doubles and rounded to single precision, which is what XGBoost keeps. An empty field,
    and `nan` in any case, is a missing value.

    Args:
        text: Lines as `tidy` leaves them.

    Returns:
        Array of shape (rows, columns), the label in column 0; shape (0, 0) if there are only empty lines.

    Raises:
        ValueError: If a field is no number or lines differ in their number of fields.
    """
    if not text.strip(b"\n"):
        return np.empty((0, 0), np.float32)
    quick = read_decimals(text if text.endswith(b"\n") else text + b"\n")
    if quick is not None:
        return quick
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
        found: NDArray[np.float32] = np.loadtxt(
            io.BytesIO(text),
            np.float32,
            delimiter=",",
            comments=None,
            ndmin=2,
            encoding="latin1",
        )
    return found


def bad_rows(values: NDArray[np.float32]) -> bool:
    """Whether a row cannot be trained on: its label is missing or not finite, or a feature is infinite.

    Args:
        values: Rows, the label in column 0.
    """
    return not np.isfinite(values[:, 0]).all() or bool(np.isinf(values[:, 1:]).any())
