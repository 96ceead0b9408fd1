"""What a rank writes: metric lines on stdout, notes for people on stderr."""

from __future__ import annotations

import contextlib
import os
import select
import sys


def note(text: str) -> None:
    """Tell a person something, as one line on stderr."""
    if sys.stderr is None:
        return
    # A closed or broken stderr leaves nobody to tell, and is no reason to end a training job.
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.write(f"bandstand: {text}\n")
        sys.stderr.flush()


def print_line(line: str) -> None:
    """Put one line on stdout with one write, after everything that was printed before it.

    A reader that has gone away does not end the training: that is noted once, and later lines are dropped.

    Args:
        line: The text, with no line break.
    """
    stream = sys.stdout
    if stream is None:
        return
    data = f"{line}\n".encode("utf-8", errors="backslashreplace")
    try:
        stream.flush()
        try:
            descriptor = stream.fileno()
        except OSError:  # io.UnsupportedOperation: a notebook or a test has put its own stream there
            stream.write(f"{line}\n")
            stream.flush()
            return
        _write_all(descriptor, data)
    except BrokenPipeError:
        note("nobody reads stdout any more: metrics are no longer seen; the training goes on.")
        _discard(stream.fileno())


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        try:
            data = data[os.write(descriptor, data) :]
        except BlockingIOError:
            select.select([], [descriptor], [])


def _discard(descriptor: int) -> None:
    # What is still buffered would raise again at exit and turn the exit code into 120.
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)
