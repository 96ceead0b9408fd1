"""The idx files of MNIST are read whole, or refused with what is wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bandstand.errors import InputError
from bandstand.training.rows import DataFile
from bandstand_container.idx_files import find_pairs, is_idx, read_pair, write_idx

PIXELS = np.arange(2 * 3 * 4, dtype=np.uint8).reshape(2, 3, 4)
LABELS = np.array([7, 1], np.uint8)


@pytest.mark.parametrize("packed", ["", ".gz"])
def test_images_and_labels_come_back_as_they_were_written(tmp_path: Path, packed: str):
    images, labels = tmp_path / f"images{packed}", tmp_path / f"labels{packed}"
    write_idx(images, PIXELS)
    write_idx(labels, LABELS)
    pixels, numbers = read_pair(images, labels)
    assert (pixels == PIXELS.reshape(2, 12)).all()
    assert numbers.tolist() == [7, 1]
    before = images.read_bytes()
    write_idx(images, PIXELS)
    assert images.read_bytes() == before


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "begins with nothing; expected 00000803"),
        (b"1,2,3,4,5,6,7,8,9", "begins with 312c322c; expected 00000803"),
        (None, "says 2 x 3 x 4 bytes and holds 23: it is cut short"),
    ],
)
def test_a_file_that_is_none_or_cut_short_is_refused(tmp_path: Path, content: bytes | None, words: str):
    images, labels = tmp_path / "images", tmp_path / "labels"
    write_idx(images, PIXELS)
    write_idx(labels, LABELS)
    images.write_bytes(images.read_bytes()[:-1] if content is None else content)
    with pytest.raises(InputError, match=words):
        read_pair(images, labels)


def test_a_packed_file_that_is_damaged_and_unequal_numbers_are_refused(tmp_path: Path):
    images, labels = tmp_path / "images.gz", tmp_path / "labels"
    write_idx(images, PIXELS)
    write_idx(labels, LABELS[:1])
    with pytest.raises(InputError, match=r"images\.gz has 2 images, labels has 1 labels"):
        read_pair(images, labels)
    images.write_bytes(images.read_bytes()[:-9])
    with pytest.raises(InputError, match="cannot be unpacked"):
        read_pair(images, labels)


def _files(*names: str) -> list[DataFile]:
    return [DataFile(name, Path(name), 1) for name in names]


def test_images_find_their_labels_by_name():
    names = ("b-labels-idx1-ubyte", "a-images-idx3-ubyte.gz", "b-images-idx3-ubyte", "a-labels-idx1-ubyte")
    pairs = find_pairs(_files(*names))
    assert [(images.name, labels.name) for images, labels in pairs] == [
        (names[1], names[3]),
        (names[2], names[0]),
    ]
    with pytest.raises(InputError, match="come in pairs"):
        find_pairs(_files(*names[:3]))


@pytest.mark.parametrize(
    ("name", "is_one"), [("t10k-images-idx3-ubyte.gz", True), ("train.csv", False), ("idx.parquet", False)]
)
def test_idx_files_are_known_by_their_names(name: str, is_one: bool):
    assert is_idx(name) is is_one
