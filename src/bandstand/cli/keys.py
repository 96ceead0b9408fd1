"""Typed keys while a table is drawn in place: the terminal does not show them, so they cannot break it."""

from __future__ import annotations

import os
import signal
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager

_LOCAL_MODES = 3
"""Where the local modes, of which the echo is one, stand in what `tcgetattr` gives."""


@contextmanager
def keys_unseen() -> Iterator[None]:
    """Switch the terminal's echo off while the body runs; Ctrl-C and Ctrl-Z work as ever.

    Nothing is done where standard input is no terminal, or belongs to another job of the shell at the time.
    """
    try:
        terminal = sys.stdin.fileno()
        before = termios.tcgetattr(terminal) if _in_front(terminal) else None
    except (OSError, ValueError, termios.error):
        before = None
    if before is None:
        yield
        return
    quiet = before[:]
    quiet[_LOCAL_MODES] &= ~termios.ECHO
    _set(terminal, quiet)
    try:
        yield
    finally:
        _set(terminal, before)


def _in_front(terminal: int) -> bool:
    """Tell whether this process is in the foreground of its terminal."""
    return os.isatty(terminal) and os.tcgetpgrp(terminal) == os.getpgrp()


def _set(terminal: int, modes: list[int | list[bytes | int]]) -> None:
    try:
        if not _in_front(terminal):
            return
        # Should the shell take the terminal in this very moment, that must not stop this process.
        handler = signal.signal(signal.SIGTTOU, signal.SIG_IGN)
        try:
            termios.tcsetattr(terminal, termios.TCSADRAIN, modes)
        finally:
            signal.signal(signal.SIGTTOU, handler)
    except (OSError, termios.error):
        return  # The terminal is gone; there is nothing left to break.
