"""The clock of the live loop, so that tests can have their own."""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    """What the live loop asks of time."""

    def time(self) -> float:
        """Epoch seconds, for the record."""

    def monotonic(self) -> float:
        """Seconds that never run backwards, for limits."""

    def wait(self, seconds: float) -> None:
        """Let that much time pass."""


class SystemClock:
    """The machine's own clock."""

    def time(self) -> float:
        """Epoch seconds."""
        return time.time()

    def monotonic(self) -> float:
        """Seconds since some moment of the past."""
        return time.monotonic()

    def wait(self, seconds: float) -> None:
        """Sleep."""
        time.sleep(seconds)
