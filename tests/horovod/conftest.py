"""Real jobs of the built-in Horovod classifier on this machine, on small images that are made up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from bandstand_container.idx_files import write_idx

from ..container.conftest import Files, Job, Launcher, to_csv
from ..training.conftest import cluster

__all__ = ["cluster", "to_csv"]

SETTINGS = {"algorithm": "horovod", "epochs": 2, "hidden": 16, "batch_size": 32, "seed": 3}


@pytest.fixture
def jobs(tmp_path: Path) -> Iterator[Launcher]:
    launcher = Launcher(tmp_path)
    yield launcher
    launcher.close()


def images(count: int, seed: int = 0) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Noisy pictures of 5 classes, 6 x 6 pixels."""
    rng = np.random.default_rng([seed, 7])
    patterns = np.random.default_rng(1).integers(0, 255, (5, 6, 6))
    labels = rng.integers(0, 5, count)
    pixels = 0.5 * patterns[labels] + rng.integers(0, 128, (count, 6, 6))
    return pixels.astype(np.uint8), labels.astype(np.uint8)


def as_files(pixels: NDArray[np.uint8], labels: NDArray[np.uint8], folder: Path) -> Files:
    """Images and labels as the two files of a channel."""
    folder.mkdir(parents=True, exist_ok=True)
    names = {"some-images-idx3-ubyte.gz": pixels, "some-labels-idx1-ubyte": labels}
    for name, array in names.items():
        write_idx(folder / name, array)
    return {name: (folder / name).read_bytes() for name in names}


@pytest.fixture
def channels(tmp_path: Path) -> Mapping[str, Files]:
    """320 images to train on and 101 to validate on."""
    made = {"train": images(320), "validation": images(101, seed=1)}
    return {name: as_files(*arrays, tmp_path / "made" / name) for name, arrays in made.items()}


def train(
    jobs: Launcher,
    channels: Mapping[str, Files],
    hosts: int = 1,
    ranks: int = 1,
    *,
    environment: Mapping[str, str] | None = None,
    **settings: Any,
) -> Job:
    """Run a job to its end."""
    return jobs.run(
        {**SETTINGS, **settings},
        hosts,
        replicated=channels,
        content_type=None,
        environment={"BANDSTAND_RANKS_PER_HOST": str(ranks), **(environment or {})},
    )


def weights(job: Job) -> list[NDArray[np.float32]]:
    """All weights of a job's model."""
    from bandstand_container.horovod_model import load_model

    model, _ = load_model(job.leader.folders.model / "model.pt")
    return [parameter.detach().numpy() for parameter in model.parameters()]


def difference(one: Job, other: Job) -> float:
    """The largest difference of two jobs' weights."""
    pairs = zip(weights(one), weights(other), strict=True)
    return max(float(np.abs(a - b).max()) for a, b in pairs)
