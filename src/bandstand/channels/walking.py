"""All files below a folder: links are followed, but never back to a folder above."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path


def walk(root: str, below: str = "", beginning: str = "") -> Iterator[tuple[str, str]]:
    """Yield each file: its path below the root, and where it is.

    Where it is: the path below the root, or an absolute one if a link leads out of the root.

    Args:
        root: A folder, without links in its path.
        below: Where to begin, below the root.
        beginning: What the names of files and folders begin with, there.
    """
    yield from _files(root, below, (), beginning, leads_out=False)


def _files(
    root: str, below: str, above: tuple[tuple[int, int], ...], beginning: str, *, leads_out: bool
) -> Iterator[tuple[str, str]]:
    folder = Path(root, below)
    state = folder.stat()
    here = (state.st_dev, state.st_ino)
    if here in above:
        return
    with os.scandir(folder) as entries:
        for entry in entries:
            if not entry.name.startswith(beginning):
                continue
            shown = f"{below}/{entry.name}" if below else entry.name
            linked = leads_out or entry.is_symlink()
            if entry.is_dir():
                yield from _files(root, shown, (*above, here), "", leads_out=linked)
            elif entry.is_file():
                yield shown, _found(root, shown) if linked else shown


def _found(root: str, shown: str) -> str:
    """Return where a link's file is: below the root, or absolute if the link leads out of it."""
    place = os.path.realpath(Path(root, shown))
    return shown if place.startswith(f"{root}{os.sep}") else place
