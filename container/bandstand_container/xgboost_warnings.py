"""What XGBoost warns of, as notes in the log: one line each, once, from one rank."""

from __future__ import annotations

import contextlib
import re
import warnings
from collections.abc import Iterator
from typing import TextIO

from bandstand.training.output import note

_PREFIX = re.compile(r"^\[[0-9:]+\] (?:WARNING: )?\S+: ")


@contextlib.contextmanager
def warnings_as_notes(*, write: bool) -> Iterator[None]:
    """Turn warnings into notes for a `with` block.

    Args:
        write: Whether this rank writes them; the others drop them, since all ranks get the same.
    """
    shown: set[str] = set()

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        text = _PREFIX.sub("", " ".join(str(message).split()))
        if write and text not in shown:
            shown.add(text)
            note(f"warning: {text}")

    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = show
        yield
