"""A training job's hyperparameters: names, text, typed readers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, TypeVar, overload

from bandstand.errors import InputError
from bandstand.hyperparameter_text import READERS, decode, encode, unquoted

__all__ = ["OBJECTIVE", "Hyperparameters", "decode", "encode", "is_reserved", "nearest", "strip_reserved"]

OBJECTIVE = "_tuning_objective_metric"
"""The hyperparameter in which AMT tells a training job its objective."""

_Default = TypeVar("_Default")
_MISSING: Any = object()


def nearest(name: str, names: Iterable[str]) -> str | None:
    """The name that somebody who wrote `name` most likely meant.

    Args:
        name: What was written.
        names: What could have been meant.

    Returns:
        One of `names`, or None when nothing is near. Case and the choice of `-`, `_` or `.` do not count.
    """
    import difflib  # loaded only once something is wrong

    by_plain: dict[str, str] = {}
    for candidate in names:
        by_plain.setdefault(_plain(candidate), candidate)
    close = difflib.get_close_matches(_plain(name), by_plain, n=1, cutoff=0.6)
    return by_plain[close[0]] if close else None


def is_reserved(name: str) -> bool:
    """Whether the platform, not the user, puts a hyperparameter of this name in."""
    return name.startswith("sagemaker_") or name == OBJECTIVE


def strip_reserved(mapping: Mapping[str, str]) -> dict[str, str]:
    """The user's own hyperparameters: no `sagemaker_*`, no `_tuning_objective_metric`; the order is kept."""
    return {name: text for name, text in mapping.items() if not is_reserved(name)}


def is_absent(text: str, kind: str) -> bool:
    """Whether a text stands for no value: `null`, and `None` where no text is expected, as SDKs send it."""
    return text == "null" or (text == "None" and kind != "text")


class MissingHyperparameterError(InputError, KeyError):
    """A hyperparameter was asked for that the job does not have; a KeyError, as of every mapping."""

    __str__ = InputError.__str__


class Hyperparameters(Mapping[str, str]):
    """A training job's hyperparameters: a mapping of name to raw text, with typed readers.

    The mapping holds the user's own; those of the platform are in `reserved`, the tuning objective in
    `objective`. Every reader takes a default; without one a missing hyperparameter is an error. Text in one
    layer of JSON quotes reads like the text itself. `null` reads like a hyperparameter that is not there, and
    so does `None` where no text is expected, since some SDKs send `str(value)`.

    Args:
        values: Name to text, as in hyperparameters.json.
    """

    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = strip_reserved(values)
        self.reserved: Mapping[str, str] = MappingProxyType(
            {name: text for name, text in values.items() if is_reserved(name)}
        )

    def __getitem__(self, name: str) -> str:
        try:
            return self._values[name]
        except KeyError:
            raise MissingHyperparameterError(self._missing(name)) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"Hyperparameters({self._values!r})"

    @property
    def objective(self) -> str | None:
        """The tuning job's objective metric, or None outside a tuning job."""
        text = self.reserved.get(OBJECTIVE)
        return None if text is None else unquoted(text)

    @overload
    def text(self, name: str) -> str: ...
    @overload
    def text(self, name: str, default: _Default) -> str | _Default: ...
    def text(self, name: str, default: Any = _MISSING) -> Any:
        """A hyperparameter as text, without the layer of JSON quotes that some SDKs add."""
        return self._read(name, default, "text")

    @overload
    def integer(self, name: str) -> int: ...
    @overload
    def integer(self, name: str, default: _Default) -> int | _Default: ...
    def integer(self, name: str, default: Any = _MISSING) -> Any:
        """A whole number; `4.0` is 4, since samplers work in floats. Raises InputError for anything else."""
        return self._read(name, default, "integer")

    @overload
    def number(self, name: str) -> float: ...
    @overload
    def number(self, name: str, default: _Default) -> float | _Default: ...
    def number(self, name: str, default: Any = _MISSING) -> Any:
        """A number, `inf` and `nan` included. Raises InputError for anything else."""
        return self._read(name, default, "number")

    @overload
    def boolean(self, name: str) -> bool: ...
    @overload
    def boolean(self, name: str, default: _Default) -> bool | _Default: ...
    def boolean(self, name: str, default: Any = _MISSING) -> Any:
        """A truth value in any usual spelling: true, True, 1, yes, on, or an opposite. Raises InputError."""
        return self._read(name, default, "boolean")

    @overload
    def words(self, name: str) -> list[str]: ...
    @overload
    def words(self, name: str, default: _Default) -> list[str] | _Default: ...
    def words(self, name: str, default: Any = _MISSING) -> Any:
        """A list of words: a JSON list, a Python list, or words with commas between. Raises InputError."""
        return self._read(name, default, "words")

    @overload
    def numbers(self, name: str) -> list[float]: ...
    @overload
    def numbers(self, name: str, default: _Default) -> list[float] | _Default: ...
    def numbers(self, name: str, default: Any = _MISSING) -> Any:
        """Numbers: a JSON list, a Python list, or numbers with commas between. Raises InputError."""
        return self._read(name, default, "numbers")

    def value(self, name: str, default: object = _MISSING) -> object:
        """A hyperparameter decoded as `decode` does, whatever its type."""
        raw = self._values.get(name)
        if raw is not None:
            return decode(raw)
        return self._default(name, default)

    def _read(self, name: str, default: Any, kind: str) -> Any:
        raw = self._values.get(name)
        if raw is None or is_absent(raw, kind):
            return self._default(name, default)
        reader, expected = READERS[kind]
        found = reader(unquoted(raw))
        if found is None:
            raise InputError(f"Hyperparameter {name!r} is {raw!r}; expected {expected}.")
        return found

    def _default(self, name: str, default: Any) -> Any:
        if default is not _MISSING:
            return default
        raise InputError(self._missing(name))

    def _missing(self, name: str) -> str:
        near = nearest(name, self._values) if isinstance(name, str) else None
        hint = f" Is {near!r} a misspelling of it?" if near else ""
        have = ", ".join(sorted(self._values)) or "none"
        return f"Hyperparameter {name!r} is missing; given are: {have}.{hint}"


def _plain(name: str) -> str:
    return re.sub(r"[-_. ]", "", name).lower()
