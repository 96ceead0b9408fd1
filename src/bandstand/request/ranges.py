"""Ranges of hyperparameters: where a number between 0 and 1 becomes a setting, as text, and back."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeVar

Scaling = Literal["Auto", "Linear", "Logarithmic", "ReverseLogarithmic"]
Number = TypeVar("Number", int, float)


@dataclass(frozen=True)
class IntegerRange:
    """Whole numbers from `low` to `high`, both included.

    Args:
        name: The hyperparameter.
        low: The smallest value.
        high: The largest value.
        scaling: How the unit interval is spread over the values; `Auto` is linear, as AMT assumes at first.
            `Logarithmic` needs `low` >= 1; `ReverseLogarithmic` is for continuous ranges only.
    """

    name: str
    low: int
    high: int
    scaling: Scaling = "Auto"

    def at(self, unit: float) -> str:
        """Return the value at a place in the range, as a whole number in text.

        Every value has an equal share of the unit interval; on a logarithmic scale, the share is
        log((v + 1/2) / (v - 1/2)).

        Args:
            unit: The place, 0 <= unit < 1.
        """
        _require_unit(unit)
        if self.scaling == "Logarithmic":
            start, end = math.log(self.low - 0.5), math.log(self.high + 0.5)
            value = math.floor(math.exp(start + unit * (end - start)) + 0.5)
        else:
            numerator, denominator = unit.as_integer_ratio()
            value = self.low + (self.high - self.low + 1) * numerator // denominator
        return str(min(max(value, self.low), self.high))

    def place(self, text: str) -> float | None:
        """Return the place of a value, the middle of its share; None for texts that are not in the range.

        Args:
            text: The value, as `at` gives it.
        """
        value = _number_or_none(int, text)
        if value is None or not self.low <= value <= self.high:
            return None
        if self.scaling == "Logarithmic":
            start, end = math.log(self.low - 0.5), math.log(self.high + 0.5)
            return _within((math.log(value) - start) / (end - start))
        return _within((2 * (value - self.low) + 1) / (2 * (self.high - self.low + 1)))


@dataclass(frozen=True)
class ContinuousRange:
    """Numbers from `low` to `high`.

    Args:
        name: The hyperparameter.
        low: The smallest value, finite.
        high: The largest value, finite.
        scaling: How the unit interval is spread over the values; `Auto` is linear, as AMT assumes at first.
            `Logarithmic` needs `low` > 0; `ReverseLogarithmic` needs 0 <= low < high < 1.
    """

    name: str
    low: float
    high: float
    scaling: Scaling = "Auto"

    def at(self, unit: float) -> str:
        """Return the value at a place in the range, as the shortest text that reads back as the same number.

        Args:
            unit: The place, 0 <= unit < 1.
        """
        _require_unit(unit)
        if self.scaling == "Logarithmic":
            value = math.exp(_between(math.log(self.low), math.log(self.high), unit))
        elif self.scaling == "ReverseLogarithmic":
            value = -math.expm1(_between(math.log1p(-self.low), math.log1p(-self.high), unit))
        else:
            value = _between(self.low, self.high, unit)
        return repr(min(max(value, self.low), self.high))

    def place(self, text: str) -> float | None:
        """Return the place of a value; None for texts that are not in the range.

        Args:
            text: The value, as `at` gives it.
        """
        value = _number_or_none(float, text)
        if value is None or not self.low <= value <= self.high:
            return None
        ends = (self.low, value, self.high)
        if self.scaling == "Logarithmic":
            low, here, high = (math.log(each) for each in ends)
        elif self.scaling == "ReverseLogarithmic":
            low, here, high = (-math.log1p(-each) for each in ends)
        else:
            low, here, high = (each / 2 for each in ends)  # halves, whose distance cannot overflow
        return _within((here - low) / (high - low)) if high > low else 0.5


@dataclass(frozen=True)
class CategoricalRange:
    """One of a list of words.

    Args:
        name: The hyperparameter.
        values: The words, each with an equal share of the unit interval.
    """

    name: str
    values: tuple[str, ...]

    def at(self, unit: float) -> str:
        """Return the word at a place in the list.

        Args:
            unit: The place, 0 <= unit < 1.
        """
        _require_unit(unit)
        return self.values[min(int(unit * len(self.values)), len(self.values) - 1)]

    def place(self, text: str) -> float | None:
        """Return the place of a word, the middle of its share; None for words that are not in the list.

        Args:
            text: The word.
        """
        return (self.values.index(text) + 0.5) / len(self.values) if text in self.values else None


Range = IntegerRange | ContinuousRange | CategoricalRange

_KINDS: dict[str, type[Range]] = {
    "integer": IntegerRange,
    "continuous": ContinuousRange,
    "categorical": CategoricalRange,
}


def range_to_dict(spread: Range) -> dict[str, Any]:
    """Return a range as JSON-ready data, for `range_from_dict`."""
    return {
        "kind": next(word for word, kind in _KINDS.items() if isinstance(spread, kind)),
        **asdict(spread),
    }


def range_from_dict(data: Mapping[str, Any]) -> Range:
    """Return the range that `range_to_dict` wrote down; also after a trip through JSON."""
    values: dict[str, Any] = {
        key: tuple(each) if isinstance(each, list) else each for key, each in data.items() if key != "kind"
    }
    return _KINDS[data["kind"]](**values)


def _between(low: float, high: float, unit: float) -> float:
    """Weigh the two ends rather than add a share of their distance, which overflows for the widest ranges."""
    return low * (1.0 - unit) + high * unit


def _within(place: float) -> float:
    return min(max(place, 0.0), 1.0 - 2.0**-53)


def _number_or_none(kind: type[Number], text: str) -> Number | None:
    try:
        return kind(text)
    except ValueError:
        return None


def _require_unit(unit: float) -> None:
    if not 0.0 <= unit < 1.0:
        raise ValueError(f"a place in a range is a number from 0 up to, but not including, 1; found {unit!r}")
