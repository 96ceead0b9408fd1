"""Where something stands in a channel's files, and what is wrong there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

MAX_FAULTS = 20
"""Faults that one worker lists; the rest is only counted."""


class Place(NamedTuple):
    """One line or row of a file.

    Args:
        file: The file's path on the host that has it.
        number: The line or row, from 1; 0 for the file as a whole.
        unit: What is counted: the lines of a text, or the rows of a table.
    """

    file: str
    number: int
    unit: str = "line"

    def __str__(self) -> str:
        return f"{self.file}, {self.unit} {self.number}" if self.number else self.file


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong with a channel's data.

    Args:
        file: The file's path on the host that found it.
        line: The line (or row) in the file, from 1; 0 if the file as a whole is meant.
        text: What was found, what was expected and what to do.
        unit: What `line` counts: "line" or "row".
    """

    file: str
    line: int
    text: str
    unit: str = "line"

    @classmethod
    def at(cls, place: Place, text: str) -> Fault:
        """A fault at a place."""
        return cls(place.file, place.number, text, place.unit)

    def __str__(self) -> str:
        return f"{Place(self.file, self.line, self.unit)}: {self.text}"


class FaultList:
    """The first `MAX_FAULTS` faults of one worker, and how many more there are."""

    def __init__(self) -> None:
        self.listed: list[Fault] = []
        self.more = 0

    def __bool__(self) -> bool:
        return bool(self.listed)

    def add(self, *faults: Fault) -> None:
        """Take faults in the order in which they are found."""
        room = MAX_FAULTS - len(self.listed)
        self.listed += faults[:room]
        self.more += len(faults[room:])
