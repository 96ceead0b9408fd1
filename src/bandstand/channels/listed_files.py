"""The files that a channel's manifest lists, found on this machine."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from bandstand.channels.data import ChannelData, DataError, Fault, listed, shortened
from bandstand.channels.manifests import Manifest, read, wrong_prefix
from bandstand.channels.objects import SCHEME, find_object, laid_out, relative_name, set_apart, split

MAX_BYTES = 64 << 20
"""Largest manifest that is read: several hundred thousand names."""

Found = tuple[str, tuple[tuple[str, str], ...]]
"""A folder, and for each file its path as a host sees it, and its path: below the folder, or absolute."""


def find_listed(data: ChannelData) -> Found:
    """Return the files that a channel's manifest lists.

    Args:
        data: The channel's data; its place is the manifest's.

    Returns:
        The folder in which the files lie, and for each its path as a host sees it, and its path: below the
        folder, or absolute where a link leads out of it.

    Raises:
        DataError: The manifest is not there or is none, or not all files are there.
    """
    manifest = read(_content(data))
    if manifest.prefix.startswith(SCHEME):
        return _in_buckets(manifest, data)
    if data.place.startswith(SCHEME):
        raise wrong_prefix(manifest.prefix, "s3://BUCKET/PREFIX/, as the manifest itself is in S3")
    return _in_folder(manifest, data)


def _content(data: ChannelData) -> bytes:
    path: Path | None = Path(data.place)
    if data.place.startswith(SCHEME):
        path = None if data.buckets is None else find_object(data.buckets, data.place)
    if path is None or not path.is_file():
        what = "a folder" if path is not None and path.is_dir() else "nothing"
        found = f"{what} at {data.place}, which is to be a manifest"
        fix = "Mend the address, or set S3DataType to S3Prefix."
        raise DataError([Fault(found, "a file with a list", fix)])
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        found = f"the manifest {data.place}, which cannot be read: {error.strerror or error}"
        raise DataError([Fault(found, "a file with a list", "Mend its rights.")]) from None
    if len(content) > MAX_BYTES:
        found = f"the manifest {data.place} of more than {MAX_BYTES >> 20} MiB"
        raise DataError([Fault(found, "a list of names", "Name the right file, or use a prefix.")])
    return content


def _in_buckets(manifest: Manifest, data: ChannelData) -> Found:
    if data.buckets is None:
        allowed = "file:/// and a folder of this machine"
        raise wrong_prefix(manifest.prefix, allowed)
    bucket, prefix = split(manifest.prefix)
    root = os.path.realpath(data.buckets)
    apart, places = set_apart(root, bucket, prefix), _Places(root)
    files, missing = [], []
    for name in manifest.names:
        key = prefix + name
        found = places.find(f"{bucket}/{key}") or apart.get(key)
        if found is None:
            missing.append(f"{SCHEME}{bucket}/{key}")
        else:
            files.append((key, relative_name(key, prefix), found))
    _refuse_missing(missing, prefix)
    return root, laid_out(files)


def _in_folder(manifest: Manifest, data: ChannelData) -> Found:
    from urllib.parse import unquote

    prefix = unquote(manifest.prefix.removeprefix("file://"))
    if "\0" in prefix:
        raise wrong_prefix(manifest.prefix, "file:/// and a folder")
    root = os.path.realpath(prefix[: prefix.rfind("/") + 1])
    reach = [os.path.realpath(each) for each in data.roots]
    if reach and not any(Path(root).is_relative_to(each) for each in reach):
        allowed = f"a folder below {', '.join(reach)}"
        fix = "The service reaches what is below the folders that it was started with: --allow DIR."
        raise DataError([Fault(f"the prefix {shortened(manifest.prefix)}", allowed, fix)])
    stem = prefix[prefix.rfind("/") + 1 :]
    files, missing, places = [], [], _Places(root)
    for name in manifest.names:
        found = None if "//" in prefix + name else places.find(stem + name)
        if found is None:
            missing.append(prefix + name)
        else:
            files.append((name, relative_name(prefix + name, prefix), found))
    _refuse_missing(missing, prefix)
    return root, laid_out(files)


class _Places:
    """Finds files below a folder; of each folder in it the way is looked through once.

    Args:
        root: The folder, without links in its path.
    """

    def __init__(self, root: str) -> None:
        self._root = root
        self._folders: dict[str, str] = {}

    def find(self, path: str) -> str | None:
        """Return where a file is: below the root, or absolute if a link leads out of it; None if nowhere."""
        folder, _, name = path.rpartition("/")
        if "//" in path:
            return None
        try:
            if folder not in self._folders:
                self._folders[folder] = os.path.realpath(Path(self._root, folder))
            place = f"{self._folders[folder].rstrip(os.sep)}{os.sep}{name}"
            mode = os.lstat(place).st_mode
            if stat.S_ISLNK(mode):
                place = os.path.realpath(place)
                mode = Path(place).stat().st_mode
        except (OSError, ValueError):  # not there, a closed folder, or no name that a file can have
            return None
        if not stat.S_ISREG(mode):
            return None
        return place.removeprefix(f"{self._root}{os.sep}")


def _refuse_missing(missing: list[str], prefix: str) -> None:
    if missing:
        found = f"names of files that are not there, or cannot be reached: {listed(missing)}"
        fix = "Store them, or take their names out."
        if not prefix.endswith("/"):
            fix = "Let the prefix end with a slash if it is a folder, store them, or take their names out."
        raise DataError([Fault(found, "files that are there", fix)])
