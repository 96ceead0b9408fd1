"""The last step of a job: archives are packed by a process of their own, so the supervisor stays awake."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bandstand.backends import kernel
from bandstand.backends.forked import leave_after
from bandstand.backends.job_folder import JobFolder
from bandstand.backends.task import Task
from bandstand.sagemaker_files import Folders


@dataclass(frozen=True)
class Upload:
    """What became of the archives.

    Args:
        model: The job's `model.tar.gz`, or None.
        output: The job's `output.tar.gz`, or None.
        notes: Sentences for people.
        error: Why it failed; empty if it did not.
        was_killed: Whether somebody put an end to the packing.
    """

    model: Path | None = None
    output: Path | None = None
    notes: tuple[str, ...] = ()
    error: str = ""
    was_killed: bool = False


class Uploader:
    """A child process that packs what the hosts of a job left behind.

    Args:
        task: The job.
        folder: The job's folder.
        with_model: Whether there is a model to be kept; a failed job has none, as on SageMaker.
    """

    def __init__(self, task: Task, folder: JobFolder, *, with_model: bool) -> None:
        self.result, writer = os.pipe()
        self._data = b""
        self._is_read = False
        self._is_killed = False
        self._status: int | None = None
        self.process = os.fork()
        if self.process == 0:
            leave_after(partial(_work, task, folder, with_model, writer))
        os.close(writer)

    def take(self) -> bool:
        """Read the next part of the result; return False at its end."""
        data = os.read(self.result, 1 << 16)
        self._data += data
        if not data:
            self._is_read = True
            os.close(self.result)
        return bool(data)

    def ended(self, status: int) -> None:
        """Take note of how the process ended."""
        self._status = status

    @property
    def outcome(self) -> Upload | None:
        """What became of the archives; None while it is not known."""
        if self._status is None or not self._is_read:
            return None
        if self._is_killed:
            return Upload(was_killed=True)
        if self._status != 0:
            code = os.waitstatus_to_exitcode(self._status)
            return Upload(error=f"the process that packed them ended with {code}, see supervisor.log")
        result = json.loads(self._data)
        return Upload(
            model=Path(result["model"]) if result["model"] else None,
            output=Path(result["output"]) if result["output"] else None,
            notes=tuple(result["notes"]),
            error=result["error"],
        )

    def kill(self) -> None:
        """Give up: no archive appears that was not there already."""
        self._is_killed = True
        with suppress(ProcessLookupError):
            os.kill(self.process, signal.SIGKILL)


def preload() -> None:
    """Import what packs, which takes longer than to pack a small model."""
    import bandstand.backends.archive  # noqa: F401


def _work(task: Task, folder: JobFolder, with_model: bool, result: int) -> None:
    if sys.platform == "linux":
        kernel.die_with_parent()
    data = json.dumps(_pack_all(task, folder, with_model)).encode()
    while data:
        data = data[os.write(result, data) :]


def _pack_all(task: Task, folder: JobFolder, with_model: bool) -> dict[str, object]:
    result: dict[str, object] = {"model": "", "output": "", "notes": (), "error": ""}
    hosts = [(host, Folders(folder.host(host) / "ml")) for host in task.hosts]
    target = Path(task.output, task.name, "output")
    try:
        _sweep(target)
        path, _ = _pack([(host, folders.output_data) for host, folders in hosts], target / "output.tar.gz")
        result["output"] = path
        if with_model:
            path, left_out = _pack(
                [(host, folders.model) for host, folders in hosts], target / "model.tar.gz"
            )
            result["model"] = path
            result["notes"] = [f"Left out, since an earlier host had the name: {name}." for name in left_out]
            remove_hosts([folder.host(host) for host in task.hosts])
    except OSError as error:
        kept = folder.host(task.hosts[0]).parent
        result["error"] = f"{error}, writing to {target}; what the hosts left is kept in {kept}"
    return result


def _pack(folders: Sequence[tuple[str, Path]], target: Path) -> tuple[str, Sequence[str]]:
    """The path of the archive of some folders, empty without one, and what it leaves out."""
    if all(_holds_nothing(folder) for _, folder in folders):
        return "", ()  # before anything is imported for it
    from bandstand.backends.archive import pack

    archive = pack(folders, target)
    return str(archive.path or ""), archive.left_out


def _holds_nothing(folder: Path) -> bool:
    """Whether a folder is gone or empty; what a script has put in its place is for others to judge."""
    return not os.path.lexists(folder) or (folder.is_dir() and not any(folder.iterdir()))


def _sweep(target: Path) -> None:
    """Remove what an earlier attempt at the same job left unfinished."""
    for unfinished in target.glob(".*.partial"):
        unfinished.unlink()


def remove_hosts(folders: Sequence[Path]) -> None:
    """Remove hosts' folders, whose content nobody wants any more; what resists stays.

    Args:
        folders: One for each host.
    """
    for folder in folders:  # not by shutil, whose import the end of every job would pay
        for path, below, _ in os.walk(folder):
            for place in (Path(path, name) for name in below):
                if not place.is_symlink():
                    with suppress(OSError):
                        place.chmod(0o700)  # a script may have taken away its own right to write
        for path, below, files in os.walk(folder, topdown=False):
            for place in (Path(path, name) for name in (*files, *below)):
                with suppress(OSError):
                    if place.is_dir() and not place.is_symlink():
                        place.rmdir()
                    else:
                        place.unlink()
        with suppress(OSError):
            folder.rmdir()
