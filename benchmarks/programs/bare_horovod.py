"""A bare Horovod loop: the classifier of the built-in as its users would write it, with the same metrics."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any


def start_workers(count: int, command: list[str]) -> int:
    """Start Horovod's rendezvous and its workers; returns an exit code that is not 0 if there is one."""
    from horovod.runner.common.util.hosts import SlotInfo
    from horovod.runner.http.http_server import RendezvousServer

    server = RendezvousServer()
    port = server.start()
    server.init([SlotInfo("localhost", rank, rank, 0, count, count, 1) for rank in range(count)])
    variables = {
        "HOROVOD_SIZE": count,
        "HOROVOD_LOCAL_SIZE": count,
        "HOROVOD_CROSS_RANK": 0,
        "HOROVOD_CROSS_SIZE": 1,
        "HOROVOD_HOSTNAME": "localhost",
        "HOROVOD_CONTROLLER": "gloo",
        "HOROVOD_CPU_OPERATIONS": "gloo",
        "HOROVOD_GLOO_RENDEZVOUS_ADDR": "127.0.0.1",
        "HOROVOD_GLOO_RENDEZVOUS_PORT": port,
        "HOROVOD_GLOO_IFACE": "lo",
        "OMP_NUM_THREADS": 1,
    }
    workers = []
    for rank in range(count):
        own = {**variables, "HOROVOD_RANK": rank, "HOROVOD_LOCAL_RANK": rank}
        environment = {**os.environ, **{name: str(value) for name, value in own.items()}}
        workers.append(subprocess.Popen(command, env=environment))
    codes = [worker.wait() for worker in workers]
    server.stop()
    return max(codes, key=abs)


def bare_loop(folder: Path, batch: int, hidden: int, rate: float) -> Callable[[int], dict[str, float]]:
    """What trains and evaluates an epoch as Horovod's own example for MNIST does, in initialized Horovod.

    Args:
        folder: Holds the channels.
        batch: Rows of a step on all ranks.
        hidden: Units of the hidden layer.
        rate: The learning rate.

    Returns:
        Takes the epoch's number, and returns its metrics.
    """
    import horovod.torch as hvd
    import torch
    from torch import nn

    torch.manual_seed(0)
    pixels, labels = read(folder / "train")
    held, wanted = (part[hvd.rank() :: hvd.size()] for part in read(folder / "validation"))
    model = nn.Sequential(nn.Linear(pixels.shape[1], hidden), nn.ReLU(), nn.Linear(hidden, 10))
    hvd.broadcast_parameters(model.state_dict(), root_rank=0)
    plain = torch.optim.SGD(model.parameters(), lr=rate)
    optimizer = hvd.DistributedOptimizer(plain, named_parameters=model.named_parameters())
    each = batch // hvd.size()

    def train_epoch(epoch: int) -> dict[str, float]:
        order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(epoch))
        mine = order[hvd.rank() :: hvd.size()]
        total = 0.0
        for rows in mine.split(each):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(pixels[rows].float() / 255), labels[rows])
            loss.backward()
            optimizer.step()
            total += float(loss) * len(rows)
        with torch.inference_mode():
            found = model(held.float() / 255)
            lost = float(nn.functional.cross_entropy(found, wanted, reduction="sum"))
            right = float((found.argmax(1) == wanted).sum())
        sums = torch.tensor([total, lost, right, len(labels), len(wanted)], dtype=torch.float64)
        sums[3] /= hvd.size()
        sums = hvd.allreduce(sums, op=hvd.Sum, name="metrics")
        return {
            "train:loss": float(sums[0] / sums[3]),
            "validation:loss": float(sums[1] / sums[4]),
            "validation:accuracy": float(sums[2] / sums[4]),
        }

    return train_epoch


def read(folder: Path) -> tuple[Any, Any]:
    """The images and labels of a channel of idx files."""
    import torch

    from bandstand_container.idx_files import read_pair

    names = (next(folder.glob(f"*{word}*")) for word in ("images", "labels"))
    return tuple(torch.from_numpy(array) for array in read_pair(*names))  # type: ignore[return-value]
