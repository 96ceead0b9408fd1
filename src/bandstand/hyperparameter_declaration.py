"""The declaration of one hyperparameter: its name, type, allowed values, default, and how it is tuned."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from numbers import Real
from types import MappingProxyType
from typing import Any, TypeGuard

from bandstand.errors import InputError
from bandstand.hyperparameter_text import READERS, as_integer, as_number, encode, unquoted
from bandstand.hyperparameters import is_absent, is_reserved, nearest

SCALES: Mapping[str, str] = MappingProxyType(
    {"auto": "Auto", "linear": "Linear", "log": "Logarithmic", "reverse-log": "ReverseLogarithmic"}
)
"""How the values of a range are spread: our word to AMT's ScalingType."""

MAX_NAME = 256
MAX_CHOICES = 30
MAX_HELP = 1024
"""Limits of HyperParameterSpecification and its ranges in SageMaker's service model."""

_BOUNDED = ("integer", "number", "integers", "numbers")


@dataclass(frozen=True)
class DefaultRange:
    """The values that are tried where a job file asks for the default range.

    Args:
        low: The smallest value; None where `values` are given.
        high: The largest value.
        scale: How tries are spread: `auto`, `linear`, `log` or `reverse-log`.
        values: The values of a choice, as text.
    """

    low: float | None = None
    high: float | None = None
    scale: str = "auto"
    values: tuple[str, ...] = ()

    def __str__(self) -> str:
        if self.values:
            return ", ".join(self.values)
        return f"{encode(self.low)} to {encode(self.high)}, {SCALES[self.scale].lower()} scale"


@dataclass(frozen=True)
class Hyperparameter:
    """One declared hyperparameter; `hyperparameter` makes it.

    Args:
        name: The name under which it is told.
        kind: What a value is to be: a key of `READERS`, or `choice`.
        help: What it does, in one line.
        required: Whether a job has to give it.
        default: The value of a job that does not; None for none.
        low: The smallest number, of each item in a list; None for no limit.
        high: The largest number.
        excludes: Which of `low` and `high` are themselves not allowed.
        choices: The values of a choice.
        aliases: Other names of it.
        tunable: Whether it may be tuned.
        tune: Its default range.

    Raises:
        InputError: If the declaration contradicts itself; with everything that is wrong.
    """

    name: str
    kind: str
    help: str = ""
    required: bool = False
    default: Any = None
    low: float | None = None
    high: float | None = None
    excludes: tuple[str, ...] = ()
    choices: tuple[Any, ...] = ()
    aliases: tuple[str, ...] = ()
    tunable: bool = True
    tune: DefaultRange | None = None

    def __post_init__(self) -> None:
        faults = list(_misfits(self)) or list(_faults(self))
        if faults:
            raise InputError(
                f"The declaration of hyperparameter {self.name!r} is wrong: {'; '.join(faults)}."
            )

    @property
    def names(self) -> tuple[str, ...]:
        """Its name and its aliases."""
        return (self.name, *self.aliases)

    @property
    def allowed(self) -> str:
        """What a value may be, for messages."""
        if self.kind == "choice":
            return f"one of {', '.join(encode(choice) for choice in self.choices)}"
        words = READERS[self.kind][1]
        limits = self._limits()
        if not limits:
            return words
        return f"{words}{', each' if self.kind.endswith('s') else ''}{limits}"

    def _limits(self) -> str:
        low = None if self.low is None else encode(self.low)
        high = None if self.high is None else encode(self.high)
        above, below = "low" in self.excludes, "high" in self.excludes
        if low is not None and high is not None:
            if above:
                return f" above {low}{' and below' if below else ', up to'} {high}"
            return f" from {low}{', below' if below else ' to'} {high}"
        if low is not None:
            return f" above {low}" if above else f" of {low} or more"
        return "" if high is None else f" {'below' if below else 'of at most'} {high}"

    def is_absent(self, text: str) -> bool:
        """Whether a text stands for no value; `None` does not where it is one of the choices."""
        return is_absent(text, self.kind) and not (self.kind == "choice" and text in self.choices)

    def read(self, text: str) -> Any:
        """The value that a text stands for.

        Quotes of JSON around it do not count, however many layers of them there are; in a text, one layer.

        Raises:
            ValueError: If it is none of the allowed ones.
        """
        bare = unquoted(text if self.kind == "text" else text.strip())
        while self.kind != "text" and bare != (inner := unquoted(bare)):
            bare = inner
        if self.kind == "choice":
            value = next((choice for choice in self.choices if _is_choice(bare.strip(), choice)), None)
        else:
            value = READERS[self.kind][0](bare)
        if value is None or not self._holds(value):
            raise ValueError(f"{text!r} is not {self.allowed}")
        return value

    def read_python(self, value: object) -> Any:
        """The value that a default stands for, written as Python has it or as text.

        Raises:
            ValueError: If it is none of the allowed ones.
            InputError: If JSON cannot carry it.
        """
        found = self.read(value if isinstance(value, str) and self.kind != "text" else encode(value))
        # 1 stays 1 where a number is expected, so that it is told as it was written.
        return value if type(value) in (int, list) and self.kind in ("number", "numbers") else found

    def _holds(self, value: Any) -> bool:
        if self.kind not in _BOUNDED:
            return True
        numbers = value if isinstance(value, list) else [value]
        return all(self.contains(number) for number in numbers)

    def contains(self, number: float) -> bool:
        """Whether a number is finite and within the limits."""
        if not math.isfinite(number):
            return False
        low = -math.inf if self.low is None else self.low
        high = math.inf if self.high is None else self.high
        above = number > low if "low" in self.excludes else number >= low
        below = number < high if "high" in self.excludes else number <= high
        return above and below

    def hint(self, text: str) -> str:
        """A question after the choice that was most likely meant, or nothing."""
        near = nearest(unquoted(text), [encode(choice) for choice in self.choices])
        return f" Did you mean {near!r}?" if near else ""


def _is_choice(text: str, choice: object) -> bool:
    """Whether a text is a choice: the same word, the same number, or the same truth value."""
    if isinstance(choice, bool):
        return READERS["boolean"][0](text) is choice
    if isinstance(choice, int):
        return as_integer(text) == choice
    if isinstance(choice, float):
        return as_number(text) == choice
    return text == choice


def is_number(value: object) -> TypeGuard[float]:
    """Whether a value is a number, numpy's included, and no truth value."""
    return isinstance(value, Real) and not isinstance(value, bool)


def _misfits(it: Hyperparameter) -> Iterator[str]:
    """What in a declaration is of another type than it can be; Python itself does not look."""
    wrong = [name for name in it.names if not isinstance(name, str)]
    if wrong:
        yield f"the names {wrong} are no text"
    if it.kind != "choice" and it.kind not in READERS:
        yield f"the kind is {it.kind!r}; expected choice or one of {', '.join(READERS)}"
    if not isinstance(it.help, str):
        yield f"its help is {it.help!r}, which is no text"
    limits = [limit for limit in (it.low, it.high) if limit is not None]
    if not all(is_number(limit) for limit in limits):
        yield f"the limits {limits} are not numbers"
    if not isinstance(it.tunable, bool):
        yield f"tunable is {it.tunable!r}; expected True or False"
    if not all(isinstance(choice, str | int | float) for choice in it.choices):
        yield "choices are words, numbers, or truth values"


def _faults(it: Hyperparameter) -> Iterator[str]:
    """What contradicts itself in a declaration."""
    for name in it.names:
        if not name or len(name) > MAX_NAME or not name.isprintable() or name.startswith("-"):
            yield f"the name {name!r} is not 1 to {MAX_NAME} characters, the first one no hyphen"
        elif is_reserved(name):
            yield f"the name {name!r} is one that the platform uses"
    if len(it.help) > MAX_HELP or "\n" in it.help:
        yield f"its help is not one line of at most {MAX_HELP} characters"
    limits = [limit for limit in (it.low, it.high) if limit is not None]
    if limits and it.kind not in _BOUNDED:
        yield f"limits are for numbers, not for {it.kind}"
    elif not all(math.isfinite(limit) for limit in limits):
        yield f"the limits {limits} are not finite; leave one out where there is none"
    elif it.kind.startswith("integer") and any(as_integer(encode(limit)) is None for limit in limits):
        yield f"the limits {limits} are not whole numbers of at most 64 bits"
    elif len(limits) == 2 and not (limits[0] < limits[1] or (limits[0] == limits[1] and not it.excludes)):
        yield f"nothing lies{it._limits()}"
    if it.kind == "choice":
        yield from _faults_of_choices(it)
    if it.default is not None and not _fits(it, it.default):
        yield f"the default {it.default!r} is not {it.allowed}"
    if it.tune is not None:
        yield from _faults_of_tuning(it, it.tune)


def _faults_of_choices(it: Hyperparameter) -> Iterator[str]:
    texts = [encode(choice) for choice in it.choices]
    if not 1 <= len(texts) <= MAX_CHOICES or len(set(texts)) < len(texts):
        yield f"{len(texts)} choices; expected 1 to {MAX_CHOICES}, each once"
    elif lost := [
        each for each, text in zip(it.choices, texts, strict=True) if not _comes_back(it, each, text)
    ]:
        yield f"the choices {lost} cannot be told from other text that a job may give"


def _faults_of_tuning(it: Hyperparameter, tune: DefaultRange) -> Iterator[str]:
    if not it.tunable:
        yield "it has a range to tune it in, but is not tunable"
    if not isinstance(tune.scale, str) or tune.scale not in SCALES:
        yield f"the scale is {tune.scale!r}; expected one of {', '.join(SCALES)}"
    if tune.values or tune.low is None or tune.high is None:
        wrong = [value for value in tune.values if not _fits(it, value)]
        if wrong or not tune.values:
            yield f"tuning tries {wrong or 'nothing'}, which is not {it.allowed}"
        elif tune.scale != "auto":
            yield "a scale is for numbers"
        return
    whole = all(bound == int(bound) for bound in (tune.low, tune.high) if math.isfinite(bound))
    if not (it.contains(tune.low) and it.contains(tune.high) and tune.low < tune.high):
        yield f"tuning goes from {tune.low} to {tune.high}, which is not a range within {it.allowed}"
    elif it.kind == "integer" and not whole:
        yield f"tuning goes from {tune.low} to {tune.high}, which are not whole numbers"
    elif tune.scale == "log" and tune.low <= 0:
        yield f"a log scale cannot start at {tune.low}; expected a range above 0"
    elif tune.scale == "reverse-log" and (it.kind == "integer" or tune.low < 0 or tune.high >= 1):
        yield "a reverse-log scale is for numbers with 0 <= low < high < 1"


def _fits(it: Hyperparameter, value: object) -> bool:
    try:
        it.read_python(value)
    except (ValueError, InputError):
        return False
    return True


def _comes_back(it: Hyperparameter, choice: object, text: str) -> bool:
    try:
        return it.read(text) is choice
    except ValueError:
        return False
