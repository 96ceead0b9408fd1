"""Which columns of a row are no features: label, weight and query."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from bandstand.errors import InputError
from bandstand.hyperparameters import nearest

_POSITION = re.compile(r"-?[1-9][0-9]*")
_LISTED = 8
"""How many names of columns a message lists."""


@dataclass(frozen=True)
class Layout:
    """Where things stand in a row.

    Args:
        label: The label's column, from 0.
        weight: The weight's column, from 0; None if rows have no weights.
        query: The column of the query that a row belongs to, from 0; None if there are no queries.
    """

    label: int = 0
    weight: int | None = None
    query: int | None = None

    @property
    def others(self) -> tuple[int, ...]:
        """The columns that are no features."""
        return tuple(column for column in (self.label, self.weight, self.query) if column is not None)


@dataclass(frozen=True)
class Columns:
    """What the job says of the columns; each one by its name, or by its position.

    Positions count from 1, as messages do, or from -1 backwards: -1 is the last column. In libsvm files
    label, weight and query have places of their own.

    Args:
        label: The label's column.
        weight: The weight's column; None if rows have no weights.
        query: The column of the query that a row belongs to; None if there are no queries.
        header: Whether files of CSV start with a line of names.
        index_base: The index of the first feature in libsvm files, 0 or 1; None to find it in the data.
    """

    label: str = "1"
    weight: str | None = None
    query: str | None = None
    header: bool = False
    index_base: int | None = None

    def resolve(self, width: int, names: Sequence[str] = ()) -> Layout:
        """Find the columns in rows of a certain width.

        Args:
            width: Columns of a row.
            names: Their names, if the file has any.

        Raises:
            InputError: If a column is not there, or two are the same.
        """
        found = {"label": _find("label", self.label, width, names)}
        for what, said in (("weight", self.weight), ("query", self.query)):
            if said is not None:
                found[what] = _find(what, said, width, names)
        if len(set(found.values())) < len(found):
            same = ", ".join(f"{what}: column {column + 1}" for what, column in found.items())
            raise InputError(f"two of these are the same column: {same}. Give each one a column of its own.")
        if width <= len(found):
            return _narrow(width, found)
        return Layout(**found)


def _narrow(width: int, found: dict[str, int]) -> Layout:
    have = "one column" if width == 1 else f"{width} columns"
    need = " and ".join(["the label", *(f"the {what}" for what in found if what != "label")])
    raise InputError(f"it has {have}; expected {need} and at least one feature.")


def _find(what: str, said: str, width: int, names: Sequence[str]) -> int:
    places = [place for place, name in enumerate(names) if name == said]
    if len(places) == 1:
        return places[0]
    if len(places) > 1:
        raise InputError(f"the {what} is {said!r}, but {len(places)} columns have this name. Rename them.")
    if not _POSITION.fullmatch(said):
        if not names:
            raise InputError(
                f"the {what} is {said!r}, but the columns have no names. Give its position, counted from 1, "
                "or declare that the files have a header (header=true)."
            )
        near = nearest(said, names)
        hint = f" Did you mean {near!r}?" if near else ""
        listed = ", ".join(names[:_LISTED]) + (", ..." if len(names) > _LISTED else "")
        raise InputError(f"the {what} is {said!r}, but the columns are {listed}.{hint}")
    position = int(said)
    if abs(position) > width:
        have = "one column" if width == 1 else f"{width} columns"
        raise InputError(f"the {what} is column {said}, but there {'is' if width == 1 else 'are'} {have}.")
    return position - 1 if position > 0 else width + position
