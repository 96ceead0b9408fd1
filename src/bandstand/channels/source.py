"""Which files of a channel each host sees."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from bandstand.channels.data import ChannelData, DataError, Fault
from bandstand.channels.objects import (
    SCHEME,
    is_plain_folder,
    laid_out,
    nearest_prefix,
    objects,
    relative_name,
    split,
)
from bandstand.channels.walking import walk

Files = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Source:
    """A channel's data on this machine, looked through once for all hosts.

    Args:
        folder: The folder in which the files lie.
        files: Each file's path as a host sees it, and its path: below the folder, or absolute where a link
            leads out of it. None if a host sees the folder just as it is.
    """

    folder: str
    files: Files | None

    def share(self, index: int, hosts: int) -> Source:
        """Return what one host sees of a sharded channel: every n-th file, by sorted path."""
        return Source(self.folder, (self.files or ())[index::hosts])


def find_source(data: ChannelData, *, sharded: bool = False) -> Source:
    """Look a channel's data through.

    Files are sorted by the bytes of their paths, as S3 sorts keys.

    Args:
        data: Where it is.
        sharded: Whether each host is to see its own share.

    Raises:
        DataError: There is no file, the manifest is none, or the files cannot be laid out.
    """
    if data.is_manifest:
        from bandstand.channels.listed_files import find_listed  # few jobs need it

        return Source(*find_listed(data))
    if data.place.startswith(SCHEME):
        return _from_buckets(data, sharded=sharded)
    return _from_path(Path(data.place), sharded=sharded)


def no_objects(buckets: str, uri: str) -> DataError:
    """Return what is to be said where no object has a prefix."""
    near = nearest_prefix(buckets, uri)
    fix = "Upload the data, or mend the address: every object whose key begins with it would be used."
    fix = fix if near is None else f"Did you mean {near}?"
    return DataError([Fault(f"no S3 objects under {uri}", "at least one", fix)])


def _from_buckets(data: ChannelData, *, sharded: bool) -> Source:
    if data.buckets is None:
        fix = "Copy what it holds to this machine and name the copy."
        raise DataError([Fault(f"{data.place}, which is not on this machine", "file://", fix)])
    bucket, prefix = split(data.place)
    if is_plain_folder(data.buckets, data.place):
        folder = Path(data.buckets, bucket, prefix)
        if next(walk(os.path.realpath(folder)), None) is not None:
            return _from_path(folder, sharded=sharded)
    found = [(key, relative_name(key, prefix), path) for key, path in objects(data.buckets, data.place)]
    if not found:
        raise no_objects(data.buckets, data.place)
    return Source(os.path.realpath(data.buckets), laid_out(found))


def _from_path(path: Path, *, sharded: bool) -> Source:
    if path.is_file():
        return Source(str(path.parent), ((path.name, path.name),))
    if not path.is_dir():
        found = f"{path}, which is no folder and no file"
        raise DataError([Fault(found, "a folder or a file", "Name one that exists.")])
    root = os.path.realpath(path)
    files = sorted(walk(root), key=lambda entry: os.fsencode(entry[0]))
    if not files:
        fix = "Put data there, or leave the channel out."
        raise DataError([Fault(f"{path}, which holds no file", "at least one", fix)])
    leads_out = any(shown != found for shown, found in files)
    return Source(root, tuple(files) if sharded or leads_out else None)
