"""A bare Horovod loop: the classifier of the built-in as its users would write it, with the same metrics.

    python -m benchmarks.programs.bare_horovod FOLDER WORKERS EPOCHS BATCH HIDDEN RATE

The first process starts Horovod's rendezvous and the workers, and prints when each epoch was over.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any


def main(words: list[str]) -> int:
    if "HOROVOD_RANK" in os.environ:
        train(Path(words[0]), *map(int, words[2:5]), float(words[5]))
        return 0
    return start_workers(int(words[1]), [sys.executable, "-m", "benchmarks.programs.bare_horovod", *words])


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


def train(folder: Path, epochs: int, batch: int, hidden: int, rate: float) -> None:
    """Train and evaluate as Horovod's own example for MNIST does, with its distributed optimizer."""
    import horovod.torch as hvd
    import torch
    from torch import nn

    hvd.init()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    pixels, labels = read(folder / "train")
    held, wanted = (part[hvd.rank() :: hvd.size()] for part in read(folder / "validation"))
    model = nn.Sequential(nn.Linear(pixels.shape[1], hidden), nn.ReLU(), nn.Linear(hidden, 10))
    hvd.broadcast_parameters(model.state_dict(), root_rank=0)
    plain = torch.optim.SGD(model.parameters(), lr=rate)
    optimizer = hvd.DistributedOptimizer(plain, named_parameters=model.named_parameters())
    each, times = batch // hvd.size(), []
    for epoch in range(epochs):
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
        sums = torch.tensor([total, lost, right, len(wanted)], dtype=torch.float64)
        hvd.allreduce(sums, op=hvd.Sum, name="metrics")
        times.append(time.time())
    if hvd.rank() == 0:
        print(json.dumps({"epochs": times}), flush=True)


def read(folder: Path) -> tuple[Any, Any]:
    """The images and labels of a channel of idx files."""
    import torch

    from bandstand_container.idx_files import read_pair

    names = (next(folder.glob(f"*{word}*")) for word in ("images", "labels"))
    return tuple(torch.from_numpy(array) for array in read_pair(*names))  # type: ignore[return-value]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
