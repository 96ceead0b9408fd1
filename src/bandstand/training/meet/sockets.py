"""TCP sockets of the rendezvous."""

from __future__ import annotations

import contextlib
import os
import socket
import stat

from bandstand.errors import PlatformError

_BACKLOG = 128
_OPTIONS = (("TCP_KEEPIDLE", 5), ("TCP_KEEPINTVL", 5), ("TCP_KEEPCNT", 3), ("TCP_USER_TIMEOUT", 20_000))


def set_options(sock: socket.socket) -> None:
    """Send at once, and notice within some 20 s that the other machine has gone."""
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _OPTIONS:
        if hasattr(socket, name):
            sock.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


def listen(address: str, port: int) -> socket.socket:
    """A listening socket.

    Args:
        address: Where; empty for every interface.
        port: Which; 0 for any that is free.

    Raises:
        PlatformError: If it cannot be had.
    """
    try:
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        return socket.create_server((address, port), family=family, backlog=_BACKLOG)
    except OSError as error:
        raise PlatformError(
            f"The leader cannot listen on {address or 'any address'}, port {port}: "
            f"{error.strerror or error}. Set BANDSTAND_PORT to a port that is free on the first host, the "
            "same on all hosts."
        ) from None


def free_ports(count: int) -> list[int]:
    """Ports at which no program of this host listens, for those that cannot be handed a socket.

    Nothing keeps them free: another program may take one before it is used.

    Raises:
        OSError: If there are none.
    """
    with contextlib.ExitStack() as stack:
        taken = [stack.enter_context(socket.create_server(("", 0))) for _ in range(count)]
        return [each.getsockname()[1] for each in taken]


def adopt(descriptor: int) -> socket.socket:
    """A listening socket that the parent process has opened; this process's children do not inherit it.

    Raises:
        PlatformError: If the descriptor is no listening socket.
    """
    try:
        if not stat.S_ISSOCK(os.fstat(descriptor).st_mode):
            raise OSError("it is no socket")
        os.set_inheritable(descriptor, False)
        sock = socket.socket(fileno=descriptor)
        if not sock.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
            sock.detach()
            raise OSError("it does not listen")
    except OSError as error:
        raise PlatformError(
            f"BANDSTAND_LISTEN_FD is {descriptor}, which is no listening socket: {error}. Pass a socket that "
            "listens and is inheritable, or leave the variable out."
        ) from None
    return sock
