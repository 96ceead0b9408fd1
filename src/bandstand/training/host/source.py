"""Where a user's program lives: a folder, or an archive that is unpacked safely."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from bandstand.errors import InputError, PlatformError

if TYPE_CHECKING:
    import tarfile


def code_folder(submitted: str | None, default: Path) -> Path:
    """The folder that holds the program.

    Args:
        submitted: `sagemaker_submit_directory`: a path or `file://` URI of a folder or tar.gz; None if not
            given.
        default: `/opt/ml/code`; archives are unpacked there, unless something is there already, as after a
            restart.

    Raises:
        InputError: If there is nothing at that place, or an archive is damaged or would write outside its
            folder.
        PlatformError: If the place is of a kind that cannot be reached from here.
    """
    if not submitted:
        return default
    source = _local(submitted)
    if source.is_dir():
        return source
    if not source.is_file():
        raise InputError(
            f"sagemaker_submit_directory is {submitted!r}, but there is no folder or file {source}."
        )
    if default.is_dir() and any(default.iterdir()):
        return default
    import tarfile

    from bandstand.training.saving import save_atomically

    try:
        if default.is_dir():
            default.rmdir()  # the folder itself is put in place by rename, so that no half of it is ever run
        save_atomically(default, lambda folder: _unpack(source, folder))
    except (tarfile.TarError, EOFError, OSError) as error:
        raise InputError(f"The code in {source} cannot be unpacked to {default}: {error}.") from None
    return default


def _local(submitted: str) -> Path:
    scheme, colon, _ = submitted.partition("://")
    if not colon:
        return Path(submitted)
    import urllib.parse

    parts = urllib.parse.urlsplit(submitted)
    if scheme == "file" and parts.netloc in ("", "localhost"):
        return Path(urllib.parse.unquote(parts.path))
    raise PlatformError(
        f"sagemaker_submit_directory is {submitted!r}; this version reads a folder or a tar.gz at a path or "
        "file:// URI. Put the code into the image, at /opt/ml/code, or give a file:// URI."
    )


def _unpack(archive: Path, folder: Path) -> None:
    import tarfile

    folder.mkdir()
    with tarfile.open(archive) as members:
        if hasattr(tarfile, "data_filter"):
            members.extractall(folder, filter="data")
        else:
            members.extractall(folder, members=[_plain(member, folder) for member in members])  # noqa: S202


def _plain(member: tarfile.TarInfo, folder: Path) -> tarfile.TarInfo:
    """Accept a file or folder within the folder, where Python has no filters (before 3.11.4; Debian 12's)."""
    import tarfile

    path = Path(member.name)
    if path.is_absolute() or ".." in path.parts:
        raise tarfile.ExtractError(f"{member.name!r} would be written outside {folder}")
    if not (member.isfile() or member.isdir()):
        raise tarfile.ExtractError(f"{member.name!r} is neither a file nor a folder")
    member.mode = member.mode & 0o755 | (0o700 if member.isdir() else 0o600)
    member.uid, member.gid = os.getuid(), os.getgid()
    member.uname = member.gname = ""
    return member
