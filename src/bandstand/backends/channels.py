"""Which files of a channel each host sees."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bandstand.backends.task import ChannelTask
from bandstand.errors import InputError

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


def find_source(channel: ChannelTask) -> Source:
    """Look a channel's data through.

    Files are sorted by the bytes of their paths, as S3 sorts keys.

    Args:
        channel: Its path names a folder, or one file.

    Raises:
        InputError: There is no such path, or no file in it.
    """
    path = Path(channel.path)
    if path.is_file():
        return Source(str(path.parent), ((path.name, path.name),))
    if not path.is_dir():
        raise InputError(
            f"Channel {channel.name!r}: {path} is no folder and no file; found nothing there. "
            "Name one that exists."
        )
    root = os.path.realpath(path)
    files = sorted(_files(root, "", ()), key=lambda entry: os.fsencode(entry[0]))
    if not files:
        raise InputError(
            f"Channel {channel.name!r}: {path} holds no file; expected at least one. "
            "Put data there, or leave the channel out."
        )
    if channel.distribution == "ShardedByS3Key":
        return Source(root, tuple(files))
    leads_out = any(shown != found for shown, found in files)
    return Source(root, tuple(files) if leads_out else None)


def _files(root: str, below: str, above: tuple[tuple[int, int], ...]) -> Iterator[tuple[str, str]]:
    """Yield each file below a folder; links to folders are followed, but never back to one above."""
    folder = Path(root, below)
    state = folder.stat()
    here = (state.st_dev, state.st_ino)
    if here in above:
        return
    with os.scandir(folder) as entries:
        for entry in entries:
            shown = f"{below}/{entry.name}" if below else entry.name
            if entry.is_dir():
                yield from _files(root, shown, (*above, here))
            elif entry.is_file():
                yield shown, _found(root, shown) if entry.is_symlink() else shown


def _found(root: str, shown: str) -> str:
    """Return where a link's file is: below the root, or absolute if the link leads out of it."""
    place = os.path.realpath(Path(root, shown))
    return shown if place.startswith(f"{root}{os.sep}") else place
