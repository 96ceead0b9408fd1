"""How the outside asks a supervisor to end or interrupt its job: a file that stays, and a FIFO that wakes."""

from __future__ import annotations

import errno
import json
import os
from dataclasses import dataclass

from bandstand.backends.job_folder import JobFolder
from bandstand.sagemaker_files import write_atomically


@dataclass(frozen=True)
class StopRequest:
    """All wishes for a job's end, taken together.

    Args:
        grace: Seconds between SIGTERM and SIGKILL; the shortest that anybody asked for.
    """

    grace: float


@dataclass(frozen=True)
class Interruption:
    """A wish that a job lose its hosts and begin again, as with spot instances.

    Args:
        grace: Seconds between SIGTERM and SIGKILL.
        away: Seconds until there is capacity again.
    """

    grace: float
    away: float = 0.0


def request_interruption(folder: JobFolder, interruption: Interruption) -> None:
    """Ask for a job's interruption; counts for its present attempt."""
    write_atomically(folder.interruption, json.dumps(vars(interruption)))
    wake(folder)


def read_interruption(folder: JobFolder) -> Interruption | None:
    """Return what was asked for last."""
    try:
        return Interruption(**json.loads(folder.interruption.read_bytes()))
    except FileNotFoundError:
        return None


def request_stop(folder: JobFolder, grace: float) -> None:
    """Ask for a job's end; seen by its supervisor within milliseconds, or when it has started."""
    earlier = read_request(folder)
    shortest = grace if earlier is None else min(grace, earlier.grace)
    write_atomically(folder.stop, json.dumps({"grace": shortest}))
    wake(folder)


def read_request(folder: JobFolder) -> StopRequest | None:
    """Return what was asked for so far."""
    try:
        request = json.loads(folder.stop.read_bytes())
    except FileNotFoundError:
        return None
    return StopRequest(float(request["grace"]))


def wake(folder: JobFolder) -> None:
    """Have the supervisor look at once; it looks every second anyway."""
    try:
        descriptor = os.open(folder.control, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        # nobody listens (yet), or a file system without FIFOs
        if error.errno not in (errno.ENXIO, errno.ENOENT):
            raise
        return
    try:
        os.write(descriptor, b"!")
    except BlockingIOError:
        return  # so many wishes that it is awake for sure
    finally:
        os.close(descriptor)


def listen(folder: JobFolder) -> int | None:
    """Open the supervisor's end of the FIFO; None where the file system has none."""
    try:
        # For writing too: so it never comes to an end, whoever opens and closes it.
        return os.open(folder.control, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.ENXIO, errno.EOPNOTSUPP):
            raise
        return None
