"""What stands beside a checkpoint: of which job and iteration it is, and how its files have to look."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

from bandstand.errors import JobError

_CHUNK = 1 << 20
_Kind = TypeVar("_Kind")

Fingerprint = Mapping[str, tuple[int, int]]
"""Every file below a path by its relative name, with its size in bytes and its CRC-32."""


@dataclass(frozen=True)
class Record:
    """One checkpoint.

    Args:
        job: The training job's name.
        iteration: The iteration that it follows.
        name: Name of the file or folder, beside the record.
        files: How the data has to look.
        attempt: The start of the job that wrote it; different starts may have trained different states.
        shared: Whether it is the state of all hosts, rather than that of the host that wrote it.
        settings: Hyperparameter to the CRC-32 of its text.
        reports: The newest reports that were printed before it: iteration and line. What was printed last may
            have been lost on its way when the job is killed hard, and would not come again.
    """

    job: str
    iteration: int
    name: str
    files: Fingerprint
    attempt: str
    shared: bool
    settings: Mapping[str, int]
    reports: tuple[tuple[int, str], ...] = ()

    def written(self) -> str:
        """The record as JSON."""
        return json.dumps(asdict(self))

    def fault(self, job: str, iteration: int, folder: Path) -> str | None:
        """Why the checkpoint cannot be used, None if it can.

        Args:
            job: Whose checkpoint it should be.
            iteration: Which one it should be.
            folder: Where its data stands.
        """
        if (self.job, self.iteration) != (job, iteration):
            return f"it is of job {self.job!r}, iteration {self.iteration}"
        data = folder / Path(self.name).name
        if not data.exists():
            return f"{data.name} is missing"
        try:
            found = fingerprint(data)
        except OSError as error:
            return f"{data.name} cannot be read ({error.strerror or error})"
        if found != self.files:
            return "its size or checksum is not what was written: it is cut short or damaged"
        return None


def read_record(path: Path) -> Record:
    """Read a record.

    Raises:
        JobError: If it cannot be read, or is none of ours.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise JobError(f"its record cannot be read ({error})") from None
    try:
        known: dict[str, Any] = {
            field.name: {"reports": [], **content}[field.name] for field in fields(Record)
        }
        return Record(
            job=_of(known["job"], str),
            iteration=_of(known["iteration"], int),
            name=_of(known["name"], str),
            files={name: (int(size), int(crc)) for name, (size, crc) in _of(known["files"], dict).items()},
            attempt=_of(known["attempt"], str),
            shared=_of(known["shared"], bool),
            settings={name: int(crc) for name, crc in _of(known["settings"], dict).items()},
            reports=tuple((int(number), str(line)) for number, line in known["reports"]),
        )
    except (KeyError, TypeError, ValueError):
        raise JobError("its record is not one of ours") from None


def fingerprint(data: Path) -> Fingerprint:
    """How a file, or every file below a folder, looks."""
    files = sorted(path for path in data.rglob("*") if path.is_file()) if data.is_dir() else [data]
    return {
        "" if path == data else path.relative_to(data).as_posix(): (path.stat().st_size, _checksum(path))
        for path in files
    }


def settings_of(hyperparameters: Mapping[str, str]) -> dict[str, int]:
    """Hyperparameters in a form that tells whether one has changed, but not what it is."""
    return {name: zlib.crc32(text.encode("utf-8", "replace")) for name, text in hyperparameters.items()}


def _checksum(path: Path) -> int:
    checksum = 0
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            checksum = zlib.crc32(chunk, checksum)
    return checksum


def _of(value: object, kind: type[_Kind]) -> _Kind:
    if not isinstance(value, kind):
        raise TypeError(kind)
    return value
