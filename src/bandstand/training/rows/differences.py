"""Texts for files of one job that do not go together."""

from __future__ import annotations

from collections.abc import Sequence


def differing(width: int, other: int, place: str) -> str:
    """The text of the fault that files differ in width.

    Args:
        width: Columns that were found.
        other: Columns that were found before.
        place: Where the others were found.
    """
    return (
        f"its rows have {width} columns, but those of {place} have {other}. All files need the same columns."
    )


def differing_names(names: Sequence[str], others: Sequence[str], place: str) -> str:
    """The text of the fault that the columns of files have different names.

    Args:
        names: Names that were found.
        others: Names that were found before, as many.
        place: Where the others were found.
    """
    pairs = enumerate(zip(names, others, strict=False), 1)
    column, (name, other) = next((pair for pair in pairs if pair[1][0] != pair[1][1]), (0, ("", "")))
    return (
        f"its column {column} is named {name!r}, but that of {place} is {other!r}. All files need the same "
        "columns in the same order."
    )
