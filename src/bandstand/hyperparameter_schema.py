"""The hyperparameters that a program declares, and what a job's hyperparameters are by them."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from bandstand.errors import InputError
from bandstand.hyperparameter_declaration import Hyperparameter
from bandstand.hyperparameters import is_reserved, nearest, strip_reserved

LISTED = 12
"""How many names a message lists."""

_DECLARATION = 'declarations such as bandstand.hyperparameter("epochs", int)'


class Settings(SimpleNamespace):
    """The values of declared hyperparameters, as attributes: `settings.learning_rate`; `-` in a name is `_`.

    `vars(settings)` is a dictionary of them.
    """

    def __getattr__(self, name: str) -> Any:
        near = nearest(name, vars(self))
        hint = f" Did you mean {near!r}?" if near else ""
        raise AttributeError(f"No hyperparameter {name!r} is declared in bandstand.start(schema=...).{hint}")


@dataclass(frozen=True)
class Reading:
    """A job's hyperparameters by their declarations.

    Args:
        values: Every declared name to its value, the default where the job gives none.
        given: The declared names that the job gives, each with an allowed value, to their text.
        problems: What is wrong, as sentences.
    """

    values: dict[str, Any] = field(default_factory=dict)
    given: dict[str, str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    @property
    def settings(self) -> Settings:
        """The values as attributes."""
        return Settings(**{name.replace("-", "_"): value for name, value in self.values.items()})


class Schema:
    """All hyperparameters of a program.

    Args:
        declared: Their declarations, in the order in which they are told.

    Raises:
        InputError: If something in it is no declaration, or names are declared twice; with all that are.
    """

    def __init__(self, declared: Iterable[Hyperparameter]) -> None:
        if not isinstance(declared, Iterable):
            raise InputError(f"The schema is {declared!r}; expected a list of {_DECLARATION}.")
        self.declared = tuple(declared)
        foreign = [each for each in self.declared if not isinstance(each, Hyperparameter)]
        if foreign:
            raise InputError(f"The schema has {foreign!r}; expected {_DECLARATION} only.")
        self._by_name: dict[str, Hyperparameter] = {}
        self._by_plain: dict[str, Hyperparameter] = {}
        twice = []
        for each in self.declared:
            for name in each.names:
                other = self._by_plain.setdefault(name.replace("-", "_"), each)
                if other is not each or name in self._by_name:
                    twice.append(f"Two hyperparameters are declared as {name!r}. Rename one of them.")
                self._by_name[name] = each
        if twice:
            raise InputError("\n".join(twice))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Schema) and self.declared == other.declared

    __hash__ = None  # type: ignore[assignment]

    @property
    def names(self) -> tuple[str, ...]:
        """All names and aliases."""
        return tuple(self._by_name)

    def find(self, name: str) -> Hyperparameter | None:
        """The hyperparameter of a name or an alias; `-` and `_` are the same."""
        return self._by_name.get(name) or self._by_plain.get(name.replace("-", "_"))

    def nearest(self, name: str) -> str | None:
        """The name or alias that somebody who wrote `name` most likely meant."""
        return nearest(name, self._by_name)

    def missing(self, given: Iterable[str]) -> list[Hyperparameter]:
        """What a job has to give and does not.

        One that is there under a misspelt name is left out: the misspelling is told, and once is enough.

        Args:
            given: The names that the job gives.
        """
        there, meant = set(), set()
        for name in given:
            found = self.find(name)
            if found is not None:
                there.add(found.name)
            elif not is_reserved(name):
                near = self._by_name.get(self.nearest(name) or "")
                meant.add(near.name if near else "")
        return [each for each in self.declared if each.required and each.name not in there | meant]

    def read(self, hyperparameters: Mapping[str, str]) -> Reading:
        """The values of a job's hyperparameters; those of the platform are left out.

        Args:
            hyperparameters: Name to text.
        """
        reading = Reading({each.name: copy.copy(each.default) for each in self.declared})
        written: dict[str, str] = {}
        for name, text in strip_reserved(hyperparameters).items():
            found = self.find(name)
            if found is None:
                reading.problems.append(self._unknown(name))
            elif found.name in written:
                reading.problems.append(
                    f"Hyperparameter {found.name!r} is given twice, as {written[found.name]!r} and as "
                    f"{name!r}. Keep one of them."
                )
            else:
                written[found.name] = name
                self._read_one(found, name, text, reading)
        absent = [name for name, by in written.items() if self._by_name[name].is_absent(hyperparameters[by])]
        unknown = [name for name in hyperparameters if self.find(name) is None]
        for each in self.missing([name for name in [*written, *unknown] if name not in absent]):
            what = f": {each.help}" if each.help else ""
            reading.problems.append(f"Hyperparameter {each.name!r} is missing; expected {each.allowed}{what}")
        return reading

    def _read_one(self, it: Hyperparameter, name: str, text: str, reading: Reading) -> None:
        if it.is_absent(text):
            return
        try:
            reading.values[it.name] = it.read(text)
            reading.given[it.name] = text
        except ValueError:
            reading.problems.append(
                f"Hyperparameter {name!r} is {text!r}; expected {it.allowed}.{it.hint(text)}"
            )

    def _unknown(self, name: str) -> str:
        near = self.nearest(name)
        names = [each.name for each in self.declared]
        more = ", ..." if len(names) > LISTED else ""
        hint = f"Did you mean {near!r}?" if near else f"There are: {', '.join(names[:LISTED])}{more}."
        return f"There is no hyperparameter {name!r}. {hint}"
