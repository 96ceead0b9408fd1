"""What a host sees in place of the machine's own files: bound folders, some of them read-only."""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path

from bandstand.backends import kernel

_OCTAL = re.compile(r"\\([0-7]{3})")
_KEPT = kernel.NO_SETUID | kernel.NO_DEVICES | kernel.NO_EXECUTION


@dataclass(frozen=True)
class Bind:
    """One file or folder shown at another place.

    Args:
        source: Absolute path of what is shown.
        target: Absolute path of where it is shown.
        read_only: Whether it cannot be changed there.
    """

    source: str
    target: str
    read_only: bool = False


@dataclass(frozen=True)
class Selection:
    """Single files of a folder shown at another place, read-only, and nothing else of that folder.

    Args:
        source: Absolute path of the folder.
        target: Absolute path of where the files are shown.
        files: For each file, its path below the target, and its path: below the source, or absolute.
    """

    source: str
    target: str
    files: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Overlay:
    """A folder shown so that it can be changed, with the changes kept elsewhere.

    Args:
        source: Absolute path of the folder, which itself is never changed.
        target: Absolute path of where it is shown; read-only if it cannot be laid over.
        scratch: Absolute path of a folder that has empty folders `upper` and `work`, for the changes.
    """

    source: str
    target: str
    scratch: str


Mount = Bind | Selection | Overlay


def make_private() -> None:
    """Keep mounts from spreading out of, and into, this process's own mount name space; raises OSError."""
    kernel.mount("none", "/", "", kernel.RECURSIVE | kernel.PRIVATE)


def mount_proc() -> None:
    """Show the processes of this process's own PID name space in `/proc`; raises OSError."""
    kernel.mount("proc", "/proc", "proc", _KEPT)


def apply(mounts: tuple[Mount, ...]) -> None:
    """Mount everything, in the order given.

    Sources are opened before anything is mounted, so that no mount hides the source of a later one. A target
    that does not exist is made in memory, never on the machine's own file system.

    Raises:
        OSError: Something is missing or the kernel refuses; the text says what.
    """
    opened = [os.open(entry.source, os.O_PATH | os.O_CLOEXEC) for entry in mounts]
    for entry, descriptor in zip(mounts, opened, strict=True):
        if isinstance(entry, Bind):
            _make_target(entry.target, folder=stat.S_ISDIR(os.fstat(descriptor).st_mode))
            _bind(f"/proc/self/fd/{descriptor}", entry.target)
            if entry.read_only:
                _make_read_only(entry.target)
        elif isinstance(entry, Selection):
            _select(entry, descriptor)
        else:
            _overlay(entry, descriptor)
        os.close(descriptor)


def _bind(source: str, target: str) -> None:
    # Always with what is mounted below: a user name space may not uncover what a mount hides.
    kernel.mount(source, target, "", kernel.BIND | kernel.RECURSIVE)


def _select(entry: Selection, source: int) -> None:
    """Bind the whole folder read-only, hide it under an empty one, and bind the files from there into that.

    Binds of files out of a read-only mount are read-only themselves: one system call for each file, not two.
    """
    _make_target(entry.target, folder=True)
    _bind(f"/proc/self/fd/{source}", entry.target)
    _make_read_only(entry.target)
    whole = os.open(entry.target, os.O_PATH | os.O_CLOEXEC)
    kernel.mount("tmpfs", entry.target, "tmpfs", _KEPT, "mode=0755")
    for shown, path in entry.files:
        place = Path(entry.target, shown)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.touch()
        if Path(path).is_absolute():
            _bind(path, str(place))
            _make_read_only(str(place))
        else:
            _bind(f"/proc/self/fd/{whole}/{path}", str(place))
    os.close(whole)
    kernel.mount("none", entry.target, "", kernel.REMOUNT | kernel.BIND | kernel.READ_ONLY | _KEPT)


def _overlay(entry: Overlay, source: int) -> None:
    """Lay a folder for the changes over the source, and show both at the source's own place, too.

    The folders are named by descriptors, since commas and colons in their paths would mean something else.
    """
    parts = {"lowerdir": source}
    for part, name in (("upperdir", "upper"), ("workdir", "work")):
        parts[part] = os.open(Path(entry.scratch, name), os.O_PATH | os.O_CLOEXEC)
    options = ",".join(f"{part}=/proc/self/fd/{descriptor}" for part, descriptor in parts.items())
    own_place = os.path.realpath(entry.source)
    try:
        if any(point != own_place for point in _mount_points(own_place)):
            raise OSError(f"other file systems are mounted below {own_place}")
        kernel.mount("overlay", entry.target, "overlay", 0, f"{options},userxattr")
    except OSError:
        _bind(f"/proc/self/fd/{source}", entry.target)
        _make_read_only(entry.target)
        return
    _bind(entry.target, own_place)


def _make_target(target: str, *, folder: bool) -> None:
    """Make sure that there is something to mount on.

    The folder above gets a copy in memory into which its old entries are bound, since it may not be writable,
    and since nothing is to be left behind.
    """
    place = Path(target)
    if place.exists():
        return
    above = place.parent.resolve()
    if above == Path("/"):
        raise OSError(f"{target} does not exist, and / cannot be replaced")
    old = os.open(above, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    names = [entry.name for entry in above.iterdir()]
    kernel.mount("tmpfs", str(above), "tmpfs", kernel.NO_DEVICES, "mode=0755")
    for name in names:
        _show_again(old, name, above / name)
    os.close(old)
    if folder:
        place.mkdir()
    else:
        place.touch()


def _show_again(old: int, name: str, place: Path) -> None:
    mode = os.stat(name, dir_fd=old, follow_symlinks=False).st_mode
    if stat.S_ISLNK(mode):
        place.symlink_to(os.readlink(name, dir_fd=old))
        return
    if stat.S_ISDIR(mode):
        place.mkdir()
    else:
        place.touch()
    _bind(f"/proc/self/fd/{old}/{name}", str(place))


def _make_read_only(target: str) -> None:
    """Make a bound tree read-only, with all that is mounted below it.

    A user name space may not take away the limits that a mount has, so they are given again.
    """
    for point in _mount_points(os.path.realpath(target)):
        kept = os.statvfs(point).f_flag & _KEPT  # the bits of statvfs and of mount are the same for these
        kernel.mount("none", point, "", kernel.REMOUNT | kernel.BIND | kernel.READ_ONLY | kept)


def _mount_points(root: str) -> list[str]:
    points = []
    with Path("/proc/self/mountinfo").open("rb") as file:
        for line in file:
            escaped = os.fsdecode(line.split(b" ", 5)[4])
            point = _OCTAL.sub(lambda match: chr(int(match[1], 8)), escaped)
            if point == root or point.startswith(f"{root}/"):
                points.append(point)
    return points
