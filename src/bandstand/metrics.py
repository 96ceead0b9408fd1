"""Metrics on their way through a log: the printer, the patterns and the parser, as one object.

This module is the door: what it lists in `__all__` is what the rest of Bandstand uses.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from bandstand.errors import InputError
from bandstand.log_lines import LineSplitter, clean, strip_escapes
from bandstand.metric_line import (
    LARGEST,
    NUMBER,
    format_line,
    known_goal,
    metric_definitions,
    name_problem,
)
from bandstand.metric_patterns import closest_lines, pattern_problems, pattern_warnings

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

WINDOW = 4096
"""Characters of a line that a pattern sees at once: bounds what a slow pattern can cost on a very long line."""

OVERLAP = 2048
"""Characters that one window shares with the next: a match up to this length is found wherever it stands."""

_START = re.compile(r"(?<![\w.=-])iteration=([0-9]{1,9}) ")
_TOKEN = re.compile(rf"([^\s=]+)=({NUMBER})")


@dataclass(frozen=True)
class Point:
    """One value of one metric, as it stands in a log.

    Args:
        name: The metric's name.
        iteration: As printed in a metric line (from 1), else the ordinal of this metric's values on this host.
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

    A metric with a definition is read with its pattern: searched in the line, first group, which must be a number. A tab
    is seen as `#011`, as AMT's log pipeline writes it; terminal escapes are taken out only if the line as it came does
    not match. Metrics without a definition are read from metric lines (`bandstand.metric_line`).

    A pattern sees a line of more than `WINDOW` characters in overlapping windows, first match first, so that a pattern
    with quadratic cost does not stall on a line of 256 KB.

    Args:
        definitions: (name, pattern) pairs; for a name given twice the first pattern that matches counts.
        seen: (name, host) to the number of points already recorded, so that ordinals go on after a restart.

    Raises:
        InputError: For patterns that do not compile or have no group, all at once.
    """

    def __init__(
        self, definitions: Sequence[tuple[str, str]], seen: Mapping[tuple[str, str], int] | None = None
    ) -> None:
        self._patterns: list[tuple[str, re.Pattern[str]]] = []
        problems = []
        for name, regex in definitions:
            try:
                pattern = re.compile(regex)
            except (re.error, RecursionError, OverflowError) as error:
                problems.append(f"The pattern of metric {name!r} is not a regular expression: {error}.")
                continue
            if pattern.groups < 1:
                problems.append(
                    f"The pattern of metric {name!r} has no group to capture the number: {regex!r}."
                )
            self._patterns.append((name, pattern))
        if problems:
            raise InputError("\n".join(problems))
        self._defined = {name for name, _ in self._patterns}
        self._seen = dict(seen or {})
        self._writers: dict[str, dict[int, str]] = {}
        self._earlier = dict(self._seen)
        self._warnings: dict[tuple[str, str], str] = {}

    @property
    def warnings(self) -> tuple[str, ...]:
        """What looked wrong so far, once per metric and kind: a second writer, captured text that is no number."""
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
            Its points: those with a definition first, in the order of the definitions.
        """
        text = line.replace("\t", "#011")
        plain = strip_escapes(text)
        iteration, printed = _metric_line(text)
        if not printed and plain is not text:
            iteration, printed = _metric_line(plain)
        found: dict[str, float] = {}
        for name, pattern in self._patterns:
            if name in found:
                continue
            captured = _search(pattern, text)
            if captured is None and plain is not text:
                captured = _search(pattern, plain)
            if captured is None:
                continue
            value = _number(captured)
            if value is None:
                self._warn_text(name, captured)
            else:
                found[name] = value
        found.update((name, value) for name, value in printed if name not in self._defined)
        return [self._point(name, iteration, value, host, time) for name, value in found.items()]

    def _point(self, name: str, iteration: int | None, value: float, host: str, time: float) -> Point:
        count = self._seen.get((name, host), 0) + 1
        self._seen[(name, host)] = count
        number = count if iteration is None else iteration
        self._check_writer(name, number, host)
        return Point(name, number, value, host, time)

    def _check_writer(self, name: str, iteration: int, host: str) -> None:
        if ("writer", name) in self._warnings:
            return
        other = self._writers.setdefault(name, {}).setdefault(iteration, host)
        if other == host:
            earlier = (
                known
                for (metric, known), count in self._earlier.items()
                if metric == name and known != host and iteration <= count
            )
            other = next(earlier, host)
        if other != host:
            self._warnings[("writer", name)] = (
                f"Metric {name!r} at iteration {iteration} was printed by two hosts, {other} and {host}: each print counts "
                "as one iteration for Hyperband, so jobs would be stopped too early. Print it on one host only."
            )
            del self._writers[name]

    def _warn_text(self, name: str, captured: str) -> None:
        self._warnings.setdefault(
            ("text", name),
            f"The pattern of metric {name!r} captured {captured[:60]!r}, which is no number; it is dropped, as AMT does.",
        )


def _metric_line(text: str) -> tuple[int | None, list[tuple[str, float]]]:
    start = _START.search(text)
    if start is None:
        return None, []
    values: dict[str, float] = {}
    for token in text[start.end() :].split(" "):
        match = _TOKEN.fullmatch(token)
        if match is None:
            break
        if name_problem(match[1]) is None:
            values.setdefault(match[1], float(match[2]))
    return (int(start[1]), list(values.items())) if values else (None, [])


def _search(pattern: re.Pattern[str], text: str) -> str | None:
    if len(text) <= WINDOW:
        match = pattern.search(text)
        return None if match is None else match[1]
    for start in range(0, len(text) - OVERLAP, WINDOW - OVERLAP):
        match = pattern.search(text, start, start + WINDOW)
        if match is None:
            continue
        if match.end() == start + WINDOW:  # the window's end may have cut the number: look on from the match
            match = pattern.match(text, match.start(), match.start() + WINDOW) or match
        return match[1]
    return None


def _number(text: str | None) -> float | None:
    if text is None or not text.isascii() or "_" in text:
        return None
    try:
        return float(text)
    except ValueError:
        return None


def definitions_of(entries: Iterable[Mapping[str, str]]) -> list[tuple[str, str]]:
    """(name, pattern) pairs of `MetricDefinitions` entries."""
    return [(entry["Name"], entry["Regex"]) for entry in entries]
