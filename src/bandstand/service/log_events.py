"""Events of a log stream, out of a host's log: only what is asked for is read, from either end."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from bandstand.backends.log_reader import parse_line

MOST_EVENTS = 10_000
"""Events of a page at most (GetLogEvents in the API reference of CloudWatch Logs)."""
MOST_BYTES = 1 << 20
"""Bytes of a page at most: of its messages in UTF-8, and `OVERHEAD` for each."""
OVERHEAD = 26

_CHUNK = 1 << 18
_CONTROLS = re.compile(r"[\x00-\x1f\x7f]")


@dataclass(frozen=True)
class Event:
    """One line of a host.

    Args:
        begin: Where it begins in the log, in bytes.
        end: Where the next one begins.
        time: When it was complete, in milliseconds since the epoch.
        message: Its text, as the log service has it.
    """

    begin: int
    end: int
    time: int
    message: str

    @property
    def size(self) -> int:
        """What it counts in a page, in bytes."""
        return len(self.message.encode("utf-8", "replace")) + OVERHEAD


def escaped(text: str) -> str:
    """A line as it is found in CloudWatch Logs: a control character is `#` and its three octal digits.

    SageMaker's logs show a tab as `#011`, which patterns of metrics for them have to match.
    """
    return _CONTROLS.sub(lambda found: f"#{ord(found[0]):03o}", text)


def first_time(log: Path) -> int | None:
    """When a log's first line was complete, in milliseconds since the epoch; None while there is none."""
    event = next(forward(log, 0), None)
    return None if event is None else event.time


def forward(log: Path, begin: int, written: Callable[[str], str] = escaped) -> Iterator[Event]:
    """Give events from a place in a log on; ends where the log ends at this moment.

    Args:
        log: The log; one that is not there is empty.
        begin: Where to begin, in bytes; a place where an event begins.
        written: Makes an event's message of a line's text.
    """
    try:
        file = log.open("rb")
    except FileNotFoundError:
        return
    before = 0
    with file:
        file.seek(begin)
        for line in file:
            if not line.endswith(b"\n"):
                return  # half a line: its writer is at it
            event = _event(line, begin, before, written)
            begin, before = event.end, event.time
            yield event


def backward(log: Path, end: int, written: Callable[[str], str] = escaped) -> Iterator[Event]:
    """Give the events before a place in a log, the last one first.

    Args:
        log: The log; one that is not there is empty.
        end: Where to begin, in bytes; a place where an event begins, or beyond the end of the log.
        written: Makes an event's message of a line's text.
    """
    try:
        file = log.open("rb")
    except FileNotFoundError:
        return
    with file:
        end = min(end, file.seek(0, os.SEEK_END))
        rest = b""
        is_first = True
        while end > 0:
            size = min(_CHUNK, end)
            file.seek(end - size)
            data = file.read(size) + rest
            base = end - size
            if is_first:  # what follows the last line end is half a line
                data = data[: data.rfind(b"\n") + 1]
                is_first = not data
            cut = data.find(b"\n") + 1 if base > 0 else 0
            rest = data[:cut]
            place = base + len(data)
            for line in reversed(_lines(data[cut:])):
                yield _event(line, place - len(line), 0, written)
                place -= len(line)
            end = base


def seek(log: Path, time: int) -> int:
    """Find where the first event lies that is not older than a time, by halving.

    Args:
        log: The log.
        time: Milliseconds since the epoch.
    """
    try:
        file = log.open("rb")
    except FileNotFoundError:
        return 0
    with file:
        low, high = 0, file.seek(0, os.SEEK_END)
        while low < high:
            middle = (low + high) // 2
            begin = _next_line(file, middle, low)
            line = file.readline()
            if begin >= high or not line.endswith(b"\n"):
                high = middle
            elif _event(line, begin, 0).time < time:
                low = begin + len(line)
            else:
                high = middle
        return low


def _next_line(file: BinaryIO, place: int, least: int) -> int:
    """Go to the first begin of a line at a place or after it."""
    if place <= least:
        file.seek(least)
        return least
    file.seek(place - 1)
    file.readline()
    return file.tell()


def _lines(data: bytes) -> list[bytes]:
    return [line + b"\n" for line in data.split(b"\n")[:-1]]


def _event(line: bytes, begin: int, before: int, written: Callable[[str], str] = escaped) -> Event:
    parsed = parse_line("", line[:-1])
    return Event(begin, begin + len(line), max(int(parsed.time * 1000), 0) or before, written(parsed.text))
