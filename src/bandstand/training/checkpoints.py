"""Checkpoints: written whole, checked before use, the newest few kept."""

from __future__ import annotations

import json
import re
import shutil
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bandstand.atomic_files import UNFINISHED
from bandstand.errors import JobError
from bandstand.sagemaker_files import write_atomically
from bandstand.training.output import note
from bandstand.training.saving import save_atomically

_RECORD = re.compile(r"iteration-([0-9]{8,})\.(.+)\.complete")
_DATA = re.compile(r"iteration-[0-9]{8,}\..+")
_CHUNK = 1 << 20


class Checkpoints:
    """One host's checkpoints of one training job.

    A checkpoint is a file or folder `iteration-00000012.algo-1` and, written after it, a record
    `iteration-00000012.algo-1.complete` with sizes and checksums. Hosts have names of their own, since the
    service keeps the checkpoints of all hosts under one prefix.

    Args:
        folder: Where they live: the job's own folder.
        job: The training job's name.
        host: This host's name.
    """

    def __init__(self, folder: Path, job: str, host: str) -> None:
        self.folder = folder
        self._job = job
        self._host = host

    def usable(self) -> list[int]:
        """The iterations with a complete checkpoint of this job, ascending; others are noted and skipped."""
        found = []
        for entry in sorted(self.folder.iterdir()) if self.folder.is_dir() else ():
            record = _RECORD.fullmatch(entry.name)
            if record is None:
                if not entry.name.startswith(UNFINISHED) and not self._is_known(entry):
                    note(f"checkpoint {entry}: skipped, since no complete record of this job names it.")
            elif record[2] == self._host:
                fault = self._fault(entry, int(record[1]))
                if fault:
                    note(f"checkpoint {entry.with_suffix('')}: skipped, since {fault}.")
                else:
                    found.append(int(record[1]))
        return found

    def path(self, iteration: int) -> Path:
        """Where the data of a usable checkpoint stands."""
        name: str = json.loads(self._record(iteration).read_text(encoding="utf-8"))["name"]
        return self.folder / name

    def save(self, iteration: int, save: Callable[[Path], object], *, keep: int, suffix: str = "") -> None:
        """Write a checkpoint, then remove those that are no longer wanted.

        Args:
            iteration: The iteration that it follows.
            save: Writes the state to the path that it is given, as a file or a folder.
            keep: How many of the newest checkpoints stay.
            suffix: Ending of the file's name, for libraries that choose their format by it (`.ubj`, `.npz`).
        """
        record = self._record(iteration)
        if record.exists():
            self._remove(record)
        data = self.folder / f"{record.stem}{suffix}"
        save_atomically(data, save)
        content = {
            "job": self._job,
            "iteration": iteration,
            "name": data.name,
            "files": _fingerprint(data),
        }
        write_atomically(record, json.dumps(content))
        mine = sorted(
            (int(match[1]), entry)
            for entry in self.folder.iterdir()
            if (match := _RECORD.fullmatch(entry.name)) and match[2] == self._host
        )
        older = [entry for number, entry in mine if number <= iteration]
        # Newer ones are of an earlier attempt, from which the hosts could not all go on.
        newer = [entry for number, entry in mine if number > iteration]
        for entry in [*older[:-keep], *newer]:
            self._remove(entry)

    def _record(self, iteration: int) -> Path:
        return self.folder / f"iteration-{iteration:08d}.{self._host}.complete"

    def _is_known(self, entry: Path) -> bool:
        return bool(_DATA.fullmatch(entry.name)) and any(
            other.name.endswith(".complete") and entry.name.startswith(other.stem)
            for other in self.folder.glob(f"{entry.name.partition('.')[0]}.*.complete")
        )

    def _remove(self, record: Path) -> None:
        try:
            name = str(_read(record)["name"])
        except JobError:
            name = record.stem
        record.unlink(missing_ok=True)
        data = self.folder / Path(name).name
        if data.is_dir():
            shutil.rmtree(data)
        else:
            data.unlink(missing_ok=True)

    def _fault(self, record: Path, iteration: int) -> str | None:
        try:
            content = _read(record)
        except JobError as error:
            return str(error)
        if content["job"] != self._job or content["iteration"] != iteration:
            return f"it is of job {content['job']!r}, iteration {content['iteration']}"
        data = self.folder / Path(str(content["name"])).name
        if not data.exists():
            return f"{data.name} is missing"
        if _fingerprint(data) != content["files"]:
            return "its size or checksum is not what was written: it is cut short or damaged"
        return None


def _read(record: Path) -> dict[str, Any]:
    try:
        content = json.loads(record.read_text(encoding="utf-8"))
        if isinstance(content, dict) and {"job", "iteration", "name", "files"} <= content.keys():
            return content
    except (OSError, ValueError) as error:
        raise JobError(f"its record cannot be read ({error})") from None
    raise JobError("its record is not one of ours")


def _fingerprint(data: Path) -> dict[str, list[int]]:
    """Every file below a path, with its size in bytes and its CRC-32."""
    files = sorted(path for path in data.rglob("*") if path.is_file()) if data.is_dir() else [data]
    return {
        "" if path == data else path.relative_to(data).as_posix(): [path.stat().st_size, _checksum(path)]
        for path in files
    }


def _checksum(path: Path) -> int:
    checksum = 0
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            checksum = zlib.crc32(chunk, checksum)
    return checksum
