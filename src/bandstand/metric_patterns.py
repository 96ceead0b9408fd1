"""A user's metric patterns, checked before a job starts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from bandstand.metric_line import MAX_PATTERN

_WORD = re.compile(r"[a-z]+|[0-9]+", re.IGNORECASE)


def pattern_problems(name: str, regex: str) -> list[str]:
    """What makes a metric definition unusable."""
    if len(regex) > MAX_PATTERN:
        return [f"the pattern has {len(regex)} characters; {MAX_PATTERN} are allowed"]
    try:
        pattern = re.compile(regex)
    except re.error as error:
        return [f"the pattern is not a regular expression: {error}"]
    if pattern.groups != 1:
        return [f"the pattern has {pattern.groups} groups; exactly one must capture the number"]
    return []


def pattern_warnings(name: str, regex: str, others: Sequence[tuple[str, str]] = ()) -> list[str]:
    """What may go wrong with a metric definition that is usable."""
    return []


def closest_lines(wanted: str, lines: Iterable[str], n: int = 3) -> list[str]:
    """The log lines that look most like what a pattern or a metric's name looks for."""
    words = {word.lower() for word in _WORD.findall(wanted)}
    scored = [(len(words & {word.lower() for word in _WORD.findall(line)}), line) for line in lines]
    best = sorted((entry for entry in scored if entry[0]), key=lambda entry: -entry[0])
    return [line for _, line in best[:n]]
