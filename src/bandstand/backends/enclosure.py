"""How far a host can be kept apart from this machine: which name spaces the kernel grants."""

from __future__ import annotations

import errno
import os
import socket
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from bandstand.backends import kernel, mounts

SWITCH = "BANDSTAND_NAMESPACES"
"""Environment variable; `off` runs the hosts without name spaces of their own."""


@dataclass(frozen=True)
class Enclosure:
    """The name spaces that each host of a job gets.

    Args:
        files: Own mounts and an own host name: a true `/opt/ml`, and host names that resolve.
        processes: Own process numbers: whatever a host has started ends with its process 1.
        users: An own user name space, which gives the rights for the others where the user has none.
        reason: Why something of the above is missing; empty if nothing is.
    """

    files: bool
    processes: bool
    users: bool
    reason: str = ""

    @property
    def flags(self) -> int:
        """The flags for unshare(2)."""
        flags = kernel.NEW_MOUNTS | kernel.NEW_HOST_NAME if self.files else 0
        flags |= kernel.NEW_PIDS if self.processes else 0
        return flags | (kernel.NEW_USERS if self.users else 0)

    def enter(self) -> None:
        """Move this process into new name spaces; the next child is the first process in them.

        Raises:
            OSError: The kernel refuses.
        """
        user, group = os.geteuid(), os.getegid()
        kernel.unshare(self.flags)
        if self.users:
            _write("/proc/self/setgroups", "deny")
            _write("/proc/self/uid_map", f"{user} {user} 1")
            _write("/proc/self/gid_map", f"{group} {group} 1")

    def arrange(self, name: str, binds: tuple[mounts.Mount, ...]) -> None:
        """Make this process, the first of its name spaces, see its own host name, processes and files.

        Args:
            name: The host's name.
            binds: What it sees in place of the machine's files.

        Raises:
            OSError: The kernel refuses, or something to be shown is missing.
        """
        if self.files:
            mounts.make_private()
            socket.sethostname(name)
        if self.processes:
            mounts.mount_proc()
        if self.files:
            mounts.apply(binds)


def find_enclosure(environ: Mapping[str, str], sample: tuple[mounts.Mount, ...]) -> Enclosure:
    """Find the best enclosure that works here, by trying.

    Args:
        environ: May switch name spaces off.
        sample: Mounts to try it with.
    """
    if sys.platform != "linux":
        return Enclosure(False, False, False, f"{sys.platform} has no name spaces")
    if environ.get(SWITCH, "").lower() == "off":
        return Enclosure(False, False, False, f"{SWITCH}=off")
    users = os.geteuid() != 0
    choices = [Enclosure(True, True, users), Enclosure(True, False, users)]
    if not users:  # root of a container may lack the rights, and get them in a user name space
        choices += [Enclosure(True, True, True), Enclosure(True, False, True)]
    refusals: list[str] = []
    for choice in choices:
        refusal = _try(choice, sample)
        if refusal is None:
            return Enclosure(choice.files, choice.processes, choice.users, "; ".join(refusals[:1]))
        refusals.append(refusal)
    return Enclosure(False, False, False, refusals[0])


def _try(choice: Enclosure, sample: tuple[mounts.Mount, ...]) -> str | None:
    """Enter an enclosure in a process that ends at once; return what went wrong."""

    def inside() -> None:
        choice.arrange("algo-1", sample)

    def outside() -> None:
        choice.enter()
        _in_child(inside)

    try:
        _in_child(outside)
    except OSError as error:
        return str(error.strerror or error)
    return None


def _in_child(action: Callable[[], None]) -> None:
    """Run something in a child; an OSError there is raised here."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            action()
            code = 0
        except OSError as error:
            os.write(writer, f"{error.errno or errno.EPERM} {error.strerror or error}".encode())
        finally:
            os._exit(code)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        fault = pipe.read().decode("utf-8", "replace")
    _, status = os.waitpid(child, 0)
    if status != 0:
        number, _, text = fault.partition(" ")
        raise OSError(
            int(number) if number.isdecimal() else errno.EPERM, text or "the attempt ended without a word"
        )


def _write(path: str, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)
