"""What a container sees in place of its own files: the host's folders in the engine's words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bandstand.backends.container_planning import ARCHIVES
from bandstand.backends.container_task import ContainerTask
from bandstand.backends.job_folder import JobFolder
from bandstand.backends.mounts import Bind, Mount, Overlay, Selection
from bandstand.sagemaker_files import BASE, Folders

_OPEN = 0o777
_SPECIAL = frozenset(',:\\"')


def engine_mounts(mounts: tuple[Mount, ...], base: Path, *, lay_over: bool) -> list[dict[str, Any]]:
    """Return mounts as the engine takes them.

    Args:
        mounts: What the host is to see.
        base: The folder on this machine that is shown at `/opt/ml`, in which places to mount on are made.
        lay_over: Whether code may be shown so that changes stay with the host; else it is read-only.
    """
    found: list[dict[str, Any]] = []
    for entry in mounts:
        if isinstance(entry, Bind):
            found.append(_bind(entry.source, entry.target, read_only=entry.read_only))
        elif isinstance(entry, Selection):
            found += _select(entry, base)
        elif lay_over and _can_lay_over(entry):
            found.append(_overlay(entry))
        else:
            found.append(_bind(entry.source, entry.target, read_only=True))
    return found


def archive_mount(container: ContainerTask, base: Path) -> list[dict[str, Any]]:
    """Return the mount of the code's archive, if there is one; see `engine_mounts`."""
    if container.archive is None:
        return []
    target = ARCHIVES / Path(container.archive).name
    _place(base, target)
    return [_bind(container.archive, str(target), read_only=True)]


def open_to_all(folder: JobFolder, host: str) -> None:
    """Let whoever runs in a container write where it may; nobody outside can reach into a job's folder."""
    folders = Folders(folder.host(host) / "ml")
    inside = (folders.base, folders.model, folders.output, folders.output_data, folders.code)
    layers = (folder.host(host) / "code" / "upper", folder.host(host) / "code" / "work")
    for path in (*inside, *layers, folder.checkpoints):
        if path.is_dir():
            path.chmod(_OPEN)


def _bind(source: str, target: str, *, read_only: bool) -> dict[str, Any]:
    return {"Type": "bind", "Source": source, "Target": target, "ReadOnly": read_only}


def _select(entry: Selection, base: Path) -> Iterator[dict[str, Any]]:
    """Show an empty folder that cannot be changed, and each file in it, at a place that is made for it."""
    own = _inside(base, Path(entry.target))
    yield _bind(str(own), entry.target, read_only=True)
    for shown, path in entry.files:
        target = Path(entry.target, shown)
        _place(base, target)
        yield _bind(str(Path(entry.source, path)), str(target), read_only=True)


def _can_lay_over(entry: Overlay) -> bool:
    """Whether the kernel takes it: words that its options can hold, and changes not kept below the source."""
    source, scratch = Path(entry.source).resolve(), Path(entry.scratch).resolve()
    return not (_SPECIAL & set(f"{source}{scratch}")) and not scratch.is_relative_to(source)


def _overlay(entry: Overlay) -> dict[str, Any]:
    scratch = Path(entry.scratch).resolve()
    layers = (
        f"lowerdir={Path(entry.source).resolve()},upperdir={scratch / 'upper'},workdir={scratch / 'work'}"
    )
    options = {"type": "overlay", "device": "overlay", "o": f"{layers},userxattr"}
    return {
        "Type": "volume",
        "Target": entry.target,
        "VolumeOptions": {"NoCopy": True, "DriverConfig": {"Name": "local", "Options": options}},
    }


def _place(base: Path, target: Path) -> None:
    place = _inside(base, target)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.touch()


def _inside(base: Path, target: Path) -> Path:
    return base / target.relative_to(BASE)
