"""The idx files of MNIST: images and labels as bytes, packed by gzip or not.

The format (http://yann.lecun.com/exdb/mnist): two zero bytes, a byte for the type of numbers (8 for unsigned
bytes), a byte for the number of dimensions, the dimensions as big-endian 32-bit numbers, the numbers.
"""

from __future__ import annotations

import gzip
import math
import struct
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bandstand.errors import InputError
from bandstand.training.rows import DataFile

_UNSIGNED_BYTES = 8


def is_idx(name: str) -> bool:
    """Whether a file's name is that of an idx file: `train-images-idx3-ubyte.gz`."""
    return "idx" in name.lower() and "ubyte" in name.lower()


def find_pairs(files: Sequence[DataFile]) -> list[tuple[DataFile, DataFile]]:
    """Images and their labels, in the order of their names.

    Args:
        files: The idx files of a channel.

    Raises:
        InputError: If images have no labels, or labels no images.
    """
    images, labels = ({_key(file.name): file for file in files if word in file.name} for word in _WORDS)
    alone = [file.name for key, file in {**images, **labels}.items() if not (key in images and key in labels)]
    others = [file.name for file in files if not any(word in file.name for word in _WORDS)]
    if alone or others:
        raise InputError(
            f"{', '.join(alone + others)}: images and labels come in pairs, such as "
            "train-images-idx3-ubyte.gz and train-labels-idx1-ubyte.gz."
        )
    return [(images[key], labels[key]) for key in sorted(images)]


def read_pair(images: Path, labels: Path) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Read images and their labels.

    Args:
        images: A file of three dimensions: images, rows, columns.
        labels: A file of one dimension.

    Returns:
        Array of shape (images, pixels), and array of shape (images,).

    Raises:
        InputError: If a file is not as it should be, or there are more of the one than of the other.
    """
    pixels = _read(images, dimensions=3)
    numbers = _read(labels, dimensions=1)
    if len(pixels) != len(numbers):
        raise InputError(f"{images.name} has {len(pixels)} images, {labels.name} has {len(numbers)} labels.")
    return pixels.reshape(len(pixels), math.prod(pixels.shape[1:])), numbers.astype(np.int64)


def write_idx(path: Path, array: NDArray[np.uint8]) -> None:
    """Write an array of bytes as an idx file, packed if the name ends in `.gz`; the same bytes each time."""
    head = struct.pack(f">HBB{array.ndim}I", 0, _UNSIGNED_BYTES, array.ndim, *array.shape)
    data = head + np.ascontiguousarray(array, np.uint8).tobytes()
    path.write_bytes(gzip.compress(data, mtime=0) if path.name.endswith(".gz") else data)


_WORDS = ("images", "labels")


def _key(name: str) -> str:
    """What images and their labels have in common: `train-images-idx3-ubyte.gz` is `train`."""
    plain = name.removesuffix(".gz")
    for word in ("images-idx3", "labels-idx1", "images.idx3", "labels.idx1", *_WORDS):
        plain = plain.replace(word, "")
    return plain


def _read(path: Path, dimensions: int) -> NDArray[np.uint8]:
    try:
        with gzip.open(path) if path.name.endswith(".gz") else path.open("rb") as file:
            data = file.read()
    except (EOFError, gzip.BadGzipFile) as error:
        raise InputError(f"{path.name} cannot be unpacked: {error}.") from None
    if len(data) < 4 * (1 + dimensions) or data[:4] != bytes([0, 0, _UNSIGNED_BYTES, dimensions]):
        raise InputError(
            f"{path.name} begins with {data[:4].hex() or 'nothing'}; expected 000008{dimensions:02}, an idx "
            f"file of unsigned bytes in {dimensions} dimension{'s' if dimensions > 1 else ''}."
        )
    shape = struct.unpack_from(f">{dimensions}I", data, 4)
    start = 4 * (1 + dimensions)
    if len(data) - start != math.prod(shape):
        wanted = " x ".join(map(str, shape))
        raise InputError(f"{path.name} says {wanted} bytes and holds {len(data) - start}: it is cut short.")
    return np.frombuffer(data, np.uint8, offset=start).reshape(shape)
