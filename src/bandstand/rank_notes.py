"""Notes of a rank on stderr that programs read: how each is written, and how it is read."""

from __future__ import annotations

import re

_STARTED = re.compile(rb"^bandstand: rank [0-9]+ of [0-9]+ runs as process ([0-9]{1,10})\.\r?$", re.MULTILINE)
_RESUMED = re.compile(r"bandstand: goes on after iteration ([0-9]{1,9})\b")
_ROWS = re.compile(r"^bandstand: rank [0-9]+ on \S+ has ([0-9]+) rows\.$")


def started_note(rank: int, world_size: int, process: int) -> str:
    """What a rank notes once a signal asks it to stop instead of ending it."""
    return f"rank {rank} of {world_size} runs as process {process}."


def started_process(lines: bytes) -> int | None:
    """The process of the first `started_note` in some lines of stderr, None if there is none."""
    if b" runs as process " not in lines:  # far quicker than the pattern
        return None
    found = _STARTED.search(lines)
    return int(found[1]) if found else None


def resumed_note(iteration: int) -> str:
    """What the first rank notes of a job that goes on: its first metrics are those of the next iteration."""
    return f"goes on after iteration {iteration}, the newest checkpoint that all hosts can use."


def noted_resume(line: str) -> int | None:
    """The iteration in a `resumed_note`, None if the line of the log is another."""
    found = _RESUMED.match(line)
    return int(found[1]) if found else None


def rows_note(rank: int, host: str, rows: int) -> str:
    """What a rank notes of the number of rows that it trains on."""
    return f"rank {rank} on {host} has {rows} rows."


def noted_rows(line: str) -> int | None:
    """The number of rows in a `rows_note`, None if the line of stderr is another."""
    found = _ROWS.match(line)
    return int(found[1]) if found else None
