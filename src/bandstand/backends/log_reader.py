"""Reads the logs of a job's hosts, from any process and while they are being written."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from bandstand.backends.backend import LogLine

CHUNK = 1 << 20
"""Bytes of one host's log that are read at once; more than the longest line with its time."""


def read_lines(
    logs: Iterable[tuple[str, Path]], offsets: Mapping[str, int]
) -> tuple[list[LogLine], dict[str, int]]:
    """Read whole lines from where the last call ended; see `Backend.lines`.

    Args:
        logs: Host and log, in the order of the hosts.
        offsets: Bytes already read of each host's log.

    Returns:
        Lines in order of time, those of the same time in the order of the hosts; and the offsets to go on
        from.
    """
    lines: list[LogLine] = []
    reached = dict(offsets)
    for host, path in logs:
        begin = reached.get(host, 0)
        try:
            with path.open("rb") as file:
                file.seek(begin)
                data = file.read(CHUNK)
        except FileNotFoundError:
            continue
        whole = data[: data.rfind(b"\n") + 1]
        reached[host] = begin + len(whole)
        lines.extend(parse_line(host, line) for line in whole.split(b"\n")[:-1])
    lines.sort(key=lambda line: line.time)
    return lines, reached


def left_behind(before: Mapping[str, int], reached: Mapping[str, int]) -> bool:
    """Whether a call of `read_lines` read so much of a log that it may have left whole lines behind.

    Args:
        before: The offsets that it was given.
        reached: The offsets that it returned.
    """
    return any(end - before.get(host, 0) > CHUNK // 2 for host, end in reached.items())


def whole_bytes(log: Path) -> int:
    """Bytes of a log up to the end of its last whole line; 0 where there is none.

    Args:
        log: A log that nobody writes.
    """
    try:
        with log.open("rb") as file:
            end = file.seek(0, os.SEEK_END)
            while end > 0:
                begin = max(0, end - CHUNK)
                file.seek(begin)
                found = file.read(end - begin).rfind(b"\n")
                if found >= 0:
                    return begin + found + 1
                end = begin
    except FileNotFoundError:
        return 0
    return 0


def parse_line(host: str, line: bytes) -> LogLine:
    """Read one line of a log.

    Args:
        host: The host whose log it is.
        line: The line without its line end. One that the supervisor did not write is shown as it is, with
            the time 0.
    """
    stamp, _, text = line.decode("utf-8", "replace").partition(" ")
    try:
        return LogLine(host, float(stamp), text)
    except ValueError:
        return LogLine(host, 0.0, f"{stamp} {text}")
