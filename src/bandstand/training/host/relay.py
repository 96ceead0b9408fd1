"""Output of ranks on its way through process 1: whole lines of several writers on one stream."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable

from bandstand.rank_notes import started_process
from bandstand.training.host.last_words import LastWords

_CHUNK = 64 << 10
_LONGEST_LINE = 256 << 10
_LOOK_AGAIN_SECONDS = 0.02


class Stream:
    """A standard stream of this process, to which several threads write whole lines.

    Args:
        descriptor: 1 or 2.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._lock = threading.Lock()
        self._broken = False

    def say(self, text: str) -> None:
        """Write one line of our own."""
        self.write(f"bandstand: {text}\n".encode(errors="backslashreplace"))

    def write(self, data: bytes) -> None:
        """Write bytes; once nobody reads them, they are dropped and the training goes on."""
        with self._lock:
            while data and not self._broken:
                try:
                    data = data[os.write(self._descriptor, data) :]
                except BlockingIOError:
                    time.sleep(0.01)  # somebody has made the pipe non-blocking, and its reader is slow
                except OSError:
                    self._broken = True


class Relay(threading.Thread):
    """Passes one stream of one rank on by whole lines, and keeps its end.

    Args:
        descriptor: The reading end of the rank's pipe; the relay closes it.
        to: Where to.
        clock: Seconds of a monotonic clock.
    """

    def __init__(self, descriptor: int, to: Stream, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(name="bandstand-relay", daemon=True)
        self._descriptor = descriptor
        self._to = to
        self._clock = clock
        self._last_words = LastWords()
        self._lock = threading.Lock()
        self._reading = False
        self.trouble_at: float | None = None
        """When the last Python traceback began."""
        self.listener: int | None = None
        """The process that has noted that it listens for a stop."""

    def run(self) -> None:
        """Read until every process that holds the other end has closed it."""
        pending = bytearray()
        while data := self._read():
            self._keep(data)
            pending += data
            end = max(pending.rfind(b"\n"), pending.rfind(b"\r")) + 1
            if not end and len(pending) > _LONGEST_LINE:
                end = len(pending)
            lines = bytes(pending[:end])
            self.listener = started_process(lines) or self.listener
            self._to.write(lines)
            del pending[:end]
        if pending:
            self._to.write(bytes(pending) + b"\n")
        os.close(self._descriptor)

    def tail(self) -> str:
        """Its end, see `LastWords.text`."""
        with self._lock:
            return self._last_words.text()

    def finish(self, least: float, most: float) -> None:
        """Wait until everything has been passed on: the other end is closed, or open with nothing coming.

        Args:
            least: Seconds to wait while the other end is open, held by a process that outlives the rank.
            most: Seconds to wait even while something still comes, or while nobody takes it.
        """
        begun = self._clock()
        while self.is_alive() and self._clock() - begun < (least if self._reading else most):
            self.join(_LOOK_AGAIN_SECONDS)

    def _read(self) -> bytes:
        self._reading = True
        try:
            return os.read(self._descriptor, _CHUNK)
        finally:
            self._reading = False

    def _keep(self, data: bytes) -> None:
        with self._lock:
            if self._last_words.add(data):
                self.trouble_at = self._clock()
