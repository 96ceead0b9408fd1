"""What a check finds: problems and notes, with every place named in the user's words."""

from __future__ import annotations

from bandstand.problem import Problem
from bandstand.request.abilities import PROCESSES, Abilities
from bandstand.request.rules import RULES

Place = tuple[str | int, ...]
"""Where something stands in a document: member names and list positions, from the top."""

SHOWN = 120
"""How many characters of a value a message shows."""


class Findings:
    """Collects all that is wrong with a request, and all that is worth saying about it.

    Args:
        exact: Whether the request is a document of the API; else it is a job file, with keys of its own.
        on: Where the job is to run.
    """

    def __init__(self, exact: bool, on: Abilities = PROCESSES) -> None:
        self.exact = exact
        self.on = on
        self.problems: list[Problem] = []
        self.notes: list[str] = []
        self._origins: dict[Place, str] = {}
        self._given: set[Place] = set()
        self._doubted: list[str] = []
        self._places: list[Place] = []

    def came_from(self, place: Place, key: str, given: bool) -> None:
        """Remember which key of a job file a place of the document came from.

        Args:
            place: The place.
            key: The key, with dots.
            given: Whether the user wrote the key; else a default stands there.
        """
        self._origins[place] = key
        if given:
            self._given.add(place)

    def doubted(self, key: str) -> bool:
        """Whether a problem was found with a job file's key, with one below it or with one above it."""
        return any(
            key == doubted or key.startswith(f"{doubted}.") or doubted.startswith(f"{key}.")
            for doubted in self._doubted
        )

    def doubt(self, key: str) -> None:
        """Remember a key of a job file that a problem was found with, so that its place is doubtful."""
        self._doubted.append(key)

    def problem(self, number: int, place: Place, found: str, allowed: str, fix: str) -> None:
        """Add a problem at a place of the document."""
        self._places.append(place)
        self.refuse(number, self.words(place), found, allowed, fix)

    def refuse(self, number: int, where: str, found: str, allowed: str, fix: str) -> None:
        """Add a problem at a place named as the user wrote it."""
        if number not in RULES:
            raise KeyError(f"rule {number} is not in the table of rules")
        problem = Problem(number, where, found, allowed, fix)
        if problem not in self.problems:
            self.problems.append(problem)

    def note(self, text: str) -> None:
        """Add a sentence for the user that is no problem; once, however often it is found."""
        if text not in self.notes:
            self.notes.append(text)

    def doubtful(self, place: Place) -> bool:
        """Whether a problem stands at this place, below it or above it, so that more would be noise."""
        if any(place[: len(other)] == other or other[: len(place)] == place for other in self._places):
            return True
        origins = [self.words(place)]
        origins += [key for other, key in self._origins.items() if other[: len(place)] == place]
        return any(self.doubted(key) for key in origins)

    def given(self, place: Place) -> bool:
        """Whether the user wrote this place, rather than a job file's default."""
        return self.exact or place in self._given

    def words(self, place: Place) -> str:
        """Return a place as the user wrote it: a job file's key, or a document's members joined by dots."""
        for length in range(len(place), 0, -1):
            key = self._origins.get(place[:length])
            if key is not None:
                return key
        return dotted(place)


def dotted(place: Place) -> str:
    """Return a place as members joined by dots, list positions in brackets."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place)
    return text.removeprefix(".") or "the request"


def shown(value: object) -> str:
    """Return a value as a message shows it: quoted if text, shortened where long."""
    text = repr(value) if not isinstance(value, str) else f'"{value}"'
    if not text.isprintable():
        text = "".join(
            letter if letter.isprintable() else letter.encode("unicode_escape").decode("ascii")
            for letter in text
        )
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 20]}... ({len(text)} characters)"


def listed(names: list[str], limit: int = 12) -> str:
    """Return names joined by commas, the first ones where there are many."""
    head = ", ".join(names[:limit])
    return head if len(names) <= limit else f"{head}, ... ({len(names)} in all)"
