"""Rules of the input channels (rules 406 to 408, and 412)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bandstand.request.documents import Definition
from bandstand.request.findings import Findings, Place, shown

_SET_PIPE = "Set InputMode to Pipe, or prepare the data otherwise."
# What to do where nothing is piped, as on this machine.
_UNPACK = "Unpack the data, and take it out."
_UNWRAP = "Unwrap the data, and take it out."
_NAME_THE_FILES = (
    "Set it to ManifestFile and name a list of the files, or to S3Prefix, and let the program read what "
    "belongs to each; take AttributeNames out."
)

SOURCES = ("S3DataSource", "FileSystemDataSource", "DatasetSource")


def channels(definition: Definition) -> Iterator[tuple[Mapping[str, Any], Place]]:
    """Yield each channel of a definition, and its place."""
    for at, channel in enumerate(definition.body.get("InputDataConfig", [])):
        yield channel, (*definition.place, "InputDataConfig", at)


def input_mode(definition: Definition, channel: Mapping[str, Any]) -> str:
    """Return a channel's input mode: its own, or the algorithm's."""
    general = definition.body.get("AlgorithmSpecification", {}).get("TrainingInputMode", "File")
    return str(channel.get("InputMode", general))


def check_channels(definition: Definition, findings: Findings) -> None:
    """Check the channels of one definition.

    Args:
        definition: The definition, of a sound document.
        findings: Takes the problems.
    """
    seen: set[str] = set()
    for channel, place in channels(definition):
        name = channel.get("ChannelName")
        if name in seen:
            where = (*place, "ChannelName")
            findings.problem(407, where, f"{shown(name)} a second time", "each name once", "Rename one.")
        if name is not None:
            seen.add(name)
        if name in (".", ".."):
            where = (*place, "ChannelName")
            fix = "Give it a name of letters and digits."
            findings.problem(412, where, shown(name), "a name that a folder can have", fix)
        _check_source(channel, place, findings)
        _check_mode(input_mode(definition, channel), channel, place, findings)


def _check_source(channel: Mapping[str, Any], place: Place, findings: Findings) -> None:
    source = channel.get("DataSource")
    if source is None or findings.doubtful((*place, "DataSource")):
        return
    found = [name for name in SOURCES if name in source]
    if len(found) != 1:
        what = " and ".join(found) or "nothing"
        fix = "Name the one place where the channel's data is."
        findings.problem(406, (*place, "DataSource"), what, f"one of {', '.join(SOURCES)}", fix)


def _check_mode(mode: str, channel: Mapping[str, Any], place: Place, findings: Findings) -> None:
    source = channel.get("DataSource", {})
    bucket = source.get("S3DataSource", {})
    kind = bucket.get("S3DataType")
    data = (*place, "DataSource", "S3DataSource")
    only_piped = (
        ((*place, "CompressionType"), channel.get("CompressionType"), "Gzip", _UNPACK),
        ((*place, "RecordWrapperType"), channel.get("RecordWrapperType"), "RecordIO", _UNWRAP),
        ((*data, "S3DataType"), kind, "AugmentedManifestFile", _NAME_THE_FILES),
    )
    for where, found, piped, without_pipe in only_piped:
        if found == piped and mode != "Pipe":
            fix = _SET_PIPE if findings.on.is_service else without_pipe
            findings.problem(408, where, f"{piped} with {mode}", f"{piped} with Pipe only", fix)
    if kind == "AugmentedManifestFile" and not bucket.get("AttributeNames"):
        where = (*data, "AttributeNames")
        fix = "Name the attributes to read from each line."
        findings.problem(408, where, "nothing", "the manifest's attributes", fix)
    if kind != "AugmentedManifestFile" and bucket.get("AttributeNames"):
        where = (*data, "AttributeNames")
        fix = "Take them out, or name an augmented manifest."
        findings.problem(408, where, f"attributes with {kind}", "none but for AugmentedManifestFile", fix)
    if mode == "FastFile" and kind not in (None, "S3Prefix"):
        where = (*data, "S3DataType")
        findings.problem(408, where, f"{kind} with FastFile", "S3Prefix", "Set InputMode to File.")
    if "FileSystemDataSource" in source and mode != "File":
        where = (*place, "InputMode")
        findings.problem(408, where, f"{mode} with a file system", "File", "Set InputMode to File.")
