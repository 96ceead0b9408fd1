"""`python -m bandstand.training.under_mpirun SCRIPT ...`: a rank whose script expects mpirun, for Horovod.

Horovod needs no MPI: told its place and a rendezvous, `hvd.init()` forms the ring by Gloo. So a script that
knows nothing of Bandstand trains over all hosts, without ssh.
"""

from __future__ import annotations

import os
import runpy
import socket
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from bandstand.errors import JobError
from bandstand.host_variables import RING_PORT, START_TIMEOUT
from bandstand.training.horovod_slots import slot_variables, start_rendezvous
from bandstand.training.leader_address import interface_to
from bandstand.training.surroundings import Surroundings, look_around

_LOOK_AGAIN = 0.02
_START_SECONDS = 600.0


def prepare(at: Surroundings) -> object:
    """Let `hvd.init()` find its place; returns what has to live for as long as the ring.

    Args:
        at: This rank's surroundings.

    Raises:
        JobError: Horovod is not installed, or its rendezvous cannot be had.
    """
    address, port = os.environ["MASTER_ADDR"], int(os.environ[RING_PORT.name])
    server = None
    if at.cluster.index == 0 and len(at.cluster.hosts) > 1 and address == "127.0.0.1":
        address = _seen_by_others(at.cluster.current_host)
    if at.rank == 0:
        try:
            server = start_rendezvous(at.cluster.hosts, at.local_size, address, port)
        except ModuleNotFoundError as error:
            raise JobError(
                f"The job asks for mpirun, which Bandstand stands in for with Horovod, and {error.name} is"
                " not installed. Install horovod, or take the distribution out and begin with"
                " bandstand.start()."
            ) from None
        except OSError as error:
            raise JobError(
                f"Horovod's rendezvous cannot listen at {address}, port {port}: {error}."
            ) from None
    else:
        _wait_for(address, port, float(os.environ.get(START_TIMEOUT.name) or _START_SECONDS))
    slot = slot_variables(
        at.cluster.hosts, at.cluster.current_host, at.rank, at.local_rank, at.local_size, address, port
    )
    os.environ.update(slot)
    os.environ.setdefault("HOROVOD_GLOO_IFACE", interface_to(address))
    return server


def _seen_by_others(host: str) -> str:
    """The address of a leader that listens at all of its own, by its name.

    Raises:
        JobError: It has none.
    """
    try:
        return str(socket.gethostbyname(host))
    except OSError as error:
        raise JobError(f"The name {host} of this host has no address: {error}.") from None


def _wait_for(address: str, port: int, seconds: float) -> None:
    """Wait until the leader's rendezvous listens."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            socket.create_connection((address, port), timeout=seconds).close()
        except OSError as error:
            if time.monotonic() >= deadline:
                raise JobError(
                    f"Horovod's rendezvous at {address}, port {port}, did not come within {seconds:g} s:"
                    f" {error}."
                ) from None
            time.sleep(_LOOK_AGAIN)
        else:
            return


def main(words: Sequence[str]) -> NoReturn:
    """Run a script as Python itself would.

    Args:
        words: The script and its arguments.
    """
    script = words[0]
    try:
        server = prepare(look_around(os.environ))
    except JobError as error:
        sys.exit(str(error))  # without a prefix, as the program's own last words
    sys.argv = list(words)
    sys.path.insert(0, str(Path(script).parent))
    runpy.run_path(script, run_name="__main__")
    del server
    sys.exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
