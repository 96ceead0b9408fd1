"""Rules of the files that a job reads and writes on this machine (rules 423 and 425 to 427)."""

from __future__ import annotations

import os
from pathlib import Path

from bandstand.channels.data import ChannelData, DataError
from bandstand.channels.objects import SCHEME, objects, split
from bandstand.channels.source import find_source, no_objects
from bandstand.errors import PlatformError
from bandstand.hyperparameters import nearest
from bandstand.request.channel_rules import channels
from bandstand.request.documents import Definition, dig
from bandstand.request.findings import Findings, Place
from bandstand.request.plan import local_path


def check_data(definition: Definition, findings: Findings) -> None:
    """Check that the channels' files are there, and that no job writes among them.

    Args:
        definition: The definition, of a sound document.
        findings: Takes the problems.
    """
    written = [
        (place, folder)
        for place, uri in (
            ((*definition.place, *member), dig(definition.body, *member))
            for member in (("OutputDataConfig", "S3OutputPath"), ("CheckpointConfig", "S3Uri"))
        )
        if uri is not None and not findings.doubtful(place) and (folder := _local(uri)) is not None
    ]
    for place, folder in written:
        _check_room(folder, place, findings)
    for channel, place in channels(definition):
        uri = dig(channel, "DataSource", "S3DataSource", "S3Uri")
        where = (*place, "DataSource", "S3DataSource", "S3Uri")
        if uri is None or findings.doubtful(where):
            continue
        if findings.on.is_service and uri.startswith(SCHEME):
            continue
        path = _place(uri, findings.on.buckets)
        if path is None:
            fix = "Write file:// and the path from the root."
            findings.problem(423, where, uri, "a folder or file of this machine", fix)
            continue
        is_manifest = dig(channel, "DataSource", "S3DataSource", "S3DataType") == "ManifestFile"
        if is_manifest or uri.startswith(SCHEME):
            _check_data(uri if uri.startswith(SCHEME) else str(path), is_manifest, where, findings)
        else:
            _check_there(path, where, findings)
        for other, folder in written:
            if not is_manifest and folder.is_relative_to(path):
                fix = "Name another folder: the next job would read what this one wrote."
                found = f"{folder}, in the channel {channel.get('ChannelName')}"
                findings.problem(425, other, found, "a folder outside the channels", fix)


def _place(uri: str, buckets: str | None) -> Path | None:
    """Where a channel's files are on this machine; None if nowhere."""
    if "\0" in uri or buckets is None or not uri.startswith(SCHEME):
        return _local(uri)
    return Path(os.path.realpath("/".join((buckets, *split(uri)))))


def _check_data(place: str, is_manifest: bool, where: Place, findings: Findings) -> None:
    """Check what a manifest lists, or that there is an object with a prefix."""
    on = findings.on
    try:
        if is_manifest:
            find_source(ChannelData(place, is_manifest, on.buckets, on.roots))
        elif next(objects(str(on.buckets), place), None) is None:
            raise no_objects(str(on.buckets), place)
    except DataError as error:
        for fault in error.faults:
            findings.problem(427 if is_manifest else 423, where, fault.found, fault.allowed, fault.fix)
    except OSError as error:
        found = f"{place}: {error.strerror or error}"
        findings.problem(423, where, found, "data that can be read", "Mend its rights.")


def _local(uri: str) -> Path | None:
    try:
        return local_path(uri).resolve()
    except (PlatformError, OSError, ValueError, RuntimeError):
        return None


def _check_room(folder: Path, where: Place, findings: Findings) -> None:
    """Check that a folder can be made, or is there, before anything has run for it."""
    try:
        there = next(path for path in (folder, *folder.parents) if path.exists())
        found = None if there.is_dir() else f"{there}, which is no folder"
        if found is None and not os.access(there, os.W_OK | os.X_OK):
            found = f"{there}, where you may not write"
    except OSError as error:
        found = f"{folder}: {error.strerror or error}"
    if found is not None:
        findings.problem(426, where, found, "a folder that can be written", "Name another folder.")


def _check_there(path: Path, where: Place, findings: Findings) -> None:
    try:
        if not path.exists():
            found = f"{path}, which does not exist"
            findings.problem(423, where, found, "a folder or file of this machine", _advice(path))
        elif path.is_dir() and not any(entry.is_file() for entry in path.rglob("*")):
            fix = "Put the data there: SageMaker refuses a channel without files."
            findings.problem(423, where, f"{path}, which has no files", "at least one file", fix)
    except OSError as error:
        found = f"{path}: {error.strerror or error}"
        findings.problem(
            423, where, found, "a folder or file that can be read", "Mend the path or its rights."
        )


def _advice(path: Path) -> str:
    if any(mark in path.name for mark in "*?["):
        return "Name the folder or one file; patterns are not expanded."
    near = [entry.name for entry in path.parent.iterdir()] if path.parent.is_dir() else []
    close = nearest(path.name, near)
    return f"Did you mean {path.parent / close}?" if close else "Mend the path."
