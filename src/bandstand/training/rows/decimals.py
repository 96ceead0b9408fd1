"""The quick way for plain decimals, which is what most CSV holds: whole columns of digits at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_LONGEST = 17
"""Characters of a field up to which its digits fit into 64 bits."""

_EXACT = 2**53
"""Whole numbers below this are exact in double precision."""

_POWERS = 10.0 ** np.arange(_LONGEST + 1)

_COMMA, _MINUS, _DOT, _END, _ZERO = b",-.\n0"


def read_decimals(text: bytes) -> NDArray[np.float32] | None:
    """Numbers of lines in which every field is empty or a plain decimal such as `-12.5`.

    A value is its digits as a whole number over a power of ten. Both are exact in double precision, so the
    quotient is correctly rounded, as `strtod` would have it (W. D. Clinger, "How to read floating point
    numbers accurately", 1990).

    Args:
        text: Lines, the last one ended as well, with no blanks.

    Returns:
        Array of shape (rows, columns) in single precision, nan for empty fields; None if anything else stands
        there, or lines differ in their number of fields, so that another way must be found.
    """
    data = np.frombuffer(text, np.uint8)
    ends = np.flatnonzero((data == _COMMA) | (data == _END))
    if not len(ends) or ends[-1] != len(data) - 1:
        return None
    is_end = data[ends] == _END
    rows = int(is_end.sum())
    columns, rest = divmod(len(ends), rows)
    if rest or not is_end[columns - 1 :: columns].all():
        return None
    starts = np.concatenate([[0], ends[:-1] + 1])
    lengths = ends - starts
    if int(lengths.max()) > _LONGEST:
        return None
    values = np.empty(len(ends))
    single = lengths == 1  # half of the work in a table of indicators
    digits = data[starts[single]] - _ZERO
    if (digits > 9).any():
        return None
    values[single] = digits
    longer = _read_long(data, starts[~single], lengths[~single])
    if longer is None:
        return None
    values[~single] = longer
    return values.reshape(rows, columns).astype(np.float32)


def _read_long(
    data: NDArray[np.uint8], starts: NDArray[np.intp], lengths: NDArray[np.intp]
) -> NDArray[np.float64] | None:
    """Values of fields of any length: the first characters of all of them, then the second ones, ..."""
    whole = np.zeros(len(starts), np.int64)
    decimals = np.zeros(len(starts), np.int64)
    dotted = np.zeros(len(starts), bool)
    negative = np.zeros(len(starts), bool)
    for place in range(int(lengths.max(initial=0))):
        there = np.flatnonzero(lengths > place)
        letters = data[starts[there] + place]
        digits = letters - _ZERO
        is_digit = digits < 10
        is_dot = letters == _DOT
        is_minus = (letters == _MINUS) & (place == 0)
        if not (is_digit | is_minus | (is_dot & ~dotted[there])).all():
            return None
        whole[there] = np.where(is_digit, whole[there] * 10 + digits, whole[there])
        decimals[there] += is_digit & dotted[there]
        dotted[there] |= is_dot
        negative[there] |= is_minus
    if (whole >= _EXACT).any() or ((lengths > 0) & (lengths == dotted.astype(int) + negative)).any():
        return None
    values = whole / _POWERS[decimals]
    values[negative] *= -1
    values[lengths == 0] = np.nan
    return values
