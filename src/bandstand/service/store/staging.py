"""Bytes on their way into the store: written to a file of their own, and only then moved to their place."""

from __future__ import annotations

import errno
import hashlib
import os
import sqlite3
import tempfile
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Self

from bandstand.service.store.checksums import digest, encoded
from bandstand.service.store.faults import StoreError

BLOCK = 1 << 20
"""Bytes that are read or written at once."""


class Staged:
    """A file that is being written and not yet an object.

    Leaving it as a context removes the file, unless it has been moved to its place.

    Args:
        folder: Where such files lie, on the file system of the buckets.
        algorithms: Checksums that are to be computed on the way, beside the MD5 of every object.

    Raises:
        StoreError: There is no such algorithm, or no space.
    """

    def __init__(self, folder: Path, algorithms: Iterable[str] = ()) -> None:
        self._digests = {algorithm: digest(algorithm) for algorithm in algorithms}
        self._md5 = hashlib.md5(usedforsecurity=False)
        self.size = 0
        try:
            self._descriptor, name = tempfile.mkstemp(dir=folder)
        except OSError as error:
            raise _told(error) from error
        self.path = Path(name)
        self._values: dict[str, str] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()
        self.path.unlink(missing_ok=True)

    def write(self, data: bytes) -> None:
        """Append bytes.

        Raises:
            StoreError: The disk is full.
        """
        self._md5.update(data)
        for each in self._digests.values():
            each.update(data)
        self.size += len(data)
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[os.write(self._descriptor, rest) :]
        except OSError as error:
            raise _told(error) from error

    def copy(self, descriptor: int, begin: int, length: int) -> None:
        """Append bytes of an open file.

        Args:
            descriptor: The file, which is read without moving its position.
            begin: The first byte.
            length: How many.

        Raises:
            StoreError: The file has ended before, or the disk is full.
        """
        while length > 0:
            data = os.pread(descriptor, min(BLOCK, length), begin)
            if not data:
                raise StoreError(
                    "InternalError", "The object was changed while it was read. Please try again."
                )
            self.write(data)
            begin += len(data)
            length -= len(data)

    def finish(self) -> None:
        """Bring everything to the disk; nothing is written after this.

        Raises:
            StoreError: The disk is full.
        """
        try:
            os.fchmod(self._descriptor, 0o644)
            os.fsync(self._descriptor)
        except OSError as error:
            raise _told(error) from error
        self._values = {name: encoded(each.digest()) for name, each in self._digests.items()}
        self._close()

    @property
    def md5(self) -> bytes:
        """The MD5 of all bytes."""
        return self._md5.digest()

    @property
    def checksums(self) -> dict[str, str]:
        """The checksums of all bytes in base64, by algorithm, once it is finished."""
        return self._values

    def _close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def _told(error: OSError) -> Exception:
    return StoreError("InsufficientStorage") if is_full(error) else error


def is_full(error: Exception) -> bool:
    """Whether something failed because there is no space left on the disk."""
    if isinstance(error, sqlite3.Error):
        return getattr(error, "sqlite_errorname", "") == "SQLITE_FULL"
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
