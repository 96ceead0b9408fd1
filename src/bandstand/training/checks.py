"""Arguments that scripts give, checked with words for the person who wrote them."""

from __future__ import annotations

import operator
import re
from typing import SupportsFloat, SupportsIndex

from bandstand.errors import JobError

LARGEST_WHOLE = 2**63 - 1
"""The largest whole number that a record, or a file's name, has room for."""

_SHOWN = 100

Number = SupportsFloat | SupportsIndex
"""What stands for one number: Python's, numpy's, a tensor of one element."""


def whole_number(what: str, value: object, least: int, most: int = LARGEST_WHOLE) -> int:
    """A whole number from `least` to `most`; `what` names the call and the argument in the error."""
    try:
        number = least - 1 if isinstance(value, bool) else operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        number = least - 1
    if least <= number <= most:
        return number
    expected = f"of {least} or more" if number < least else f"up to {most}"
    raise JobError(f"{what} takes a whole number {expected}; found {shortly(value)}.")


def shortly(value: object) -> str:
    """A value for a message, cut where it is long; Python writes no whole number of thousands of digits."""
    try:
        return repr(value)[:_SHOWN]
    except ValueError:
        return f"one of {type(value).__name__} that is too long to show"


def one_number(what: str, value: object) -> float:
    """One number as a float; `what` names the call and the argument in the error."""
    try:
        if isinstance(value, str | bytes):
            raise TypeError("text is no number, whatever it says")
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        found = f"{str(value)[:100]!r} ({type(value).__name__})"
        raise JobError(f"{what} takes one number; found {found}.") from None


def saving_function(what: str, value: object) -> None:
    """A function that takes a path; `what` names the call and the argument in the error."""
    if not callable(value):
        raise JobError(
            f"{what} takes a function that writes to the path it is given, such as `lambda path: "
            f"path.write_text(...)`; found {value!r}."
        )


def seconds(what: str, value: object) -> None:
    """A time of 0 or more seconds; `what` names the call and the argument in the error."""
    if not one_number(what, value) >= 0:
        raise JobError(f"{what} takes 0 or more seconds; found {value!r}.")


def ending(what: str, value: object) -> None:
    """The ending of a checkpoint's name or nothing, but not the ending of its record; `what` as above."""
    is_one = isinstance(value, str) and re.fullmatch(r"(\.[A-Za-z0-9_-]+)*", value) is not None
    if not is_one or str(value).endswith(".complete"):
        raise JobError(f"{what} takes an ending such as '.npz'; found {value!r}.")
