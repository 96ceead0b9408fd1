"""Packs what the hosts leave behind: `model.tar.gz` and `output.tar.gz`, byte for byte the same each time."""

from __future__ import annotations

import gzip
import os
import stat
import tarfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bandstand.atomic_files import UNFINISHED

_LEVEL = 6


@dataclass(frozen=True)
class Archive:
    """One archive that was written.

    Args:
        path: Where it lies; None if there was nothing to pack.
        left_out: `algo-2: name` for each file that an earlier host had too, with other content.
    """

    path: Path | None
    left_out: tuple[str, ...] = ()


def pack(folders: Sequence[tuple[str, Path]], target: Path) -> Archive:
    """Merge one folder of each host into one archive.

    Of files with the same name the first host's is taken. Sockets, FIFOs and devices are left out, and so is
    what a hard end left unfinished. Names are sorted; times and owners are not
    kept.

    Args:
        folders: Host and folder, the leader first; one that is gone holds nothing.
        target: The archive; put in place by rename, its folder is made.

    Raises:
        OSError: Something cannot be read or written; no part of the archive is left.
    """
    merged: dict[str, Path] = {}
    left_out = []
    for host, folder in folders:
        if not os.path.lexists(folder):
            continue  # the script has cleaned up more than its own
        for name in sorted(_names(folder, "")):
            path = folder / name
            if name not in merged and not any(_is_file(merged, above) for above in _above(name)):
                merged[name] = path
            elif not _same(merged.get(name), path):
                left_out.append(f"{host}: {name}")
    if not any(not path.is_dir() or path.is_symlink() for path in merged.values()):
        return Archive(None)
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(f".{target.name}.{os.getpid()}.partial")
    try:
        _write(sorted(merged.items(), key=lambda entry: os.fsencode(entry[0])), partial)
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)
    return Archive(target, tuple(left_out))


def _write(entries: Sequence[tuple[str, Path]], target: Path) -> None:
    with target.open("wb") as file:
        with (
            gzip.GzipFile(filename="", mode="wb", compresslevel=_LEVEL, fileobj=file, mtime=0) as packed,
            tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
        ):
            for name, path in entries:
                _add(archive, name, path)
        file.flush()
        os.fsync(file.fileno())


def _add(archive: tarfile.TarFile, name: str, path: Path) -> None:
    state = path.lstat()
    entry = tarfile.TarInfo(name)
    entry.mode = 0o755 if state.st_mode & 0o100 else 0o644
    if stat.S_ISDIR(state.st_mode):
        entry.type = tarfile.DIRTYPE
        archive.addfile(entry)
    elif stat.S_ISLNK(state.st_mode):
        entry.type = tarfile.SYMTYPE
        entry.linkname = str(path.readlink())
        archive.addfile(entry)
    else:
        with path.open("rb") as file:
            entry.size = os.fstat(file.fileno()).st_size
            archive.addfile(entry, file)


def _names(folder: Path, below: str) -> Iterator[str]:
    with os.scandir(folder / below) as entries:
        for entry in entries:
            if entry.name.startswith(UNFINISHED):
                continue
            name = f"{below}/{entry.name}" if below else entry.name
            mode = entry.stat(follow_symlinks=False).st_mode
            if stat.S_ISDIR(mode):
                yield name
                yield from _names(folder, name)
            elif stat.S_ISLNK(mode) or stat.S_ISREG(mode):
                yield name


def _above(name: str) -> Iterator[str]:
    while "/" in name:
        name = name.rpartition("/")[0]
        yield name


def _is_file(merged: dict[str, Path], name: str) -> bool:
    return name in merged and not merged[name].is_dir()


def _same(first: Path | None, second: Path) -> bool:
    import filecmp

    if first is None:
        return False
    if first.is_symlink() or second.is_symlink():
        return first.is_symlink() and second.is_symlink() and first.readlink() == second.readlink()
    if first.is_dir() or second.is_dir():
        return first.is_dir() and second.is_dir()
    return filecmp.cmp(first, second, shallow=False)
