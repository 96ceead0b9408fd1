"""Writes one host's log: whole lines, each with its time, by one writer."""

from __future__ import annotations

import fcntl
import os
from collections import deque
from collections.abc import Iterable, Sequence
from pathlib import Path

TAIL = 5
"""Last lines that are kept in memory for a failure reason."""


class LogWriter:
    """Appends lines `<epoch seconds> <text>` to a file, many at a time with one write.

    When a write fails (a full disk), `fault` says so, and nothing more is written: the end of the file may be
    half a line, which readers leave out.

    Args:
        path: The log; must not have another writer.

    Raises:
        OSError: The file cannot be written, or is another writer's.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.fault: OSError | None = None
        self.tail: deque[str] = deque(maxlen=TAIL)
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def write(self, time: float, lines: Iterable[str]) -> None:
        """Append lines of the host.

        Args:
            time: When they came, in epoch seconds.
            lines: Without line ends.
        """
        texts = tuple(lines)
        self.tail.extend(texts)
        self.note(time, texts)

    def note(self, time: float, texts: Sequence[str]) -> None:
        """Append lines of the supervisor's own, which say nothing about a failure of the host."""
        if not texts or self.fault is not None:
            return
        data = memoryview("".join(f"{time:.6f} {text}\n" for text in texts).encode("utf-8", "replace"))
        try:
            while data:
                data = data[os.write(self._descriptor, data) :]
        except OSError as error:
            self.fault = error

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)
