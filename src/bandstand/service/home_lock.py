"""The lock by which a service has a home to itself; it says where the service is."""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bandstand.errors import InputError, PlatformError
from bandstand.runs.record import unusable

LOCK = "service.lock"
"""The file below the home that the service keeps locked; it says who has it."""

_PORT = re.compile(rb"http://[^:/]+:(\d+)")


@contextmanager
def own(home: Path) -> Iterator[int]:
    """Keep the home's lock; the kernel drops it with the process, however that ends.

    Args:
        home: The folder that holds all state.

    Raises:
        InputError: Another service has it.
        PlatformError: The home cannot be used.
    """
    path = home / LOCK
    try:
        lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise PlatformError(unusable(home, error)) from error
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            other = path.read_text(encoding="utf-8").strip() or "another process"
            raise InputError(
                f"The home {home} has a service already: {other}. Use that one, stop it, or name another"
                " folder with --home or BANDSTAND_HOME."
            ) from None
        yield lock
    finally:
        os.close(lock)


def last_port(lock: int) -> int:
    """The port of the service that signed last, which jobs that still run know; 0 where there was none.

    Args:
        lock: The lock's open file.
    """
    found = _PORT.match(os.pread(lock, 100, 0))
    return int(found[1]) if found else 0


def sign(lock: int, url: str) -> None:
    """Write where the service is, and which process it is.

    Args:
        lock: The lock's open file, which this process keeps locked.
        url: The service's address.
    """
    os.ftruncate(lock, 0)
    os.pwrite(lock, f"{url}, process {os.getpid()}\n".encode(), 0)


def serves(home: Path, port: int) -> bool:
    """Whether a service that has this home listens on a port.

    Args:
        home: The folder that holds all state.
        port: A port of this machine.
    """
    try:
        lock = os.open(home / LOCK, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        if last_port(lock) != port:
            return False
        # Those that are over have signed, too: only who still runs keeps the lock.
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return False
    except BlockingIOError:
        return True
    finally:
        os.close(lock)
