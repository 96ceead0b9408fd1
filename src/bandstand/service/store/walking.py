"""Keys of a bucket in S3's order, out of folders: no more is looked at than is asked for."""

from __future__ import annotations

import heapq
import os
from collections.abc import Generator, Iterator

from bandstand.service.store.buckets import Buckets
from bandstand.service.store.folders import BlockedError, entered
from bandstand.service.store.keys import LONGEST_KEY, parts_of

_ROWS = 1000
"""Entries of the index that are read at once."""

Found = tuple[bytes, int, int]
"""A key, and its file's size in bytes and time of change in nanoseconds."""


class Walk:
    """Goes through the keys of a bucket in the order of their bytes, and may jump ahead.

    Args:
        buckets: The store.
        bucket: The bucket, which exists.
        prefix: What the keys begin with.
        start: The first is not less than this.
    """

    def __init__(self, buckets: Buckets, bucket: str, prefix: bytes = b"", start: bytes = b"") -> None:
        self._root = buckets.folder / bucket
        self._buckets = buckets
        self._bucket = bucket
        self._prefix = prefix
        self._start = start
        self._found = self._merged()

    def next(self) -> Found | None:
        """The next key, or None at the end."""
        for found in self._found:
            if found[0] >= self._start:
                self._start = found[0] + b"\0"  # the file at a key's place hides the one that is set apart
                return found
        return None

    def jump(self, start: bytes) -> None:
        """Leave out all keys that are less."""
        self._start = max(self._start, start)

    def close(self) -> None:
        """Close the folders that are open."""
        self._found.close()

    def _merged(self) -> Generator[Found]:
        above, slash, _ = self._prefix.rpartition(b"/")
        try:
            parts = parts_of(above.decode()) if slash else ()
        except UnicodeDecodeError:
            parts = None
        placed = iter(()) if parts is None else self._below(parts, above + slash)
        yield from heapq.merge(placed, self._apart(), key=lambda found: found[0])

    def _below(self, parts: tuple[str, ...], path: bytes) -> Iterator[Found]:
        """Give the keys of files below a folder.

        Within it, a folder's name is compared with a slash after it, as in the keys that begin with it.
        """
        try:
            with entered(self._root, parts) as folder:
                for key, name in self._entries(folder, path):
                    if key.endswith(b"/"):
                        if key >= self._start or self._start.startswith(key):
                            yield from self._below((*parts, name), key)
                    elif key >= self._start:
                        state = _state(name, folder)
                        if state is not None:
                            yield key, state.st_size, state.st_mtime_ns
        except (FileNotFoundError, BlockedError):
            return  # removed, or replaced by a file, in this moment

    def _entries(self, folder: int, path: bytes) -> list[tuple[bytes, str]]:
        entries = []
        with os.scandir(folder) as found:
            for entry in found:
                inside = entry.is_dir(follow_symlinks=False)
                if not inside and not entry.is_file(follow_symlinks=False):
                    continue
                try:
                    key = path + entry.name.encode() + b"/" * inside
                except UnicodeEncodeError:  # no key can be this file's
                    continue
                begins = key.startswith(self._prefix) or (inside and self._prefix.startswith(key))
                if begins and len(key) <= LONGEST_KEY:
                    entries.append((key, entry.name))
        return sorted(entries)

    def _apart(self) -> Iterator[Found]:
        """Give the keys of objects that are set apart."""
        begin = max(self._prefix, self._start)
        while True:
            rows = self._buckets.index.read(
                "SELECT key, file FROM apart WHERE bucket = ? AND key >= ? ORDER BY key LIMIT ?",
                (self._bucket, begin, _ROWS),
            )
            for row in rows:
                if not row["key"].startswith(self._prefix):
                    return
                state = _state(str(self._buckets.apart / row["file"]), None)
                if state is not None:
                    yield row["key"], state.st_size, state.st_mtime_ns
            if len(rows) < _ROWS:
                return
            begin = max(rows[-1]["key"] + b"\0", self._start)


def _state(name: str, folder: int | None) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:  # removed in this moment
        return None
