"""Hyperparameters: text on the way, values at both ends."""

from __future__ import annotations

import ast
import difflib
import json
import math
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal, InvalidOperation
from types import MappingProxyType
from typing import Any, TypeVar, overload

from bandstand.errors import InputError

OBJECTIVE = "_tuning_objective_metric"
"""The hyperparameter in which AMT tells a training job its objective."""

_Default = TypeVar("_Default")
_MISSING: Any = object()
_TRUE = frozenset({"true", "1", "1.0", "yes", "on", "y", "t"})
_FALSE = frozenset({"false", "0", "0.0", "no", "off", "n", "f"})
_NUMBER = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?", re.ASCII)
_NOT_FINITE = re.compile(r"[-+]?(?:nan|inf|infinity)", re.ASCII | re.IGNORECASE)
_MAX_INTEGER = 2**63 - 1


def encode(value: object) -> str:
    r"""A value as the text that hyperparameters.json carries.

    Text goes as it is, so that a program in any language reads what the user wrote. Text that would be lost on the way is
    written as a JSON string: the empty text (the service drops it), the word `null`, text with line breaks (refused by
    the service) and text that is itself a JSON string (one layer is removed when it is read). Everything else is JSON:
    `true`, `4`, `1e-05`, `["a", "b"]`, and `null` for None.

    Args:
        value: Text, bool, int, float, None, or lists and mappings of these.

    Returns:
        The text; `Hyperparameters.text` returns the same text that was encoded, `decode` the same value.

    Raises:
        InputError: For a value that JSON cannot carry.
    """
    if isinstance(value, str):
        lossy = value in ("", "null") or "\n" in value or "\r" in value or _json_string(value) is not None
        return json.dumps(value) if lossy else value
    try:
        return json.dumps(value)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"A hyperparameter cannot carry {value!r} ({type(value).__name__}): {error}. "
            "Give text, a number, a truth value, or lists and mappings of these."
        ) from None


def decode(text: str) -> object:
    r"""The value that a hyperparameter's text stands for.

    Exactly one layer of JSON is removed: `"\"512\""` gives the text `"512"` with its quotes, `"512"` with quotes gives the
    text 512. Numeric-looking text that is no JSON number (`007`, `1_000`, `+5`) stays text. Python's spellings are read as
    well, since some SDKs send `str(value)`: `True`, `False`, `None`, `['a', 'b']`.

    Args:
        text: As it stands in hyperparameters.json.

    Returns:
        Text, bool, int, float, None, list or dict.
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    if text in ("True", "False", "None"):
        return {"True": True, "False": False, "None": None}[text]
    if text[:1] + text[-1:] in ("[]", "()", "{}"):
        found = _python_literal(text)
        if found is not None:
            return found
    return text


def nearest(name: str, names: Iterable[str]) -> str | None:
    """The name that somebody who wrote `name` most likely meant.

    Args:
        name: What was written.
        names: What could have been meant.

    Returns:
        One of `names`, or None when nothing is near. Case and the choice of `-`, `_` or `.` do not count.
    """
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


class Hyperparameters(Mapping[str, str]):
    """A training job's hyperparameters: a mapping of name to raw text, with typed readers.

    The mapping holds the user's own; those of the platform are in `reserved`, the tuning objective in `objective`.
    Every reader takes a default; without one a missing hyperparameter is an error. Text in one layer of JSON quotes reads
    like the text itself, and `null` reads like a hyperparameter that is not there.

    Args:
        values: Name to text, as in hyperparameters.json.
    """

    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = strip_reserved(values)
        self.reserved: Mapping[str, str] = MappingProxyType(
            {name: text for name, text in values.items() if is_reserved(name)}
        )

    def __getitem__(self, name: str) -> str:
        return self._values[name]

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
        return None if text is None else _unquoted(text)

    @overload
    def text(self, name: str) -> str: ...
    @overload
    def text(self, name: str, default: _Default) -> str | _Default: ...
    def text(self, name: str, default: Any = _MISSING) -> Any:
        """A hyperparameter as text, without the layer of JSON quotes that some SDKs add."""
        return self._read(name, default, lambda text: text, "text")

    @overload
    def integer(self, name: str) -> int: ...
    @overload
    def integer(self, name: str, default: _Default) -> int | _Default: ...
    def integer(self, name: str, default: Any = _MISSING) -> Any:
        """A whole number; `4.0` is 4, since samplers work in floats. Raises InputError for anything else."""
        return self._read(name, default, _integer, "a whole number")

    @overload
    def number(self, name: str) -> float: ...
    @overload
    def number(self, name: str, default: _Default) -> float | _Default: ...
    def number(self, name: str, default: Any = _MISSING) -> Any:
        """A number, `inf` and `nan` included. Raises InputError for anything else."""
        return self._read(name, default, _number, "a number")

    @overload
    def boolean(self, name: str) -> bool: ...
    @overload
    def boolean(self, name: str, default: _Default) -> bool | _Default: ...
    def boolean(self, name: str, default: Any = _MISSING) -> Any:
        """A truth value in any usual spelling: true, True, 1, yes, on, and their opposites. Raises InputError."""
        return self._read(name, default, _boolean, "true or false")

    @overload
    def words(self, name: str) -> list[str]: ...
    @overload
    def words(self, name: str, default: _Default) -> list[str] | _Default: ...
    def words(self, name: str, default: Any = _MISSING) -> Any:
        """A list of words: a JSON list, a Python list, or words with commas between. Raises InputError."""
        return self._read(name, default, _words, 'a list such as ["a", "b"] or a,b')

    @overload
    def numbers(self, name: str) -> list[float]: ...
    @overload
    def numbers(self, name: str, default: _Default) -> list[float] | _Default: ...
    def numbers(self, name: str, default: Any = _MISSING) -> Any:
        """A list of numbers: a JSON list, a Python list, or numbers with commas between. Raises InputError."""
        return self._read(name, default, _numbers, "a list of numbers such as [1, 2] or 1,2")

    def value(self, name: str, default: object = _MISSING) -> object:
        """A hyperparameter decoded as `decode` does, whatever its type."""
        raw = self._values.get(name)
        if raw is not None:
            return decode(raw)
        return self._default(name, default)

    def _read(self, name: str, default: Any, reader: Any, expected: str) -> Any:
        raw = self._values.get(name)
        if raw is None or raw == "null":
            return self._default(name, default)
        found = reader(_unquoted(raw))
        if found is None:
            raise InputError(f"Hyperparameter {name!r} is {raw!r}; expected {expected}.")
        return found

    def _default(self, name: str, default: Any) -> Any:
        if default is not _MISSING:
            return default
        near = nearest(name, self._values)
        hint = f" Did you mean it by {near!r}?" if near else ""
        have = ", ".join(sorted(self._values)) or "none"
        raise InputError(f"Hyperparameter {name!r} is missing; given are: {have}.{hint}")


def _json_string(text: str) -> str | None:
    if not (len(text) > 1 and text.startswith('"') and text.endswith('"')):
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, str) else None


def _unquoted(text: str) -> str:
    found = _json_string(text)
    return text if found is None else found


def _python_literal(text: str) -> object | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = ast.literal_eval(text)
        return json.loads(json.dumps(found))  # type: ignore[no-any-return]
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None


def _plain(name: str) -> str:
    return re.sub(r"[-_. ]", "", name).lower()


def _number(text: str) -> float | None:
    text = text.strip()
    return float(text) if _NUMBER.fullmatch(text) or _NOT_FINITE.fullmatch(text) else None


def _integer(text: str) -> int | None:
    text = text.strip()
    if not _NUMBER.fullmatch(text):
        return None
    try:
        exact = Decimal(text)
    except InvalidOperation:
        return None
    if abs(exact) > _MAX_INTEGER or exact != exact.to_integral_value():
        return None
    return int(exact)


def _boolean(text: str) -> bool | None:
    word = text.strip().lower()
    return True if word in _TRUE else False if word in _FALSE else None


def _items(text: str) -> list[object] | None:
    found = decode(text.strip()) if text.strip()[:1] in ("[", "(") else None
    if isinstance(found, list):
        return found
    return [part.strip() for part in text.split(",")] if text.strip() else []


def _words(text: str) -> list[str] | None:
    items = _items(text)
    if items is None or any(isinstance(item, list | dict) for item in items):
        return None
    return [item if isinstance(item, str) else encode(item) for item in items]


def _numbers(text: str) -> list[float] | None:
    found = [_number(word) for word in _words(text) or ()]
    return (
        None if None in found else [value for value in found if value is not None and not math.isnan(value)]
    )
