"""The way from a job's containers to the service, which listens on loopback only.

A process of the job's own listens at the address that this machine has in the job's network, says whose it is
and passes on what the job's containers send. It ends with the job's supervisor, however that ends.
"""

from __future__ import annotations

import asyncio
import ipaddress
import os
import signal
import socket
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from bandstand.backends.forked import leave_after

PREFACE = b"BANDSTAND-RELAY "
"""What a relay says before the first byte that it passes on; the job's name and a line end follow."""

_CHUNK = 1 << 16


@dataclass(frozen=True)
class Neighbourhood:
    """A network of containers, as this machine sees it.

    Args:
        gateway: This machine's own address in it.
        subnet: All of its addresses.
    """

    gateway: str
    subnet: ipaddress.IPv4Network

    @classmethod
    def of(cls, network: Mapping[str, Any]) -> Neighbourhood:
        """Read what the engine says about a network (NetworkInspect of its API).

        Raises:
            OSError: The network has no gateway with an address of IPv4.
        """
        for part in network.get("IPAM", {}).get("Config") or ():
            gateway, subnet = part.get("Gateway", ""), part.get("Subnet", "")
            if "." in gateway and "." in subnet:
                return cls(gateway.split("/")[0], ipaddress.IPv4Network(subnet, strict=False))
        raise OSError("the job's network has no gateway with an address of IPv4")

    def holds(self, address: str) -> bool:
        """Whether an address is that of a container in it: not this machine's own, nor one from elsewhere."""
        return address != self.gateway and ipaddress.ip_address(address) in self.subnet


class Relay:
    """Passes on what the containers of one job ask the service for, until it is closed.

    Args:
        place: The job's network.
        service: The address that the service listens at.
        job: The job's name.

    Raises:
        OSError: The gateway's address is none of this machine: the engine has a machine of its own.
    """

    def __init__(self, place: Neighbourhood, service: str, job: str) -> None:
        listener = socket.create_server((place.gateway, 0))
        self.url = f"http://{place.gateway}:{listener.getsockname()[1]}"
        life, self._life = os.pipe()
        sys.stderr.flush()
        if os.fork() == 0:
            leave_after(partial(_serve, _Passing(place, service, job), listener, life))
        os.close(life)
        listener.close()

    def close(self) -> None:
        """Let the process go; it notices at once."""
        os.close(self._life)


@dataclass(frozen=True)
class _Passing:
    place: Neighbourhood
    service: str
    job: str

    async def run(self, listener: socket.socket, life: int) -> None:
        """Serve until nobody holds the other end of a pipe any more."""
        over = asyncio.Event()
        asyncio.get_running_loop().add_reader(life, over.set)
        await asyncio.start_server(self._join, sock=listener)
        await over.wait()

    async def _join(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Pass a connection on, both ways, until there is nothing more to come from the service."""
        there = urlsplit(self.service)
        if not self.place.holds(writer.get_extra_info("peername")[0]):
            writer.transport.abort()
            return
        try:
            far_reader, far_writer = await asyncio.open_connection(there.hostname, there.port)
        except OSError:  # the service is not there just now: clients try again
            writer.transport.abort()
            return
        far_writer.write(PREFACE + self.job.encode() + b"\r\n")
        asking = asyncio.ensure_future(_pass(reader, far_writer))
        await _pass(far_reader, writer)
        asking.cancel()
        far_writer.close()
        writer.close()


async def _pass(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Pass on what is said one way; who says no more may still be waiting for an answer."""
    try:
        while data := await reader.read(_CHUNK):
            writer.write(data)
            await writer.drain()
        writer.write_eof()
    except OSError:  # an end that is gone ends the way, and what is to be said the other way
        writer.transport.abort()


def _serve(passing: _Passing, listener: socket.socket, life: int) -> None:
    """Serve, as a process that keeps nothing open of the supervisor's: not its lock, above all."""
    for number in (signal.SIGTERM, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    kept = sorted((2, listener.fileno(), life))
    for below, above in zip(kept, (*kept[1:], os.sysconf("SC_OPEN_MAX")), strict=True):
        os.closerange(below + 1, above)
    asyncio.run(passing.run(listener, life))
