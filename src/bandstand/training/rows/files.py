"""Which files of a channel hold data."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bandstand.errors import InputError
from bandstand.sagemaker_files import Channel
from bandstand.training.rows.formats import TITLES, ZIPPED, Kind, endings, kind_of_name, read_content_type

_NAMED = 5
"""How many names of files a message lists."""


@dataclass(frozen=True)
class DataFile:
    """One file of a channel.

    Args:
        name: Its path below the channel's folder, with `/` between the parts: the same on every host.
        path: Where it stands on this host.
        size: Its length in bytes.
    """

    name: str
    path: Path
    size: int

    @property
    def zipped(self) -> bool:
        """Whether it is unpacked while it is read, so that it cannot be split."""
        return self.name.lower().endswith(ZIPPED)


@dataclass(frozen=True)
class ChannelFiles:
    """What a channel's folder holds on this host.

    Args:
        data: The files to read, sorted by name.
        skipped: Names of the files that are no data: hidden ones, markers, manifests, other endings.
        kind: What the files hold; None if there are none and nothing tells it.
        header: Whether the content type says that files start with a line of names; None if it does not.
    """

    data: tuple[DataFile, ...]
    skipped: tuple[str, ...]
    kind: Kind | None = None
    header: bool | None = None

    @property
    def size(self) -> int:
        """Bytes of data."""
        return sum(file.size for file in self.data)


def list_files(channel: Channel) -> ChannelFiles:
    """Find a channel's data files on this host.

    With a content type every file is data, whatever its ending; with none, those whose endings tell a kind,
    as `.csv` or `.libsvm.gz` do. Files and folders whose names start with `.` or `_` (`_SUCCESS`,
    `.part-0.crc`: Hadoop's hidden files and markers) and manifests are never data.

    Args:
        channel: The channel; a folder that is not there holds no files.

    Returns:
        The files, in an order that is the same on every host.

    Raises:
        InputError: If nothing tells what the files are, or their names tell different kinds.
    """
    if channel.input_mode == "Pipe":
        raise InputError(
            f"Channel {channel.name!r} has the input mode Pipe; rows are read from files. Use the input mode "
            "File or FastFile."
        )
    declared = read_content_type(channel)
    data: list[DataFile] = []
    skipped: list[str] = []
    unknown: list[str] = []
    for file in _all_files(channel):
        if _is_marker(file.name):
            skipped.append(file.name)
        elif declared or kind_of_name(file.name):
            data.append(file)
        else:
            unknown.append(file.name)
    if declared:
        kind: Kind | None = declared.kind
    else:
        kind = _named_kind(channel, data, unknown)
    header = declared.header if declared else None
    return ChannelFiles(tuple(data), tuple(sorted(skipped + unknown)), kind, header)


def find_files(channel: Channel) -> list[DataFile]:
    """All files of a channel on this host, whatever they hold, but hidden ones, markers and manifests.

    Args:
        channel: The channel; a folder that is not there holds no files.

    Returns:
        The files, in an order that is the same on every host.
    """
    return [file for file in _all_files(channel) if not _is_marker(file.name)]


def _all_files(channel: Channel) -> list[DataFile]:
    files = [
        DataFile(path.relative_to(channel.path).as_posix(), path, path.stat().st_size)
        for path in _walk(channel.path)
    ]
    return sorted(files, key=lambda file: file.name)


def _named_kind(channel: Channel, data: Sequence[DataFile], unknown: Sequence[str]) -> Kind | None:
    """The one kind that the names of all data files tell; None without files."""
    found: dict[Kind, list[str]] = {}
    for file in data:
        kind = kind_of_name(file.name)
        if kind:
            found.setdefault(kind, []).append(file.name)
    if len(found) > 1:
        listed = "; ".join(f"{TITLES[kind]}: {', '.join(names[:_NAMED])}" for kind, names in found.items())
        raise InputError(
            f"Channel {channel.name!r} has no content type, and its files are of several kinds: {listed}. "
            "Keep files of one kind, or give the channel a content type, with which every file is read."
        )
    if not found and unknown:
        raise InputError(
            f"Channel {channel.name!r} has no content type and no file that ends in {endings()} (or one of "
            f"these and {ZIPPED}); found: {', '.join(sorted(unknown)[:_NAMED])}. Give the channel a content "
            'type such as "text/csv" (label first, no header), or name the files so.'
        )
    return next(iter(found), None)


def _is_marker(name: str) -> bool:
    return any(part.startswith((".", "_")) for part in name.split("/")) or name.endswith(".manifest")


def _walk(folder: Path) -> list[Path]:
    found: list[Path] = []
    above: dict[str, frozenset[str]] = {}
    for place, folders, names in os.walk(folder, followlinks=True):
        here = above.get(place, frozenset()) | {str(Path(place).resolve())}
        # A link to a folder above would be walked for ever.
        folders[:] = [name for name in folders if str(Path(place, name).resolve()) not in here]
        above.update((str(Path(place, name)), here) for name in folders)
        found.extend(path for path in (Path(place, name) for name in names) if path.is_file())
    return found
