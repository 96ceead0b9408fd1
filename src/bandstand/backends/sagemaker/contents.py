"""What a folder or file of this machine holds, and one short name that only the same content has."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from bandstand.errors import InputError

NAME_LENGTH = 32
"""Hexadecimal digits of a content's name: 128 bits of SHA-256."""


@dataclass(frozen=True)
class Content:
    """The files below a folder, or one file.

    Args:
        files: (name below the folder, path, bytes) in order of the names; of one file, its own name.
        name: A hash of all names and bytes.
        single: Whether it is one file rather than a folder.
        left_out: Names of what lies there and does not belong to it.
    """

    files: tuple[tuple[str, Path, int], ...]
    name: str
    single: bool
    left_out: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """Bytes in all."""
        return sum(size for _, _, size in self.files)


def read_content(place: Path, skip: Callable[[Path], bool] = lambda path: False) -> Content:
    """Read all that lies at a place; links are followed, as a channel on this machine follows them.

    Args:
        place: A folder or a file.
        skip: Tells which files and folders are left out.

    Raises:
        InputError: It is not there, cannot be read, or has a name that S3 cannot have.
    """
    left_out: list[str] = []
    try:
        single = place.is_file()
        found = [(place.name, place)] if single else list(_walk(place, place, skip, left_out, frozenset()))
        found.sort()
        digests = [_digest(path) for _, path in found]
        told = [[name, *each] for (name, _), each in zip(found, digests, strict=True)]
        body = json.dumps(told, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise InputError(f"A file in {place} has a name that is no UTF-8 text. Rename it.") from None
    except OSError as error:
        raise InputError(f"{error.filename or place} cannot be read: {error.strerror or error}.") from None
    if not found:
        raise InputError(f"{place} holds no files. Put the data there, or name another folder.")
    files = tuple((name, path, each[0]) for (name, path), each in zip(found, digests, strict=True))
    return Content(files, hashlib.sha256(body).hexdigest()[:NAME_LENGTH], single, tuple(left_out))


def _walk(
    folder: Path, top: Path, skip: Callable[[Path], bool], left_out: list[str], above: frozenset[str]
) -> Iterator[tuple[str, Path]]:
    real = os.path.realpath(folder)
    if real in above:  # a link to a folder that it lies in
        return
    for path in folder.iterdir():
        name = path.relative_to(top).as_posix()
        if skip(path):
            left_out.append(name)
        elif path.is_dir():
            yield from _walk(path, top, skip, left_out, above | {real})
        elif path.is_file():
            yield name, path


def _digest(path: Path) -> tuple[int, bool, str]:
    """Bytes of a file, whether it can be run, and the hash of what is in it."""
    with path.open("rb") as file:
        state = os.fstat(file.fileno())
        runs = bool(state.st_mode & stat.S_IXUSR)
        return state.st_size, runs, hashlib.file_digest(file, "sha256").hexdigest()
