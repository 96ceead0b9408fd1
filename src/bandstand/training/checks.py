"""Arguments that scripts give, checked with words for the person who wrote them."""

from __future__ import annotations

import operator
import re
from typing import SupportsFloat, SupportsIndex

from bandstand.errors import JobError

Number = SupportsFloat | SupportsIndex
"""What stands for one number: Python's, numpy's, a tensor of one element."""


def whole_number(what: str, value: object, least: int) -> int:
    """A whole number of at least `least`; `what` names the call and the argument in the error."""
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        number = least - 1
    if number < least:
        raise JobError(f"{what} takes a whole number of {least} or more; found {value!r}.")
    return number


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
