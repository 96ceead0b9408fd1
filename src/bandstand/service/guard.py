"""Who may talk to the service: programs of its own user, on this machine, and no web page of somebody else's.

The service runs programs, so a request that comes from elsewhere must not reach it. A connection is of its
user's when the kernel says so; a browser tells in `Host`, `Origin` and `Sec-Fetch-Site` whose page asks.
"""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Iterable
from pathlib import Path

from bandstand.service.protocol import ServiceError

LOCAL_NAMES = ("127.0.0.1", "localhost", "[::1]")
"""What a request may call this machine; names below `localhost` are its buckets."""

TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
"""Where Linux lists connections with the user of each end."""

RELAYED = "bandstand.relayed"
"""Where the state of a connection names the job whose containers it comes from, through their relay."""

Header = tuple[bytes, bytes]


def can_tell_users() -> bool:
    """Whether this system says whose a connection is."""
    return TABLES[0].exists()


def is_own(client: tuple[str, int], server: tuple[str, int]) -> bool:
    """Whether the other end of a connection is a process of this user.

    Args:
        client: Address and port of the other end.
        server: Address and port of this end.

    Returns:
        True also where the system cannot tell.
    """
    if not can_tell_users():
        return True
    near, far = _entry(*client), _entry(*server)
    for table, wanted in zip(TABLES, ((near, far), (_mapped(near), _mapped(far))), strict=True):
        try:
            lines = table.read_bytes().splitlines()
        except FileNotFoundError:
            continue
        for line in lines:
            fields = line.split(maxsplit=8)
            if len(fields) > 7 and (fields[1], fields[2]) == wanted:
                return int(fields[7]) == os.getuid()
    return False


def check_local(headers: Iterable[Header], port: int) -> None:
    """Refuse a request that is not of this machine's own programs, or of the service's own pages.

    Args:
        headers: Names in lower case, and values.
        port: The service's own.

    Raises:
        ServiceError: The request comes from elsewhere.
    """
    for name, value in headers:
        text = value.decode("latin-1")
        if name == b"host" and not _is_local(text):
            raise _refused(f"is for the host {text!r}; expected 127.0.0.1 or localhost")
        if name == b"origin" and text not in {f"http://{local}:{port}" for local in LOCAL_NAMES}:
            raise _refused(f"comes from a page of {text!r}; only pages of this service may ask it")
        if name == b"sec-fetch-site" and text not in ("same-origin", "none"):
            raise _refused(f"comes from another site's page ({text}); only pages of this service may ask it")


def _refused(why: str) -> ServiceError:
    return ServiceError("AccessDeniedException", f"The request {why}.", 403)


def _is_local(host: str) -> bool:
    name = host.rsplit(":", 1)[0] if not host.endswith("]") else host
    name = name.lower().rstrip(".")
    return name in LOCAL_NAMES or name.endswith(".localhost")


def _entry(address: str, port: int) -> bytes:
    """An end of a connection as the kernel's table writes it: words in the machine's byte order."""
    (word,) = struct.unpack("=I", socket.inet_aton(address))
    return f"{word:08X}:{port:04X}".encode()


def _mapped(entry: bytes) -> bytes:
    """The same end where it is written as an IPv6 address."""
    (word,) = struct.unpack("=I", struct.pack(">I", 0xFFFF))
    return b"0" * 16 + f"{word:08X}".encode() + entry
