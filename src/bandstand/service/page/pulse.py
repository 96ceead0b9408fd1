"""Whether anything has changed since a page was read, told without reading any of it."""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bandstand.runs.record import Record

STALE_SECONDS = 5
"""How old the seconds of a running job may be that says nothing."""

_RUNS = "SELECT 1 FROM {} WHERE shown IN ('InProgress', 'Stopping') LIMIT 1"


class Pulse:
    """Gives a word that changes whenever the record does.

    It has a connection of its own, which never writes: what SQLite counts are the changes of others.

    Args:
        home: The folder that holds all state.
    """

    def __init__(self, home: Path) -> None:
        self._home = home
        self._start = os.urandom(6).hex()
        self._record: Record | None = None
        self.thread = ThreadPoolExecutor(1, "pulse")  # SQLite's connections belong to one thread

    def read(self) -> str:
        """The word of this moment; to be called in `thread`."""
        if self._record is None:
            self._record = Record.open(self._home)
        record = self._record
        runs = any(record.read(_RUNS.format(table)) for table in ("tuning_jobs", "training_jobs"))
        age = f"-{int(time.time() / STALE_SECONDS)}" if runs else ""
        return f"{self._start}-{record.changes()}{age}"

    def close(self) -> None:
        """Let the thread go."""
        self.thread.shutdown(wait=False, cancel_futures=True)
