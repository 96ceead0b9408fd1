"""Files that appear whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from bandstand.atomic_files import UNFINISHED
from bandstand.errors import JobError

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_LEAST_FREE = 1 << 16
"""Bytes; with fewer free ones a disk is full, whatever a library makes of the error."""


class DiskError(JobError):
    """The disk does not take a file: it is full, read-only, or belongs to somebody else."""


def save_atomically(target: Path, save: Callable[[Path], object]) -> None:
    """Let a function write a file or folder, and put it in place by rename once it is complete.

    Args:
        target: Where it shall stand; missing folders are made, what stands there is replaced.
        save: Called with a path that has the target's name, in a temporary folder beside the target.

    Raises:
        DiskError: If the disk does not take it.
        JobError: If the function wrote nothing at the path that it was given.
    """
    import tempfile

    with disk_errors(target.parent):
        target.parent.mkdir(parents=True, exist_ok=True)
        workspace = Path(tempfile.mkdtemp(prefix=UNFINISHED, dir=target.parent))
    try:
        written = workspace / "new" / target.name
        with disk_errors(target.parent):
            written.parent.mkdir()
        try:
            save(written)
        except Exception as error:
            if _is_full(error, workspace):
                raise DiskError(f"the disk is full: {target.parent} ({error})") from error
            raise
        if not written.exists():
            others = ", ".join(sorted(entry.name for entry in written.parent.iterdir())) or "nothing"
            raise JobError(
                f"The function that saves {target.name!r} wrote {others} instead of {target.name!r}; it "
                "must write to the path that it is given. If a library adds an ending, put it in the name."
            )
        with disk_errors(target.parent):
            if target.is_dir():
                target.rename(workspace / "old")
            written.replace(target)
    finally:
        shutil.rmtree(workspace, ignore_errors=True)  # what is left over is swept when the job ends


@contextlib.contextmanager
def disk_errors(folder: Path) -> Iterator[None]:
    """Tell an error of the operating system in a `with` block as one of the disk.

    Args:
        folder: Where something should be written.

    Raises:
        DiskError: With folder and cause.
    """
    try:
        yield
    except OSError as error:
        cause = "the disk is full" if error.errno in _FULL else error.strerror or str(error)
        raise DiskError(f"{cause}: {folder}") from error


def remove(path: Path) -> None:
    """Remove a file or a folder, which may have gone meanwhile.

    Raises:
        DiskError: If the disk does not let it go.
    """
    with disk_errors(path.parent), contextlib.suppress(FileNotFoundError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def sweep(folder: Path) -> None:
    """Remove what a killed process left unfinished in a folder."""
    if folder.is_dir():
        for entry in folder.iterdir():
            if entry.name.startswith(UNFINISHED):
                shutil.rmtree(entry, ignore_errors=True)


def _is_full(error: Exception, folder: Path) -> bool:
    """Whether a failed save failed since the disk is full; libraries tell that in words of their own."""
    if isinstance(error, OSError) and error.errno in _FULL:
        return True
    with contextlib.suppress(OSError):
        found = os.statvfs(folder)
        return found.f_blocks > 0 and found.f_bavail * found.f_frsize < _LEAST_FREE
    return False
