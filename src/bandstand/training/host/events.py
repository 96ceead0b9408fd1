"""What happens to process 1, one after the other: signals, ended children, messages from other threads."""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Callable, Iterable
from queue import Empty, SimpleQueue
from types import FrameType
from typing import Any

Event = tuple[str, Any]

_CHUNK = 4096


class Events:
    """A queue that signal handlers and threads may fill, and that no signal is lost on the way to.

    Python runs a signal handler in the main thread once that runs code again. A main thread that waits for a
    lock is not woken when the system hands the signal to another thread, or just before the wait begins; so
    this one waits for a pipe, into which the interpreter writes as soon as a signal arrives
    (https://docs.python.org/3/library/signal.html#signal.set_wakeup_fd).
    """

    def __init__(self) -> None:
        self._queue: SimpleQueue[Event] = SimpleQueue()
        self._reader, self._writer = os.pipe()
        os.set_blocking(self._reader, False)
        os.set_blocking(self._writer, False)

    def listen(self, handlers: Iterable[tuple[int, Callable[[int], Event]]]) -> None:
        """Turn signals into events from now on. Only the main thread may call it.

        Args:
            handlers: Signal number, and what makes its event. Signals that were blocked are let through.
        """
        numbers = []
        signal.set_wakeup_fd(self._writer, warn_on_full_buffer=False)
        for number, event in handlers:
            signal.signal(number, self._handler(event))
            numbers.append(number)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, numbers)

    def put(self, kind: str, value: object) -> None:
        """Add an event; any thread may."""
        self._queue.put((kind, value))
        try:
            os.write(self._writer, b"\0")
        except BlockingIOError:
            return  # a full pipe wakes as well

    def get(self, timeout: float | None) -> Event | None:
        """Wait for the next event.

        Args:
            timeout: Seconds to wait; None for as long as it takes.

        Returns:
            The event; None when there is none, which may be before the time is over.
        """
        found = self._next()
        if found is None and select.select([self._reader], [], [], timeout)[0]:
            os.read(self._reader, _CHUNK)
            found = self._next()
        return found

    def _next(self) -> Event | None:
        try:
            return self._queue.get_nowait()
        except Empty:
            return None

    def _handler(self, event: Callable[[int], Event]) -> Callable[[int, FrameType | None], None]:
        def handle(number: int, frame: FrameType | None) -> None:
            self.put(*event(number))

        return handle
