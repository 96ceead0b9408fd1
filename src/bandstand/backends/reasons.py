"""Why a job failed, in at most 1,024 characters."""

from __future__ import annotations

import os
import signal
import stat
from collections.abc import Sequence
from pathlib import Path

from bandstand.backends.backend import HostState
from bandstand.sagemaker_files import MAX_FAILURE, fit_failure

_HINTS = {
    "SIGKILL": "often: the machine ran out of memory",
    "SIGBUS": "often: shared memory or the disk is full",
    "SIGILL": "often: a library was built for another processor",
    "SIGSEGV": "a fault in native code",
}


def failure_reason(host: HostState, failure: Path, tail: Sequence[str], hint: str = "") -> str:
    """Say why a host failed: its own failure file, else the signal, else the exit code and its last lines.

    Args:
        host: The host that failed first.
        failure: Its `/opt/ml/output/failure`.
        tail: Its last log lines.
        hint: A sentence that goes before everything else, or empty.
    """
    own = read_failure(failure)
    if own:
        return fit_failure(f"{hint} {own}" if hint else own)
    if host.signal is not None:
        often = f" ({_HINTS[host.signal]})" if host.signal in _HINTS and not hint else ""
        peak = (
            "" if host.peak_memory is None else f", peak memory of one process {megabytes(host.peak_memory)}"
        )
        text = f"{host.name}: process 1 was ended by {host.signal}{often}{peak}."
    else:
        text = (
            f"{host.name}: process 1 ended with exit code {host.exit_code} "
            "and left no /opt/ml/output/failure."
        )
    if hint:
        text = f"{hint} {text}"
    if tail:
        text += " Last lines: " + " | ".join(line.strip() for line in tail)
    return fit_failure(text)


def read_failure(path: Path) -> str:
    """Return the first 1,024 characters of a failure file; empty if there is none that can be read."""
    try:
        # Not blocking: a script may have left anything under this name, a FIFO too.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return ""
        data = os.read(descriptor, 4 * MAX_FAILURE)
    finally:
        os.close(descriptor)
    return data.decode("utf-8", "replace")[:MAX_FAILURE].strip()


def signal_name(number: int) -> str:
    """Return the name of a signal, also of those that have none of their own."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def megabytes(size: int) -> str:
    """Return a size in bytes as text for people."""
    return f"{size / (1 << 20):,.0f} MiB"
