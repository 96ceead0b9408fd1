"""Loopback addresses for the hosts of a job: 127.a.b.1, 127.a.b.2, ..., with a.b the job's own."""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Callable
from dataclasses import dataclass

PORT = 7777
"""Where the hosts of a job meet at their leader, unless told otherwise."""

_ATTEMPTS = 50
_LAST = 254
_BACKLOG = 512


@dataclass(frozen=True)
class Addresses:
    """The addresses of one job, kept for it while the object lives.

    Args:
        hosts: One address for each host; all are 127.0.0.1 where the machine has no other loopback address.
        port: The port at which the leader listens.
        listener: Bound to the leader's address and listening, so that no other process can be there first.
        claim: Holds the job's block against other jobs, also when nobody listens any more; None without
            blocks.
    """

    hosts: tuple[str, ...]
    port: int
    listener: socket.socket
    claim: socket.socket | None

    def close(self) -> None:
        """Let the addresses go."""
        self.listener.close()
        if self.claim is not None:
            self.claim.close()


def _random_block() -> tuple[int, int]:
    first, second = os.urandom(2)
    return 1 + first % 254, second


def reserve(hosts: int, port: int = PORT, block: Callable[[], tuple[int, int]] = _random_block) -> Addresses:
    """Take a free block of loopback addresses and listen at its first one.

    Args:
        hosts: How many hosts, at most 253.
        port: Where the leader is to listen; another one is taken if some program has it on all addresses.
        block: Gives the next a.b to try.

    Raises:
        OSError: Nothing can be bound on this machine's loopback.
    """
    for attempt in range(_ATTEMPTS):
        # A program that listens on 0.0.0.0:port has the port in every block: then any port must do.
        wanted = port if attempt < _ATTEMPTS // 2 else 0
        first, second = block()
        try:
            return _take(f"127.{first}.{second}", hosts, wanted)
        except OSError as error:
            if error.errno == errno.EADDRNOTAVAIL:
                break
            if error.errno != errno.EADDRINUSE:
                raise
    listener = _bound("127.0.0.1", 0)
    listener.listen(_BACKLOG)
    return Addresses(("127.0.0.1",) * hosts, listener.getsockname()[1], listener, None)


def _take(prefix: str, hosts: int, port: int) -> Addresses:
    claim = _bound(f"{prefix}.{_LAST}", PORT if port else 0)
    try:
        listener = _bound(f"{prefix}.1", port)
    except OSError:
        claim.close()
        raise
    listener.listen(_BACKLOG)
    addresses = tuple(f"{prefix}.{number}" for number in range(1, hosts + 1))
    return Addresses(addresses, listener.getsockname()[1], listener, claim)


def _bound(address: str, port: int) -> socket.socket:
    # Without SO_REUSEADDR: two sockets that set it may both be bound, and nothing would be reserved.
    opened = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        opened.bind((address, port))
    except OSError:
        opened.close()
        raise
    return opened
