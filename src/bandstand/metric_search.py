"""One metric's pattern, searched in log lines of any length at a bounded cost."""

from __future__ import annotations

import re

from bandstand.metric_patterns import LONGEST_SEARCH
from bandstand.metric_samples import compiled, required_text

OVERLAP = LONGEST_SEARCH // 2
"""Characters that one window shares with the next: a match up to this length is found wherever it stands."""

_LONGEST_NUMBER = 64


class MetricPattern:
    """A metric's name and pattern, ready to search.

    A line of up to `LONGEST_SEARCH` characters is searched whole. Of a longer line the pattern sees
    overlapping windows of that length, from the left, and the first window with a match counts: a pattern of
    quadratic cost would else stall on a line of 256 KB. A window's end never cuts a number. A line without a
    text that the pattern asks for literally is not searched at all.

    Args:
        name: The metric's name.
        regex: Its pattern, with a group that captures the number.

    Raises:
        ValueError: If the pattern does not compile or has no group; the text says why.
    """

    def __init__(self, name: str, regex: str) -> None:
        self.name = name
        try:
            self._pattern = compiled(regex)
        except ValueError as error:
            raise ValueError(f"is not a regular expression: {error}") from None
        if not self._pattern.groups:
            raise ValueError("has no group to capture the number")
        self._required = required_text(self._pattern)

    def capture(self, text: str) -> str | None:
        """What the first group captures in a line; None without a match, empty for a group not used."""
        if self._required not in text:
            return None
        match = self._search(text)
        return None if match is None else match[1] or ""

    def _search(self, text: str) -> re.Match[str] | None:
        if len(text) <= LONGEST_SEARCH:
            return self._pattern.search(text)
        for start in range(0, len(text) - OVERLAP, LONGEST_SEARCH - OVERLAP):
            end = min(start + LONGEST_SEARCH, len(text))
            match = self._pattern.search(text, start, end)
            if match is not None and end < len(text) and match.end() > end - _LONGEST_NUMBER:
                # the window's end may have cut a number, or passed for the line's end: look on from here
                match = self._pattern.match(text, match.start(), match.start() + LONGEST_SEARCH)
            if match is not None:
                return match
        return None
