"""Which files of a channel hold data."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from bandstand.errors import InputError
from bandstand.sagemaker_files import Channel

_TYPES = ("text/csv", "csv")
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


@dataclass(frozen=True)
class ChannelFiles:
    """What a channel's folder holds on this host.

    Args:
        data: The files to read, sorted by name.
        skipped: Names of the files that are no data: hidden ones, markers, manifests, other endings.
    """

    data: tuple[DataFile, ...]
    skipped: tuple[str, ...]

    @property
    def size(self) -> int:
        """Bytes of data."""
        return sum(file.size for file in self.data)


def list_files(channel: Channel) -> ChannelFiles:
    """Find a channel's CSV files on this host.

    With the content type `text/csv` or `csv` every file is data, whatever its ending; with none, those that
    end in `.csv`. Files and folders whose names start with `.` or `_` (`_SUCCESS`, `.part-0.crc`: Hadoop's
    hidden files and markers) and manifests are never data.

    Args:
        channel: The channel; a folder that is not there holds no files.

    Returns:
        The files, in an order that is the same on every host.

    Raises:
        InputError: If the channel is not CSV, or nothing tells that it is.
    """
    typed = _is_csv(channel)
    data: list[DataFile] = []
    skipped: list[str] = []
    for path in _walk(channel.path):
        name = path.relative_to(channel.path).as_posix()
        if _is_marker(name):
            skipped.append(name)
        elif typed or name.lower().endswith(".csv"):
            data.append(DataFile(name, path, path.stat().st_size))
        else:
            skipped.append(name)
    if not typed and not data and any(not _is_marker(name) for name in skipped):
        names = ", ".join([name for name in skipped if not _is_marker(name)][:_NAMED])
        raise InputError(
            f"Channel {channel.name!r} has no content type and no file that ends in .csv; found: {names}. "
            'Give the channel the content type "text/csv" if these files are CSV (label first, no header).'
        )
    return ChannelFiles(tuple(sorted(data, key=lambda file: file.name)), tuple(sorted(skipped)))


def _is_csv(channel: Channel) -> bool:
    if channel.input_mode == "Pipe":
        raise InputError(
            f"Channel {channel.name!r} has the input mode Pipe; rows are read from files. Use the input mode "
            "File or FastFile."
        )
    if channel.content_type is None:
        return False
    kind, *parameters = (part.strip().lower() for part in channel.content_type.split(";"))
    if kind not in _TYPES:
        raise InputError(
            f"Channel {channel.name!r} has the content type {channel.content_type!r}; this version reads "
            f"{' or '.join(_TYPES)} (label first, no header)."
        )
    wrong = [
        text for text in parameters if text not in ("", "label_size=1", "charset=utf-8", "header=absent")
    ]
    if wrong:
        raise InputError(
            f"Channel {channel.name!r} has the content type {channel.content_type!r}; {', '.join(wrong)} is "
            "not supported. CSV is read with one label, which comes first, and no header."
        )
    return True


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
