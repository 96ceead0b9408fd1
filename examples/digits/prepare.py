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


def main(folder: Path) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--mnist", type=Path, metavar="FOLDER")
    chosen = parser.parse_args()
    for channel in CHANNELS.values():
        shutil.rmtree(folder / channel, ignore_errors=True)
        (folder / channel).mkdir(parents=True)
    if chosen.mnist is None:
        train, validation = write_digits(folder)
        print(f"data: {train} images to train on, {validation} to validate on, of scikit-learn's digits")
        return 0
    missing = copy_mnist(chosen.mnist, folder)
    if missing:
        print(f"{chosen.mnist} lacks {', '.join(missing)} (or the same with .gz)", file=sys.stderr)
        return 2
    print(f"data: MNIST, from {chosen.mnist}")
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


def copy_mnist(source: Path, folder: Path) -> list[str]:
    """Copy MNIST's files to their channels; returns the names of those that are not there."""
    missing = []
    for prefix, channel in CHANNELS.items():
        for kind in KINDS:
            name = f"{prefix}-{kind}"
            found = next((path for path in (source / f"{name}.gz", source / name) if path.is_file()), None)
            if found is None:
                missing.append(name)
            else:
                shutil.copyfile(found, folder / channel / found.name)
    return missing


if __name__ == "__main__":
    sys.exit(main(Path(__file__).parent / "data"))
