"""Allreduce and training steps: Horovod's ring, torch's own, and torch's DDP, in the same processes.

python -m benchmarks.programs.ring_steps WORKERS REPEAT     prints seconds by name as one JSON line
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

from benchmarks.programs.bare_horovod import start_workers

SIZES = {"16 KiB": 4 << 10, "1 MiB": 1 << 18, "32 MiB": 8 << 20}
"""Numbers of 4 bytes."""
MODELS = {"784-128-10": [784, 128, 10], "784-1024-1024-10": [784, 1024, 1024, 10]}
ROWS = 64
STORE = "BANDSTAND_BENCH_STORE"


def main(words: list[str]) -> int:
    if "HOROVOD_RANK" in os.environ:
        measure(int(words[1]))
        return 0
    import torch.distributed as dist

    store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
    os.environ[STORE] = str(store.port)
    return start_workers(int(words[0]), [sys.executable, "-m", "benchmarks.programs.ring_steps", *words])


def measure(repeat: int) -> None:
    """Time every side in turn, `repeat` times; the first rank prints."""
    import horovod.torch as hvd
    import torch
    import torch.distributed as dist

    from bandstand.training.gradient_ring_horovod import HorovodTransport
    from bandstand.training.gradient_ring_torch import TorchTransport

    hvd.init()
    torch.set_num_threads(1)
    rank, size = hvd.rank(), hvd.size()
    store = dist.TCPStore("127.0.0.1", int(os.environ[STORE]), is_master=False)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=size)
    transports = {"Horovod": HorovodTransport(None), "torch gloo": TorchTransport()}
    sides: dict[str, tuple[Callable[[], object], int]] = {}
    for name, numbers in SIZES.items():
        for kind, transport in transports.items():
            tensor = torch.ones(numbers)
            sides[f"{kind}, allreduce of {name}"] = (lambda t=transport, x=tensor: t.sum(x), 20)
    for name, widths in MODELS.items():
        for kind, transport in transports.items():
            sides[f"Bandstand over {kind}, step of {name}"] = (ours(widths, transport, size), 20)
        sides[f"torch DDP on gloo, step of {name}"] = (ddp(widths), 20)
    found: dict[str, list[float]] = {name: [] for name in sides}
    for turn in range(repeat + 1):
        for name, (call, count) in sides.items():
            dist.barrier()
            begun = time.perf_counter()
            for _ in range(count):
                call()
            if turn:  # the first one warms up
                found[name].append((time.perf_counter() - begun) / count)
    if rank == 0:
        print(json.dumps(found), flush=True)
    dist.barrier()


def ours(widths: list[int], transport: Any, size: int) -> Callable[[], object]:
    """A step as the built-in makes it: all gradients in one tensor."""
    from bandstand.training.gradient_ring import GradientRing
    from bandstand.training.gradients import Gradients

    model, optimizer, rows, labels = parts(widths)
    run = SimpleNamespace(rank=0, world_size=size)
    gradients = Gradients(GradientRing(run, transport, "cpu"), model)  # type: ignore[arg-type]

    def step() -> None:
        gradients.clear()
        loss(model(rows), labels).backward()
        gradients.sum()
        optimizer.step()

    return step


def ddp(widths: list[int]) -> Callable[[], object]:
    """A step as torch's DistributedDataParallel makes it: buckets, sent while the rest is computed."""
    from torch.nn.parallel import DistributedDataParallel

    model, optimizer, rows, labels = parts(widths)
    wrapped = DistributedDataParallel(model)

    def step() -> None:
        optimizer.zero_grad()
        loss(wrapped(rows), labels).backward()
        optimizer.step()

    return step


def parts(widths: list[int]) -> tuple[Any, Any, Any, Any]:
    """A model, its optimizer, and a batch."""
    import torch
    from torch import nn

    torch.manual_seed(0)
    layers: list[Any] = []
    for inputs, outputs in pairwise(widths):
        layers += [nn.Linear(inputs, outputs), nn.ReLU()]
    model = nn.Sequential(*layers[:-1])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    return model, optimizer, torch.rand(ROWS, widths[0]), torch.randint(0, widths[-1], (ROWS,))


def loss(found: Any, labels: Any) -> Any:
    """The mean loss of a batch."""
    from torch import nn

    return nn.functional.cross_entropy(found, labels)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
