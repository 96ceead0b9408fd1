"""Ways into a folder that no link leads out of: every step is taken from an open folder."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_IN_THE_WAY = (errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG, errno.EISDIR, errno.EILSEQ, errno.EMLINK)


class BlockedError(Exception):
    """Something that is no folder stands where a folder should be, or the file system has no such name."""


@contextmanager
def entered(root: Path, parts: Sequence[str], *, make: bool = False) -> Iterator[int]:
    """Open the folder at a path below another one, without following links.

    Args:
        root: Where to begin.
        parts: The path below it.
        make: Whether to make folders that are missing, for good.

    Raises:
        FileNotFoundError: There is no such folder.
        BlockedError: A file or a link stands in the way.
    """
    folder = os.open(root, _FOLDER)
    try:
        for part in parts:
            inner = _step(folder, part, make)
            os.close(folder)
            folder = inner
        yield folder
    finally:
        os.close(folder)


def _step(folder: int, part: str, make: bool) -> int:
    while True:
        try:
            return os.open(part, _FOLDER, dir_fd=folder)
        except FileNotFoundError:
            if not make:
                raise
            with suppress(FileExistsError):
                os.mkdir(part, 0o755, dir_fd=folder)
                os.fsync(folder)
        except OSError as error:
            raise _explained(error) from error


def open_file(folder: int, name: str) -> int:
    """Open a regular file in a folder for reading.

    Raises:
        FileNotFoundError: There is no such file; a link, a folder or a device is none.
    """
    try:
        descriptor = os.open(name, _FILE, dir_fd=folder)
    except OSError as error:
        if error.errno in (*_IN_THE_WAY, errno.ENXIO):
            raise FileNotFoundError(name) from error
        raise
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise FileNotFoundError(name)
    return descriptor


def place_file(source: Path, folder: int, name: str) -> None:
    """Move a file into a folder, over a file or a link of that name or over folders without files.

    Raises:
        BlockedError: A folder with something in it has the name, or no file can have it.
    """
    try:
        try:
            os.rename(source, name, dst_dir_fd=folder)
        except IsADirectoryError:
            remove_empty(folder, name)
            os.rename(source, name, dst_dir_fd=folder)
    except OSError as error:
        raise _explained(error) from error


def remove_empty(folder: int, name: str) -> bool:
    """Remove a folder that holds nothing but such folders; return whether it is gone.

    Args:
        folder: The folder above.
        name: The folder's name.
    """
    try:
        inner = os.open(name, _FOLDER, dir_fd=folder)
    except OSError:
        return False
    try:
        with os.scandir(inner) as entries:
            found = list(entries)
        if not all(
            entry.is_dir(follow_symlinks=False) and remove_empty(inner, entry.name) for entry in found
        ):
            return False
    finally:
        os.close(inner)
    try:
        os.rmdir(name, dir_fd=folder)
    except OSError:  # somebody has put something there in this moment
        return False
    return True


def _explained(error: OSError) -> Exception:
    return BlockedError() if error.errno in _IN_THE_WAY else error
