"""Prepare the data of the digits example: images of handwritten digits as MNIST's idx files.

prepare.py                 1,797 images of 8 x 8 pixels, out of scikit-learn; a fifth to validate on
prepare.py --mnist FOLDER  MNIST's own four files, packed or not: 60,000 and 10,000 images of 28 x 28
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

import numpy as np

from bandstand_container.idx_files import write_idx

CHANNELS = {"train": "train", "t10k": "validation"}
KINDS = ("images-idx3-ubyte", "labels-idx1-ubyte")


def main() -> int:
    """Prepare the data; 0 when done, 2 when the data given is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--mnist", type=Path, metavar="FOLDER")
    parser.add_argument(
        "--to",
        type=Path,
        metavar="FOLDER",
        default=Path(__file__).parent / "data",
        help="where the channels go (default: data, beside this file)",
    )
    chosen = parser.parse_args()
    found = find_mnist(chosen.mnist) if chosen.mnist else {}
    missing = [name for name, path in found.items() if path is None]
    if missing:
        print(f"{chosen.mnist} lacks {', '.join(missing)} (or the same with .gz)", file=sys.stderr)
        return 2
    for channel in CHANNELS.values():
        shutil.rmtree(chosen.to / channel, ignore_errors=True)
        (chosen.to / channel).mkdir(parents=True)
    if found:
        for name, path in found.items():
            shutil.copyfile(path, chosen.to / CHANNELS[name.partition("-")[0]] / path.name)
        print(f"data: MNIST, from {chosen.mnist}")
        return 0
    train, validation = write_digits(chosen.to)
    print(f"data: {train} images to train on, {validation} to validate on, of scikit-learn's digits")
    return 0


def write_digits(folder: Path) -> tuple[int, int]:
    """Write scikit-learn's digits, shuffled with a seed; returns how many rows each channel has."""
    from sklearn.datasets import load_digits

    digits = load_digits()
    order = np.random.default_rng(7).permutation(len(digits.target))
    pixels = (digits.images[order] * (255 / 16)).round().astype(np.uint8)
    labels = digits.target[order].astype(np.uint8)
    edge = len(order) * 4 // 5
    for channel, rows in (("train", slice(edge)), ("validation", slice(edge, None))):
        for kind, array in zip(KINDS, (pixels[rows], labels[rows]), strict=True):
            write_idx(folder / channel / f"{channel}-{kind}.gz", array)
    return edge, len(order) - edge


def find_mnist(source: Path) -> dict[str, Path | None]:
    """MNIST's files by name, packed or not; None for those that are not there."""
    names = [f"{prefix}-{kind}" for prefix in CHANNELS for kind in KINDS]
    places = {name: (source / f"{name}.gz", source / name) for name in names}
    return {name: next((path for path in both if path.is_file()), None) for name, both in places.items()}


if __name__ == "__main__":
    sys.exit(main())
