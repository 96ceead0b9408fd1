"""Horovod's ring without its launcher: slots, rendezvous and network interface come from the job."""

from __future__ import annotations

import os
from typing import Any

from bandstand.errors import JobError
from bandstand.training.gradient_transport import LostRingError
from bandstand.training.horovod_slots import slot_variables, start_rendezvous
from bandstand.training.leader_address import interface_to, leader_address
from bandstand.training.run import Run
from bandstand.training.undisturbed import undisturbed

GRACE_SECONDS = 60
"""What Gloo waits longer than we do, so that it is ours that tells who is missing."""

_SHUT_DOWN = "Horovod has been shut down"


class HorovodTransport:
    """Horovod, initialized. Implements `Transport`.

    Args:
        server: The leader's rendezvous, which lives as long as this; None on the other ranks.
    """

    name = "horovod"

    def __init__(self, server: Any) -> None:
        import horovod.torch as hvd

        self._hvd = hvd
        self._server = server

    def sum(self, tensor: Any) -> None:
        """Replace a tensor by its sum over all ranks.

        Horovod remembers what it has agreed on by name, so calls of the same kind share one.
        """
        try:
            self._hvd.allreduce_(tensor, op=self._hvd.Sum, name=_name("sum", tensor))
        except self._hvd.HorovodInternalError as error:
            raise LostRingError(_plain(error)) from None

    def broadcast(self, tensor: Any) -> None:
        """Replace a tensor by the leader's."""
        try:
            self._hvd.broadcast_(tensor, root_rank=0, name=_name("broadcast", tensor))
        except self._hvd.HorovodInternalError as error:
            raise LostRingError(_plain(error)) from None

    def close(self) -> None:
        """Leave Horovod; the leader's rendezvous ends when the process does."""
        with undisturbed():
            self._hvd.shutdown()


def join_horovod(run: Run, stall_seconds: float) -> HorovodTransport:
    """Form Horovod's ring over Gloo. Collective: every rank of the job calls it.

    Args:
        run: This rank.
        stall_seconds: How long a rank may stay away from a collective.

    Raises:
        JobError: If it cannot be formed.
    """
    address = leader_address(run)
    server, reply = None, {}
    if run.is_leader:
        try:
            server = start_rendezvous(run.hosts, run.local_size, address)
            reply = {"port": server.server_address[1]}
        except OSError as error:
            reply = {"fault": str(error)}
    reply = run.broadcast(reply)
    if "fault" in reply:
        raise JobError(f"Horovod's rendezvous cannot listen at {address}: {reply['fault']}.")
    for name, text in horovod_variables(run, address, reply["port"], stall_seconds).items():
        if name in _CHOICES:
            os.environ.setdefault(name, text)
        else:
            os.environ[name] = text
    import horovod.torch as hvd

    with undisturbed():
        try:
            hvd.init()
        except (RuntimeError, ValueError) as error:
            raise JobError(f"Horovod's ring cannot be formed: {error}.") from None
    return HorovodTransport(server)


_CHOICES = frozenset({"HOROVOD_LOG_LEVEL", "HOROVOD_GLOO_IFACE"})
"""What a user may set; the rest is the job's to know."""


def horovod_variables(run: Run, address: str, port: int, stall_seconds: float) -> dict[str, str]:
    """The environment that makes this process a rank of the job's ring.

    Args:
        run: This rank.
        address: Where the leader's rendezvous listens.
        port: At which port.
        stall_seconds: How long a rank may stay away from a collective.
    """
    return {
        **slot_variables(run.hosts, run.host, run.rank, run.local_rank, run.local_size, address, port),
        "HOROVOD_GLOO_IFACE": interface_to(address),
        "HOROVOD_GLOO_TIMEOUT_SECONDS": str(round(stall_seconds) + GRACE_SECONDS),
        "HOROVOD_STALL_CHECK_DISABLE": "1",  # ours names the missing ranks and ends the job
        "HOROVOD_LOG_LEVEL": "fatal",  # its errors arrive as exceptions; the log would tell them once more
    }


def _name(operation: str, tensor: Any) -> str:
    return f"{operation}.{tensor.dtype}.{tensor.numel()}"


def _plain(error: Exception) -> str:
    """What Horovod's error says; of a shutdown it tells every possible cause at length."""
    text = " ".join(str(error).split())
    return (
        "Horovod was shut down, as it is when a rank ends"
        if text.startswith(_SHUT_DOWN)
        else text.rstrip(".")
    )
