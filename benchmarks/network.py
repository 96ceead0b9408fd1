"""A small network on some of MNIST's images, trained with random settings."""

from __future__ import annotations

import gzip
import math
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bandstand.request.ranges import ContinuousRange, IntegerRange
from bandstand.study.settings import random_settings
from benchmarks.simulation import MAX_RESOURCE

_SEED = 1729
_IMAGES = (4000, 2000)
"""To train on, and to validate on."""

_RANGES = (
    ContinuousRange("rate", 1e-3, 1, "Logarithmic"),
    ContinuousRange("momentum", 0, 0.95),
    ContinuousRange("decay", 1e-6, 0.1, "Logarithmic"),
    IntegerRange("hidden", 4, 128),
    IntegerRange("batch", 16, 256),
)


def train_networks(trials: Sequence[int], folder: str) -> list[dict[str, Any]]:
    """Train networks of one hidden layer on images of 14 x 14 pixels; accuracy after each of 30 epochs."""
    return [
        {"trial": trial, "accuracy": _network(trial, dict(random_settings(_SEED, trial, _RANGES)), folder)}
        for trial in trials
    ]


def _network(trial: int, settings: dict[str, str], folder: str) -> list[float]:
    images, labels = _read_images(folder)
    rows, hidden, batch = _IMAGES[0], int(settings["hidden"]), int(settings["batch"])
    rate, momentum, decay = (float(settings[name]) for name in ("rate", "momentum", "decay"))
    draw = np.random.default_rng([_SEED, trial])
    sizes = (images.shape[1], hidden, 10)
    weights = [
        draw.normal(0, math.sqrt(2 / size), (size + 1, more)).astype(np.float32)
        for size, more in pairwise(sizes)
    ]
    speeds = [np.zeros_like(each) for each in weights]
    accuracies = []
    for _ in range(MAX_RESOURCE):
        order = draw.permutation(rows)
        for at in range(0, rows, batch):
            place = order[at : at + batch]
            gradients = _gradients(weights, images[place], labels[place])
            for each, speed, gradient in zip(weights, speeds, gradients, strict=True):
                speed *= momentum
                speed -= rate * (gradient + decay * each)
                each += speed
        found = _layers(weights, images[rows:])[1].argmax(1)
        accuracies.append(float((found == labels[rows:]).mean()))
    return accuracies


def _layers(
    weights: list[NDArray[np.float32]], images: NDArray[np.float32]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    first, second = weights
    inner = np.maximum(images @ first[:-1] + first[-1], 0)
    return inner, inner @ second[:-1] + second[-1]


def _gradients(
    weights: list[NDArray[np.float32]], images: NDArray[np.float32], labels: NDArray[np.int64]
) -> list[NDArray[np.float32]]:
    inner, outer = _layers(weights, images)
    outer = np.exp(np.clip(outer - outer.max(1, keepdims=True), -50, 0))
    outer /= outer.sum(1, keepdims=True)
    outer[np.arange(len(labels)), labels] -= 1
    outer /= len(labels)
    back = (outer @ weights[1][:-1].T) * (inner > 0)
    return [np.vstack([below.T @ each, each.sum(0)]) for below, each in ((images, back), (inner, outer))]


@cache
def _read_images(folder: str) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    count = sum(_IMAGES)
    with gzip.open(Path(folder) / "train-images-idx3-ubyte.gz") as file:
        pixels = np.frombuffer(file.read(16 + count * 784)[16:], np.uint8)
    with gzip.open(Path(folder) / "train-labels-idx1-ubyte.gz") as file:
        labels = np.frombuffer(file.read(8 + count)[8:], np.uint8)
    halved = pixels.reshape(count, 14, 2, 14, 2).mean((2, 4), dtype=np.float32)
    return halved.reshape(count, 196) / 255, labels.astype(np.int64)
