"""Metrics on their way through a log: the printer, the patterns and the parser.

This module is the door: what it lists in `__all__` is what the rest of Bandstand uses.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bandstand.errors import InputError
from bandstand.log_lines import LineSplitter, clean, closest_lines, strip_escapes
from bandstand.metric_line import (
    LARGEST,
    NUMBER,
    format_line,
    known_goal,
    metric_definitions,
    name_problem,
)
from bandstand.metric_patterns import pattern_problems, pattern_warnings
from bandstand.metric_search import MetricPattern

__all__ = [
    "LARGEST",
    "LineSplitter",
    "MetricParser",
    "Point",
    "clean",
    "closest_lines",
    "format_line",
    "known_goal",
    "metric_definitions",
    "name_problem",
    "pattern_problems",
    "pattern_warnings",
]

_START = re.compile(r"(?<![\w.=-])iteration=([0-9]{1,9}) ", re.ASCII)
_TOKEN = re.compile(rf"([^\s=]+)=({NUMBER})(?:#011| |$)")


@dataclass(frozen=True)
class Point:
    """One value of one metric, as it stands in a log.

    Args:
        name: The metric's name.
        iteration: As printed in a metric line (from 1), else the ordinal of this metric's values on this
            host.
        value: As printed; may be nan or infinite if a script of the user's printed that.
        host: The host that printed it, `algo-1`.
        time: When the line was read, in seconds since the epoch.
    """

    name: str
    iteration: int
    value: float
    host: str
    time: float


class MetricParser:
    """Reads points out of one training job's log lines, as AMT would.

    A metric with a definition is read with its pattern: searched in the line, first group, which must be a
    number, else the value is dropped. A tab is seen as `#011`, as AMT's log pipeline writes it; terminal
    escapes are taken out only if the line as it came does not match. Metrics without a definition are read
    from metric lines (see `bandstand.metric_line`), wherever on a line they stand.

    Args:
        definitions: (name, pattern) pairs; of two for one name the first that finds a number counts.
        seen: (name, host) to the number of points already recorded, so that ordinals go on after a restart.

    Raises:
        InputError: For patterns that do not compile or have no group, all at once.
    """

    def __init__(
        self, definitions: Sequence[tuple[str, str]], seen: Mapping[tuple[str, str], int] | None = None
    ) -> None:
        self._patterns: list[MetricPattern] = []
        problems = []
        for name, regex in definitions:
            try:
                self._patterns.append(MetricPattern(name, regex))
            except ValueError as error:
                problems.append(f"The pattern of metric {name!r}, {regex!r}, {error}.")
        if problems:
            raise InputError("\n".join(problems))
        self._defined = {pattern.name for pattern in self._patterns}
        self._seen = dict(seen or {})
        self._before = dict(self._seen)
        self._writers: dict[str, dict[int, str]] = {}
        self._warnings: dict[tuple[str, str], str] = {}

    @property
    def warnings(self) -> tuple[str, ...]:
        """What looked wrong so far, once per metric: a second writer, captured text that is no number."""
        return tuple(self._warnings.values())

    @property
    def seen(self) -> dict[tuple[str, str], int]:
        """(name, host) to the number of points so far, those given at the start included."""
        return dict(self._seen)

    def feed(self, host: str, time: float, line: str) -> list[Point]:
        """Read one line.

        Args:
            host: The host that printed it.
            time: When it was read, in seconds since the epoch.
            line: The line as it came, without its separator.

        Returns:
            Its points, at most one per metric: those with a definition first, in the order of the
            definitions.
        """
        text = line.replace("\t", "#011")
        plain = strip_escapes(text)
        iteration, printed = _metric_line(plain)
        found: dict[str, float] = {}
        for pattern in self._patterns:
            if pattern.name in found:
                continue
            captured = pattern.capture(text)
            if captured is None and plain != text:
                captured = pattern.capture(plain)
            if captured is None:
                continue
            value = _number(captured)
            if value is None:
                self._warn_of_text(pattern.name, captured)
            else:
                found[pattern.name] = value
        found.update((name, value) for name, value in printed.items() if name not in self._defined)
        return [self._point(name, iteration, value, host, time) for name, value in found.items()]

    def _point(self, name: str, iteration: int | None, value: float, host: str, time: float) -> Point:
        count = self._seen.get((name, host), 0) + 1
        self._seen[(name, host)] = count
        number = count if iteration is None else iteration
        self._warn_of_writers(name, number, host)
        return Point(name, number, value, host, time)

    def _warn_of_writers(self, name: str, iteration: int, host: str) -> None:
        if ("writers", name) in self._warnings:
            return
        first = self._writers.setdefault(name, {}).setdefault(iteration, host)
        if first == host:  # not printed by another host since the start, but perhaps before it
            first = next(
                (
                    other
                    for (metric, other), count in self._before.items()
                    if metric == name and other != host and iteration <= count
                ),
                host,
            )
        if first != host:
            self._warnings[("writers", name)] = (
                f"Metric {name!r} at iteration {iteration} was printed by two hosts, {first} and {host}: "
                "for Hyperband each print counts as an iteration, so the job would be stopped too early. "
                "Print it on one host only."
            )
            del self._writers[name]

    def _warn_of_text(self, name: str, captured: str) -> None:
        what = f"{captured[:60]!r}, which is no number" if captured else "an empty text"
        self._warnings.setdefault(
            ("text", name), f"The pattern of metric {name!r} captured {what}; it is dropped, as AMT does."
        )


def _metric_line(text: str) -> tuple[int | None, dict[str, float]]:
    """Iteration and values of the metric line that a text holds; (None, {}) if it holds none."""
    for start in _START.finditer(text):
        values: dict[str, float] = {}
        position = start.end()
        while token := _TOKEN.match(text, position):
            if name_problem(token[1]) is None:
                values.setdefault(token[1], float(token[2]))
            elif token[1] == "iteration":
                break
            position = token.end()
        if values:
            return int(start[1]), values
    return None, {}


def _number(text: str) -> float | None:
    if not text.isascii() or "_" in text:
        return None  # float() takes more than a log reader would
    try:
        return float(text)
    except ValueError:
        return None
