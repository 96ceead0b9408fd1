"""A rank's place in Horovod's ring, without Horovod's launcher: variables, and a rendezvous of slots."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from bandstand.training.undisturbed import undisturbed


def slot_variables(
    hosts: Sequence[str], host: str, rank: int, local_rank: int, local_size: int, address: str, port: int
) -> dict[str, str]:
    """The environment that makes this process a rank of Horovod's.

    `horovod/runner/gloo_run.py` of Horovod 0.28.1 sets the same variables, over ssh.

    Args:
        hosts: All hosts, the leader first.
        host: This one.
        rank: From 0, over all hosts.
        local_rank: From 0, on this host.
        local_size: Ranks on each host.
        address: Where the leader's rendezvous listens.
        port: At which port.
    """
    return {
        "HOROVOD_RANK": str(rank),
        "HOROVOD_SIZE": str(len(hosts) * local_size),
        "HOROVOD_LOCAL_RANK": str(local_rank),
        "HOROVOD_LOCAL_SIZE": str(local_size),
        "HOROVOD_CROSS_RANK": str(hosts.index(host)),
        "HOROVOD_CROSS_SIZE": str(len(hosts)),
        "HOROVOD_HOSTNAME": host,
        "HOROVOD_CONTROLLER": "gloo",
        "HOROVOD_CPU_OPERATIONS": "gloo",
        "HOROVOD_GLOO_RENDEZVOUS_ADDR": address,
        "HOROVOD_GLOO_RENDEZVOUS_PORT": str(port),
    }


def start_rendezvous(hosts: Sequence[str], local_size: int, address: str, port: int = 0) -> Any:
    """Start Horovod's own rendezvous in this process.

    Args:
        hosts: All hosts, the leader first.
        local_size: Ranks on each host.
        address: Where the other hosts reach it; empty for every interface.
        port: Which; 0 for any that is free.

    Returns:
        The HTTP server, which serves in a thread.

    Raises:
        OSError: If it cannot listen there.
    """
    from horovod.runner.common.util.hosts import SlotInfo
    from horovod.runner.http.http_server import RendezvousHandler, RendezvousHTTPServer

    server = RendezvousHTTPServer((address, port), RendezvousHandler, 0)
    server.daemon_threads = True
    server.init(
        [
            SlotInfo(
                hostname=host,
                rank=cross * local_size + local,
                local_rank=local,
                cross_rank=cross,
                size=len(hosts) * local_size,
                local_size=local_size,
                cross_size=len(hosts),
            )
            for cross, host in enumerate(hosts)
            for local in range(local_size)
        ]
    )
    with undisturbed():
        threading.Thread(target=server.serve_forever, name="horovod-rendezvous", daemon=True).start()
    return server
