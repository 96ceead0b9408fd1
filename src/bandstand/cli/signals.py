"""Ctrl-C and other signals while jobs run: the first stops all jobs cleanly, a second Ctrl-C kills them."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import SimpleQueue
from types import FrameType

from bandstand.runs.snapshot import StopFlag

_STOPPING = (
    "{name}: stopping all jobs cleanly; each has {grace:g} s to save its model. Ctrl-C once more kills them."
)
_KILLING = "Killing all jobs."
_LEAVING = "Leaving at once; what still runs is stopped when nobody has renewed its lease for 10 s."
_NAMES = {signal.SIGINT: "Ctrl-C", signal.SIGTERM: "SIGTERM", signal.SIGHUP: "SIGHUP"}


@contextmanager
def leave_on_signals(stop: StopFlag) -> Iterator[None]:
    """Turn signals into the wish to leave while the body runs: the job goes on without whoever watched it.

    A second Ctrl-C leaves by KeyboardInterrupt, should the loop itself be stuck.

    Args:
        stop: What the loop looks at.
    """

    def on_signal(number: int, _frame: FrameType | None) -> None:
        if stop.asked and number == signal.SIGINT:
            raise KeyboardInterrupt
        stop.ask()

    before = {number: signal.signal(number, on_signal) for number in _NAMES}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def stop_on_signals(stop: StopFlag, say: Callable[[str], None], *, grace: float) -> Iterator[None]:
    """Turn signals into stop requests while the body runs.

    The first Ctrl-C, and every SIGTERM or SIGHUP, asks for a clean stop; the second Ctrl-C kills; a third
    leaves by KeyboardInterrupt, should the loop itself be stuck.

    Args:
        stop: What the live loop looks at.
        say: Tells the user a sentence; called from a thread of its own, since a signal handler may interrupt
            a write that is half done.
        grace: Seconds that each job has to end by itself, for the message.
    """
    sentences: SimpleQueue[str | None] = SimpleQueue()
    interrupts = 0

    def on_signal(number: int, _frame: FrameType | None) -> None:
        nonlocal interrupts
        interrupts += number == signal.SIGINT
        if number != signal.SIGINT or interrupts == 1:
            if not stop.asked or number == signal.SIGINT:
                sentences.put(_STOPPING.format(name=_NAMES[signal.Signals(number)], grace=grace))
            stop.ask()
        elif interrupts == 2:
            sentences.put(_KILLING)
            stop.kill()
        else:
            sentences.put(_LEAVING)
            raise KeyboardInterrupt

    def tell_all() -> None:
        while (sentence := sentences.get()) is not None:
            say(sentence)

    before = {number: signal.signal(number, on_signal) for number in _NAMES}
    teller = threading.Thread(target=tell_all, name="signal-teller", daemon=True)
    teller.start()
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        sentences.put(None)
        teller.join()
