"""torch's own ring, over Gloo or NCCL, for images without Horovod."""

from __future__ import annotations

import os
from datetime import timedelta
from typing import Any

from bandstand.errors import JobError
from bandstand.training.gradient_transport import LostRingError
from bandstand.training.leader_address import interface_to, leader_address
from bandstand.training.run import Run
from bandstand.training.undisturbed import undisturbed

GRACE_SECONDS = 60.0
"""What Gloo waits longer than we do, so that it is ours that tells who is missing."""


class TorchTransport:
    """`torch.distributed`, initialized. Implements `Transport`."""

    name = "torch"

    def __init__(self) -> None:
        import torch.distributed as dist

        self._dist = dist

    def sum(self, tensor: Any) -> None:
        """Replace a tensor by its sum over all ranks."""
        try:
            self._dist.all_reduce(tensor)
        except RuntimeError as error:
            raise LostRingError(_plain(error)) from None

    def broadcast(self, tensor: Any) -> None:
        """Replace a tensor by the leader's."""
        try:
            self._dist.broadcast(tensor, src=0)
        except RuntimeError as error:
            raise LostRingError(_plain(error)) from None

    def close(self) -> None:
        """Leave the process group."""
        with undisturbed():
            self._dist.destroy_process_group()


def join_torch(run: Run, stall_seconds: float, device: Any) -> TorchTransport:
    """Form torch's ring. Collective: every rank of the job calls it.

    Args:
        run: This rank.
        stall_seconds: How long a rank may stay away from a collective.
        device: Where tensors will be.

    Raises:
        JobError: If it cannot be formed.
    """
    import torch.distributed as dist

    address = leader_address(run)
    os.environ.setdefault("GLOO_SOCKET_IFNAME", interface_to(address))
    timeout = timedelta(seconds=stall_seconds + GRACE_SECONDS)
    store, reply = None, {}
    with undisturbed():
        try:
            if run.is_leader:
                store = dist.TCPStore(
                    address, 0, run.world_size, is_master=True, timeout=timeout, wait_for_workers=False
                )
                reply = {"port": store.port}
        except RuntimeError as error:
            reply = {"fault": _plain(error)}
        reply = run.broadcast(reply)
        if "fault" in reply:
            raise JobError(f"torch's rendezvous cannot listen at {address}: {reply['fault']}.")
        try:
            if store is None:
                store = dist.TCPStore(
                    address, reply["port"], run.world_size, is_master=False, timeout=timeout
                )
            backend = "nccl" if device.type == "cuda" else "gloo"
            dist.init_process_group(
                backend, store=store, rank=run.rank, world_size=run.world_size, timeout=timeout
            )
        except RuntimeError as error:
            raise JobError(f"torch's ring cannot be formed: {_plain(error)}.") from None
    return TorchTransport()


def _plain(error: Exception) -> str:
    """The first line without the place in torch's source: `[.../pair.cc:538] Connection closed by peer`."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    text = lines[0]
    if text.startswith("["):
        text = text.partition("] ")[2] or text
    return " ".join(text.split()).rstrip(".")
