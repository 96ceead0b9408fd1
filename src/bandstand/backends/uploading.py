"""The last step of a job: archives are packed by a process of their own, so the supervisor stays awake."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from bandstand.backends import kernel
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
            _work(task, folder, with_model, writer)
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


def _work(task: Task, folder: JobFolder, with_model: bool, result: int) -> None:
    code = 1
    try:
        signal.set_wakeup_fd(-1)
        if sys.platform == "linux":
            kernel.die_with_parent()
        data = json.dumps(_pack_all(task, folder, with_model)).encode()
        while data:
            data = data[os.write(result, data) :]
        code = 0
    except BaseException:
        sys.excepthook(*sys.exc_info())
        raise
    finally:
        sys.stderr.flush()
        os._exit(code)


def _pack_all(task: Task, folder: JobFolder, with_model: bool) -> dict[str, object]:
    from bandstand.backends.archive import pack

    result: dict[str, object] = {"model": "", "output": "", "notes": (), "error": ""}
    hosts = [(host, Folders(folder.host(host) / "ml")) for host in task.hosts]
    target = Path(task.output, task.name, "output")
    try:
        _sweep(target)
        output = pack([(host, folders.output_data) for host, folders in hosts], target / "output.tar.gz")
        result["output"] = str(output.path or "")
        if with_model:
            model = pack([(host, folders.model) for host, folders in hosts], target / "model.tar.gz")
            result["model"] = str(model.path or "")
            result["notes"] = [
                f"Left out, since an earlier host had the name: {name}." for name in model.left_out
            ]
            remove_hosts([folder.host(host) for host in task.hosts])
    except OSError as error:
        kept = folder.host(task.hosts[0]).parent
        result["error"] = f"{error}, writing to {target}; what the hosts left is kept in {kept}"
    return result


def _sweep(target: Path) -> None:
    """Remove what an earlier attempt at the same job left unfinished."""
    for partial in target.glob(".*.partial"):
        partial.unlink()


def remove_hosts(folders: Sequence[Path]) -> None:
    """Remove hosts' folders, whose content nobody wants any more; what resists stays.

    Args:
        folders: One for each host.
    """
    import shutil

    for folder in folders:
        for path, below, _ in os.walk(folder):
            for place in (Path(path, name) for name in below):
                if not place.is_symlink():
                    with suppress(OSError):
                        place.chmod(0o700)  # a script may have taken away its own right to write
        shutil.rmtree(folder, ignore_errors=True)
