"""The ranks that train one PyTorch model together: gradients go around a ring, Horovod's or torch's own.

    from bandstand.training.gradient_ring import join_gradient_ring
    from bandstand.training.gradients import Gradients

    run = bandstand.start()
    with join_gradient_ring(run) as ring:
        model = build().to(ring.device)
        ring.broadcast_model(model)                  # all ranks begin with the leader's weights
        gradients = Gradients(ring, model)
        ...
        gradients.clear()
        (loss_of_my_rows.sum() / rows_of_all_ranks).backward()
        stop = gradients.sum(run.stopping)           # the mean over all rows; True on all ranks at once
        optimizer.step()

There is no ssh, no mpirun and no launcher: each host has started its own ranks.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any, Literal

from bandstand.errors import InputError, JobError
from bandstand.training.gradient_transport import LostRingError, Transport
from bandstand.training.lost_ranks import await_reason
from bandstand.training.output import note
from bandstand.training.run import Run
from bandstand.training.stall_watch import StallWatch, leave_stalled

Kind = Literal["auto", "horovod", "torch"]
"""Whose ring: `auto` is Horovod's where it is installed, else torch's own."""

STALL_SECONDS = 300.0
"""How long a rank waits for another one in a collective before the job is given up."""


class GradientRing:
    """The ranks of a job, seen from one of them, with tensors to exchange.

    Args:
        run: This rank.
        transport: Moves the tensors; None for a job of one rank.
        device: Where this rank's model lives: a GPU of its own, or the processor.
        watch: Watches the collectives; None for no limit.
    """

    def __init__(
        self, run: Run, transport: Transport | None, device: Any, watch: StallWatch | None = None
    ) -> None:
        self.device = device
        self.position = run.rank
        self.size = run.world_size
        self._transport = transport
        self._watched = watch.collective if watch is not None else contextlib.nullcontext

    @property
    def kind(self) -> str:
        """`horovod`, `torch`, or `alone` for a job of one rank."""
        return self._transport.name if self._transport is not None else "alone"

    def sum(self, tensor: Any) -> None:
        """Replace a tensor by its sum over all ranks, the same bits on every rank. Collective.

        Args:
            tensor: Contiguous, on `device`, of the same shape and type on every rank.
        """
        if self._transport is not None:
            with self._watched():
                self._transport.sum(tensor)

    def broadcast(self, tensor: Any) -> None:
        """Replace a tensor by the leader's. Collective.

        Args:
            tensor: Contiguous, on `device`, of the same shape and type on every rank.
        """
        if self._transport is not None:
            with self._watched():
                self._transport.broadcast(tensor)

    def broadcast_model(self, model: Any) -> None:
        """Give every rank the leader's parameters and buffers. Collective.

        Args:
            model: A `torch.nn.Module`, built alike on every rank.
        """
        for tensor in model.state_dict().values():
            whole = tensor.detach().contiguous()
            self.broadcast(whole)
            tensor.detach().copy_(whole)

    def broadcast_state(self, state: Any = None) -> Any:
        """Give every rank a copy of the leader's state: tensors, numbers, texts, mappings. Collective.

        Args:
            state: Only the leader's counts. It travels as `torch.save` writes it, and is read with
                `weights_only=True`, which runs nothing.
        """
        import torch

        buffer = io.BytesIO()
        if self.position == 0:
            torch.save(state, buffer)
        length = torch.tensor([buffer.tell()], dtype=torch.int64, device=self.device)
        self.broadcast(length)
        content = torch.zeros(int(length), dtype=torch.uint8, device=self.device)
        if self.position == 0:
            content.copy_(torch.frombuffer(buffer.getbuffer(), dtype=torch.uint8))
        self.broadcast(content)
        written = io.BytesIO(content.cpu().numpy().tobytes())
        return torch.load(written, map_location=self.device, weights_only=True)


@contextlib.contextmanager
def join_gradient_ring(
    run: Run, kind: Kind = "auto", stall_seconds: float = STALL_SECONDS
) -> Iterator[GradientRing]:
    """Form the ring of all ranks and be in it for a `with` block. Collective: every rank of the job calls it.

    Each rank gets a GPU of its own where the host has one for each of its ranks. If a rank dies, the others
    leave the job within seconds, and the reason of its failure is that of the rank. If a rank does not enter
    a collective that others have entered, the job fails with its name.

    Args:
        run: This rank.
        kind: Whose ring.
        stall_seconds: How long ranks wait for each other in a collective.

    Yields:
        The ring.

    Raises:
        InputError: If what `kind` asks for is not installed.
        JobError: If the ring cannot be formed, or a collective has failed on every rank.
    """
    chosen = choose_kind(run, kind)
    device = choose_device(run)
    transport = watch = None
    try:
        if run.world_size > 1:
            transport = _start(run, chosen, stall_seconds, device)
            watch = StallWatch(stall_seconds, lambda: leave_stalled(run, stall_seconds))
        ring = GradientRing(run, transport, device, watch)
        if run.is_leader:
            note(_described(ring, run, kind))
        yield ring
        if transport is not None:
            run.barrier()  # who leaves first would break the collectives of the others
            transport.close()
            run.barrier()
    except LostRingError as error:
        # A rank that has died is told by its host; the leader knows, and ends this rank here.
        note(f"the ring is broken ({error}); waiting for the reason.")
        await_reason(run, str(error))
        raise JobError(f"The ring is broken on every rank: {error}.") from None
    finally:
        if watch is not None:
            watch.close()


def choose_kind(run: Run, kind: Kind) -> Literal["horovod", "torch"]:
    """Whose ring it is, the same on all ranks. Collective.

    Raises:
        InputError: If it is not installed on every host.
    """
    found = run.gather([find_spec("torch") is not None, find_spec("horovod") is not None])
    hosts = [host for host in run.hosts for _ in range(run.local_size)]
    without_torch = list(dict.fromkeys(host for host, have in zip(hosts, found, strict=True) if not have[0]))
    without = list(dict.fromkeys(host for host, have in zip(hosts, found, strict=True) if not have[1]))
    if without_torch:
        raise InputError(
            f"PyTorch is not installed on {', '.join(without_torch)}. Install the extra 'torch' of "
            "Bandstand, or run in its image."
        )
    if kind == "horovod" and without:
        raise InputError(
            f"Horovod is not installed on {', '.join(without)}. Build it with `make horovod-wheel`, run in "
            "the image, or train with ring=torch, which gives the same weights."
        )
    return "torch" if kind == "torch" or without else "horovod"


def choose_device(run: Run) -> Any:
    """This rank's GPU if its host has one for each rank, else the processor, with the threads it may use."""
    import torch

    if torch.cuda.is_available() and torch.cuda.device_count() >= run.local_size:
        device = torch.device("cuda", run.local_rank)
        torch.cuda.set_device(device)
        return device
    torch.set_num_threads(run.threads)
    return torch.device("cpu")


def _start(run: Run, kind: str, stall_seconds: float, device: Any) -> Transport:
    if kind == "horovod":
        from bandstand.training.gradient_ring_horovod import join_horovod

        return join_horovod(run, stall_seconds)
    from bandstand.training.gradient_ring_torch import join_torch

    return join_torch(run, stall_seconds, device)


def _described(ring: GradientRing, run: Run, asked: Kind) -> str:
    import torch

    rather = ""
    if asked == "auto" and ring.kind == "torch":
        rather = " (Horovod is not installed on every host; the weights are the same)"
    if ring.kind == "alone":
        return f"one rank on {ring.device}, torch {torch.__version__}; nobody to exchange gradients with."
    return (
        f"gradients are summed around {ring.kind}'s ring{rather}: {ring.size} ranks on {len(run.hosts)} "
        f"hosts, {run.local_size} each, on {ring.device.type}, torch {torch.__version__}."
    )
