"""The few Linux system calls that Python's standard library does not offer: unshare, mount, umount, prctl."""

from __future__ import annotations

import ctypes
import os
import signal

NEW_MOUNTS = 0x00020000
NEW_HOST_NAME = 0x04000000
NEW_USERS = 0x10000000
NEW_PIDS = 0x20000000

READ_ONLY = 0x1
NO_SETUID = 0x2
NO_DEVICES = 0x4
NO_EXECUTION = 0x8
REMOUNT = 0x20
BIND = 0x1000
RECURSIVE = 0x4000
PRIVATE = 0x40000

_SET_PARENT_DEATH_SIGNAL = 1
_SET_CHILD_SUBREAPER = 36

_libc = ctypes.CDLL(None, use_errno=True)


def unshare(flags: int) -> None:
    """Give this process name spaces of its own; raises OSError."""
    _check(_libc.unshare(flags), f"unshare({flags:#x})")


def mount(source: str, target: str, kind: str, flags: int, options: str = "") -> None:
    """Mount a file system, bind a folder or change a mount, see mount(2); raises OSError."""
    _check(
        _libc.mount(
            os.fsencode(source), os.fsencode(target), kind.encode(), ctypes.c_ulong(flags), options.encode()
        ),
        f"mount of {source} on {target}",
    )


def die_with_parent(death: signal.Signals = signal.SIGKILL) -> None:
    """Have the kernel send a signal to this process when its parent dies; raises OSError."""
    _check(_libc.prctl(_SET_PARENT_DEATH_SIGNAL, int(death), 0, 0, 0), "prctl(PR_SET_PDEATHSIG)")


def adopt_orphans() -> None:
    """Become the parent of descendants whose own parent dies; raises OSError."""
    _check(_libc.prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0), "prctl(PR_SET_CHILD_SUBREAPER)")


def _check(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
