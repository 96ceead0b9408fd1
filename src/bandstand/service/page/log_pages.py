"""Pages of the hosts' logs: their ends, what is new, what came before, and what holds a text."""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from bandstand.report import plain
from bandstand.service.log_events import Event, backward, forward
from bandstand.service.page.masking import Mask

LINES = 200
"""Lines of a page at most."""

LONGEST = 4000
"""Characters of a line that are shown."""

SEARCHED_LINES = 50_000
"""Lines of all hosts together that one request looks through; the next one goes on from there."""

_PLACES = re.compile(r"([A-Za-z0-9.-]{1,64}):(\d{1,15})")

Places = dict[str, int]
"""For each host a place in its log, in bytes."""


def places_of(text: str, hosts: Sequence[str]) -> Places | None:
    """Read places as a page gave them: `algo-1:120,algo-2:96`; None where the text is none."""
    found = {}
    for part in text.split(","):
        match = _PLACES.fullmatch(part)
        if match is None or match[1] not in hosts:
            return None
        found[match[1]] = int(match[2])
    return found if set(found) == set(hosts) else None


def page_before(
    logs: Mapping[str, Path], mask: Mask, before: Places | None = None, find: str = ""
) -> dict[str, Any]:
    """The last lines before some places, or before the ends of the logs.

    Args:
        logs: The log of each host.
        mask: Hides secrets.
        before: Where to begin in each log; None for its end.
        find: Only lines with this text, in whatever letter case.

    Returns:
        `lines` in order of time, `before` for the page before this one (None where there is nothing more),
        and `after` for what comes after it.
    """
    ends = {host: _end(log) if before is None else before[host] for host, log in logs.items()}
    reached, kept, looked = dict(ends), [], 0
    wanted = find.casefold()
    sources = [
        _placed(place, host, backward(log, ends[host], _shown))
        for place, (host, log) in enumerate(logs.items())
    ]
    for _, host, event in heapq.merge(*sources, key=lambda each: each[0], reverse=True):
        line = _line(host, event, mask)
        reached[host], looked = event.begin, looked + 1
        if wanted in line["text"].casefold():
            kept.append(line)
        if len(kept) == LINES or looked == SEARCHED_LINES:
            break
    more = any(reached.values())
    return {
        "lines": kept[::-1],
        "before": _text(reached) if more else None,
        "after": _text(ends),
    }


def page_after(logs: Mapping[str, Path], mask: Mask, after: Places) -> dict[str, Any]:
    """The lines after some places.

    Args:
        logs: The log of each host.
        mask: Hides secrets.
        after: Where to begin in each log.

    Returns:
        `lines` in order of time, `after` for what comes next, and `more`: whether there is some already.
    """
    reached, lines = dict(after), []
    sources = [
        _placed(place, host, forward(log, after[host], _shown))
        for place, (host, log) in enumerate(logs.items())
    ]
    merged = heapq.merge(*sources, key=lambda each: each[0])
    for _, host, event in islice(merged, LINES):
        reached[host] = event.end
        lines.append(_line(host, event, mask))
    return {"lines": lines, "after": _text(reached), "more": len(lines) == LINES}


def _placed(place: int, host: str, events: Iterator[Event]) -> Iterator[tuple[tuple[int, int], str, Event]]:
    """Events with what they are put in order by: their time; those of the same time by their host."""
    return (((event.time, place), host, event) for event in events)


def _shown(text: str) -> str:
    return plain(text[: 2 * LONGEST])


def _line(host: str, event: Event, mask: Mask) -> dict[str, Any]:
    text = mask.text(event.message)
    return {
        "host": host,
        "time": event.time,
        "text": text if len(text) <= LONGEST else f"{text[:LONGEST]} … (cut)",
    }


def _end(log: Path) -> int:
    last = next(backward(log, 1 << 62), None)
    return 0 if last is None else last.end


def _text(places: Places) -> str:
    return ",".join(f"{host}:{place}" for host, place in places.items())
