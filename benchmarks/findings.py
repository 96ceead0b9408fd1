"""What a benchmark has found: values of each side, their ratios, and whether an aim is met."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

Measured = TypeVar("Measured")


@dataclass(frozen=True)
class Spread:
    """Smallest, middle and greatest of several values of one thing.

    Args:
        name: What was measured.
        unit: Its unit; empty for a ratio.
        values: In the order in which they were measured.
    """

    name: str
    unit: str
    values: tuple[float, ...]

    @property
    def median(self) -> float:
        """The middle value."""
        return statistics.median(self.values) if self.values else math.nan

    def line(self) -> str:
        """One line for people."""
        low, high = min(self.values, default=math.nan), max(self.values, default=math.nan)
        text = "  ".join(_digits(value) for value in (low, self.median, high))
        return f"{self.name:<75} {text} {self.unit}".rstrip()

    def document(self) -> dict[str, Any]:
        """The same for a program."""
        extremes = {"min": min(self.values), "median": self.median, "max": max(self.values)}
        return {"name": self.name, "unit": self.unit, **extremes, "values": list(self.values)}


@dataclass(frozen=True)
class Aim:
    """A limit, and what was found.

    Args:
        what: What should stay below the limit.
        found: What was found; by rule the median.
        limit: What it should not exceed.
        unit: The unit of both.
    """

    what: str
    found: float
    limit: float
    unit: str

    @property
    def met(self) -> bool:
        """Whether the limit is kept."""
        return self.found <= self.limit

    def line(self) -> str:
        """One line for people."""
        word = "met" if self.met else "MISSED"
        return f"{word}: {self.what}: {self.found:.4g} {self.unit}".rstrip() + f", aim {self.limit:.4g}"


@dataclass
class Findings:
    """What one benchmark has found so far.

    Args:
        name: The benchmark's name.
    """

    name: str
    sides: list[Spread] = field(default_factory=list)
    ratios: list[Spread] = field(default_factory=list)
    aims: list[Aim] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def side(self, name: str, unit: str, values: Sequence[float]) -> Spread:
        """Note what was measured of one side."""
        spread = Spread(name, unit, tuple(values))
        self.sides.append(spread)
        return spread

    def ratio(self, ours: Spread, theirs: Spread) -> Spread:
        """Note the ratio of two sides, repetition by repetition, as they ran next to each other."""
        pairs = zip(ours.values, theirs.values, strict=True)
        values = tuple(mine / other if other else math.inf for mine, other in pairs)
        spread = Spread(f"{ours.name} / {theirs.name}", "", values)
        self.ratios.append(spread)
        return spread

    def aim(self, what: str, found: float, limit: float, unit: str = "") -> None:
        """Note a limit and what was found."""
        self.aims.append(Aim(what, found, limit, unit))

    def lines(self) -> list[str]:
        """Everything, for people."""
        found = [f"  {'':<75} {'min':>9}  {'median':>9}  {'max':>9}"] if self.sides or self.ratios else []
        found += [f"  {spread.line()}" for spread in self.sides]
        found += [f"  {spread.line()}" for spread in self.ratios]
        found += [f"  {aim.line()}" for aim in self.aims]
        return found + [f"  note: {note}" for note in self.notes]

    def document(self) -> dict[str, Any]:
        """The same for a program."""
        return {
            "name": self.name,
            "sides": [spread.document() for spread in self.sides],
            "ratios": [spread.document() for spread in self.ratios],
            "aims": [
                {"what": aim.what, "found": aim.found, "limit": aim.limit, "unit": aim.unit, "met": aim.met}
                for aim in self.aims
            ],
            "notes": self.notes,
        }


def interleaved(
    sides: Mapping[str, Callable[[], Measured]], repeat: int, tell: Callable[[str], None]
) -> dict[str, list[Measured]]:
    """Measure several sides in turn, A B A B, so that a busy moment of the machine meets all of them.

    Args:
        sides: Name to what measures once.
        repeat: How often each is measured.
        tell: Called with a line of progress before each measurement.
    """
    found: dict[str, list[Measured]] = {name: [] for name in sides}
    for number in range(1, repeat + 1):
        for name, measure in sides.items():
            tell(f"{number} of {repeat}: {name}")
            found[name].append(measure())
    return found


def _digits(value: float) -> str:
    return f"{value:>9.4g}" if abs(value) < 1e5 else f"{value:>9.3e}"
