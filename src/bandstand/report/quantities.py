"""Numbers as people read them: durations, counts, metric values."""

from __future__ import annotations

import math


def duration(seconds: float | None) -> str:
    """Write a duration in the two units that matter: `8 s`, `2 min 5 s`, `3 h 20 min`, `2 d 4 h`.

    Args:
        seconds: The duration in seconds, or None where it is not known yet.
    """
    if seconds is None:
        return "-"
    if 0 < seconds < 1:
        return "under 1 s"
    whole = int(seconds)
    for size, unit, smaller, part in ((86400, "d", 3600, "h"), (3600, "h", 60, "min"), (60, "min", 1, "s")):
        if whole >= size:
            rest = whole % size // smaller
            return f"{whole // size} {unit} {rest} {part}" if rest else f"{whole // size} {unit}"
    return f"{whole} s"


def count(number: int, thing: str) -> str:
    """Write a number of things: `1 job`, `1,200 jobs`."""
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"


def metric(value: float | None) -> str:
    """Write a metric's value in six significant digits; `-` where there is none.

    Args:
        value: The value, or None (nothing reported, or not finite).
    """
    if value is None or not math.isfinite(value):
        return "-"
    return f"{value:.6g}"


def share(part: float, whole: float) -> str:
    """Write a part of a whole in per cent: `9 %`; nothing where the whole is nothing."""
    if whole <= 0:
        return ""
    percent = 100 * part / whole
    return "under 1 %" if 0 < percent < 1 else f"{percent:.0f} %"


def moment(text: str | None) -> str:
    """Write an ISO 8601 time in UTC for people: `2026-11-30 14:03:22 UTC`."""
    if not text:
        return ""
    day, _, rest = text.partition("T")
    return f"{day} {rest[:8]} UTC"
