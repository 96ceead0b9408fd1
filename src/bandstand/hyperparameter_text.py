"""One hyperparameter value as text: how it travels in hyperparameters.json, and how it is read back."""

from __future__ import annotations

import ast
import json
import operator
import re
import warnings
from collections.abc import Callable, Mapping
from decimal import Decimal, InvalidOperation
from types import MappingProxyType
from typing import SupportsFloat, SupportsIndex

from bandstand.errors import InputError

_TRUE = frozenset({"true", "1", "1.0", "yes", "on", "y", "t"})
_FALSE = frozenset({"false", "0", "0.0", "no", "off", "n", "f"})
_NUMBER = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?", re.ASCII)
_NOT_FINITE = re.compile(r"[-+]?(?:nan|inf|infinity)", re.ASCII | re.IGNORECASE)
_LINE_BREAKS = re.compile(r"[\n\r\x85\u2028\u2029]")
_MAX_INTEGER = 2**63 - 1


def encode(value: object) -> str:
    r"""A value as the text that hyperparameters.json carries.

    Text goes as it is, so that a program in any language reads what the user wrote; only text that would be
    lost on the way is written as a JSON string: the empty text (the service drops it), the word `null`, text
    with line breaks (the service's pattern `.*` refuses them) and text that is itself a JSON string (one
    layer is removed when it is read). Everything else is JSON: `true`, `4`, `1e-05`, `["a", "b"]`, and `null`
    for None.

    Args:
        value: Text, bool, int, float (numpy's too), None, or lists and mappings of these.

    Returns:
        The text. The readers of `Hyperparameters` give the value back; so does `decode`, but for text that
        looks like another type, such as `true` or `12`.

    Raises:
        InputError: For a value that JSON cannot carry.
    """
    if isinstance(value, str):
        lossy = value in ("", "null") or _LINE_BREAKS.search(value) or _json_string(value) is not None
        return json.dumps(value) if lossy else value
    try:
        return json.dumps(value, default=_plain_number)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"A hyperparameter cannot carry {value!r} ({type(value).__name__}): {error}. "
            "Give text, a number, a truth value, or lists and mappings of these."
        ) from None


def decode(text: str) -> object:
    r"""The value that a hyperparameter's text stands for.

    Exactly one layer of JSON is removed: `"\"512\""` gives the text `"512"` with its quotes, `"512"` with
    quotes gives the text 512. Numeric-looking text that is no JSON number (`007`, `1_000`, `+5`) stays text.
    Python's spellings are read as well, since some SDKs send `str(value)`: `True`, `False`, `None`, `['a',
    'b']`.

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


def unquoted(text: str) -> str:
    """The text without the one layer of JSON quotes that some SDKs add; unchanged if there is none."""
    found = _json_string(text)
    return text if found is None else found


def as_number(text: str) -> float | None:
    """A number, `inf` and `nan` included; None for anything else."""
    text = text.strip()
    return float(text) if _NUMBER.fullmatch(text) or _NOT_FINITE.fullmatch(text) else None


def as_integer(text: str) -> int | None:
    """A whole number of at most 64 bits, `4.0` included; None for anything else."""
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


def as_boolean(text: str) -> bool | None:
    """A truth value in any usual spelling; None for anything else."""
    word = text.strip().lower()
    return True if word in _TRUE else False if word in _FALSE else None


def as_words(text: str) -> list[str] | None:
    """Words out of a JSON list, a Python list, or text with commas; None for lists of lists or mappings."""
    items = _items(text)
    if any(isinstance(item, list | dict) for item in items):
        return None
    return [item if isinstance(item, str) else encode(item) for item in items]


def as_numbers(text: str) -> list[float] | None:
    """Numbers out of the same forms; None if one of the words is no number."""
    words = as_words(text)
    if words is None:
        return None
    found = [value for word in words if (value := as_number(word)) is not None]
    return found if len(found) == len(words) else None


def as_integers(text: str) -> list[int] | None:
    """Whole numbers out of the same forms; None if one of the words is none."""
    words = as_words(text)
    if words is None:
        return None
    found = [value for word in words if (value := as_integer(word)) is not None]
    return found if len(found) == len(words) else None


def as_list(text: str) -> list[object] | None:
    """A list of anything, in JSON or Python; None for anything else."""
    found = decode(text.strip())
    return found if isinstance(found, list) else None


def as_table(text: str) -> dict[str, object] | None:
    """A mapping of names to anything, in JSON or Python; None for anything else."""
    found = decode(text.strip())
    return found if isinstance(found, dict) else None


def as_text(text: str) -> str:
    """Text as it is."""
    return text


READERS: Mapping[str, tuple[Callable[[str], object], str]] = MappingProxyType(
    {
        "text": (as_text, "text"),
        "integer": (as_integer, "a whole number"),
        "number": (as_number, "a number"),
        "boolean": (as_boolean, "true or false"),
        "words": (as_words, 'a list such as ["a", "b"] or a,b'),
        "integers": (as_integers, "a list of whole numbers such as [1, 2] or 1,2"),
        "numbers": (as_numbers, "a list of numbers such as [1, 2] or 1,2"),
        "list": (as_list, "a list such as [[1, 2], [3]]"),
        "table": (as_table, 'a JSON object such as {"a": 1}'),
    }
)
"""What a value is to be, what reads it (None for other text), and what a message says was expected."""


def _items(text: str) -> list[object]:
    found = decode(text.strip()) if text.strip()[:1] in ("[", "(") else None
    if isinstance(found, list):
        return found
    return [part.strip() for part in text.split(",") if part.strip()]


def _json_string(text: str) -> str | None:
    if not (len(text) > 1 and text.startswith('"') and text.endswith('"')):
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, str) else None


def _python_literal(text: str) -> object | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = ast.literal_eval(text)
        return json.loads(json.dumps(found))  # type: ignore[no-any-return]
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None


def _plain_number(value: object) -> int | float:
    if isinstance(value, SupportsIndex):
        return operator.index(value)
    if isinstance(value, SupportsFloat):
        return float(value)
    raise TypeError("JSON has no form for it")
