"""Signals kept from a library that takes an interrupted system call for a broken connection."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator

_OWN_FAULTS = {
    signal.SIGABRT,
    signal.SIGBUS,
    signal.SIGFPE,
    signal.SIGILL,
    signal.SIGSEGV,
    signal.SIGTRAP,
}


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Keep signals from this thread until the block is over, and for good from threads that start in it.

    While a ring is formed and taken down, its library may take a call that a signal has interrupted (EINTR,
    see signal(7)) for a broken connection; and a signal that a library's own thread takes is heard late.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals() - _OWN_FAULTS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
