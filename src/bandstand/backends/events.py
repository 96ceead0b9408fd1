"""What a supervisor waits for: descriptors that can be read, and signals."""

from __future__ import annotations

import os
import selectors
import signal
from collections.abc import Callable


class Events:
    """Calls back when there is something to read; a signal ends the waiting, too."""

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self._waker, woken = os.pipe()
        for descriptor in (self._waker, woken):
            os.set_blocking(descriptor, False)
        signal.set_wakeup_fd(woken)
        signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
        self.watch(self._waker, lambda: drain(self._waker))

    def watch(self, descriptor: int, callback: Callable[[], None]) -> None:
        """Call back whenever a descriptor can be read."""
        self._selector.register(descriptor, selectors.EVENT_READ, callback)

    def forget(self, descriptor: int) -> None:
        """Watch a descriptor no longer, before it is closed; nothing happens if it is not watched."""
        if descriptor >= 0 and descriptor in self._selector.get_map():
            self._selector.unregister(descriptor)

    def wait(self, seconds: float) -> None:
        """Wait for something to happen, not longer than a time, and call back."""
        for key, _ in self._selector.select(seconds):
            callback: Callable[[], None] = key.data
            callback()


def drain(descriptor: int) -> None:
    """Read away the bytes of a descriptor that only wakes."""
    try:
        os.read(descriptor, 4096)
    except BlockingIOError:
        return
