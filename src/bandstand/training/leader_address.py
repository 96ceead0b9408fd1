"""Where the leader of a job can be reached, and by which network interface."""

from __future__ import annotations

import ipaddress
import os
import socket

from bandstand.errors import JobError
from bandstand.host_variables import MEET
from bandstand.training.run import Run


def leader_address(run: Run) -> str:
    """The leader's IP address, as the last host sees it. Collective: every rank of the job calls it.

    Args:
        run: This rank.
    """
    # Another host's view of the leader's address is one at which the leader can be reached.
    views = run.gather((os.environ.get(MEET.name) or "127.0.0.1:0").rpartition(":")[0].strip("[]"))
    return str(views[-1])


def interface_to(address: str) -> str:
    """The network interface by which this host reaches an address: `ethwe`, `eth0`, `lo`.

    Args:
        address: An IP address.

    Raises:
        JobError: If there is no way to it.
    """
    import psutil

    source = _source(address)
    interfaces = {
        name: [entry.address.partition("%")[0] for entry in entries]
        for name, entries in psutil.net_if_addrs().items()
    }
    for name, addresses in interfaces.items():
        if source in addresses:
            return str(name)
    if ipaddress.ip_address(source).is_loopback:  # 127.0.0.2 is local without being any interface's address
        for name, addresses in interfaces.items():
            if {"127.0.0.1", "::1"} & set(addresses):
                return str(name)
    raise JobError(
        f"No network interface of this host has the address {source}, by which it reaches the leader at "
        f"{address}; found: {', '.join(interfaces) or 'none'}."
    )


def _source(address: str) -> str:
    """The address that this host shows to another one; connecting a datagram socket sends nothing."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((address, 9))
        except OSError as error:
            raise JobError(f"This host has no route to the leader at {address}: {error}.") from None
        return str(probe.getsockname()[0])
