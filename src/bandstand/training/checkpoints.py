"""Checkpoints: written whole, checked before use, the newest few kept."""

from __future__ import annotations

import contextlib
import glob
import re
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path

from bandstand.atomic_files import PART, UNFINISHED
from bandstand.errors import JobError
from bandstand.sagemaker_files import write_atomically
from bandstand.training.checkpoint_record import Record, fingerprint, read_record, settings_of
from bandstand.training.output import note
from bandstand.training.saving import DiskError, disk_errors, remove, save_atomically

_ENDING = ".complete"
_RECORD = re.compile(rf"iteration-([0-9]{{8,}})\.(.+)\{_ENDING}")
_REPORTS_KEPT = 100
_OURS = re.compile(r"\.?iteration-[0-9]{8,}\..+")


class Checkpoints:
    """One host's checkpoints of one training job.

    A checkpoint is a file or folder `iteration-00000012.algo-1` and, written after it, a record
    `iteration-00000012.algo-1.complete` with sizes and checksums. Hosts have names of their own, since the
    service keeps the checkpoints of all hosts under one prefix.

    Args:
        folder: Where they live: the job's own folder.
        job: The training job's name.
        host: This host's name.
        hyperparameters: What the state depends on.
    """

    def __init__(
        self, folder: Path, job: str, host: str, hyperparameters: Mapping[str, str] | None = None
    ) -> None:
        self.folder = folder
        self._settings = settings_of(hyperparameters or {})
        self._job = job
        self._host = host
        self._attempt = ""
        self._valid: dict[int, Record] = {}
        self._told: str | None = None
        self._reports: deque[tuple[int, str]] = deque(maxlen=_REPORTS_KEPT)

    def keep_report(self, iteration: int, line: str) -> None:
        """Keep a report that is printed, for the checkpoints that follow."""
        self._reports.append((iteration, line))

    def reports_after(self, iteration: int, arrived: int) -> list[str]:
        """The reports that a usable checkpoint knows of and that have not arrived.

        Args:
            iteration: The checkpoint.
            arrived: The last iteration whose report has.
        """
        record = self._valid.get(iteration)
        known = () if record is None else record.reports
        self._reports.extend(known)
        return [line for number, line in known if arrived < number <= iteration]

    def find(self) -> Mapping[int, Record]:
        """Look for complete checkpoints of this job and host, once nobody writes into the folder any more.

        What an interrupted write has left is removed; what cannot be used is noted and skipped.

        Returns:
            Iteration to record, ascending.
        """
        self._valid = {}
        try:
            entries = sorted(self.folder.iterdir()) if self.folder.exists() else []
        except OSError as error:
            note(f"checkpoints in {self.folder} cannot be read ({error.strerror or error}): there are none.")
            return self._valid
        data = {self._record_path(number).stem for number in self._records(entries)}
        for entry in entries:
            if self._is_leftover(entry, data):
                with contextlib.suppress(DiskError):
                    remove(entry)
            elif not _OURS.fullmatch(entry.name):
                note(f"{entry}: skipped, since it is no checkpoint of this job.")
        for number, path in self._records(entries).items():
            try:
                record = read_record(path)
                fault = record.fault(self._job, number, self.folder)
            except JobError as error:
                fault = str(error)
            if fault:
                note(f"checkpoint {path.with_suffix('')}: skipped, since {fault}.")
            else:
                self._valid[number] = record
        return dict(self._valid)

    def changed_settings(self, iteration: int) -> list[str]:
        """Names of hyperparameters that are not what they were when a usable checkpoint was written."""
        before = self._valid[iteration].settings
        names = sorted({*before, *self._settings})
        return [name for name in names if before.get(name) != self._settings.get(name)]

    def find_one(self, iteration: int) -> None:
        """Take a checkpoint for usable that another rank of this host has found to be."""
        path = self._record_path(iteration)
        if path.exists():
            self._valid = {iteration: read_record(path)}

    def go_on(self, iteration: int, attempt: str) -> None:
        """Take what comes after an iteration for stale: other hosts cannot go on from it.

        Args:
            iteration: The one that the job goes on after.
            attempt: Names this start of the job in what is written from now on.
        """
        self._attempt = attempt
        self._valid = {number: record for number, record in self._valid.items() if number <= iteration}

    def path(self, iteration: int) -> Path | None:
        """Where the data of a usable checkpoint of this host stands, None if it has none."""
        record = self._valid.get(iteration)
        return None if record is None else self.folder / Path(record.name).name

    def write(
        self, iteration: int, save: Callable[[Path], object], *, suffix: str = "", shared: bool = False
    ) -> str | None:
        """Write a checkpoint; older ones stay until they are pruned.

        Args:
            iteration: The iteration that it follows.
            save: Writes the state to the path that it is given, as a file or a folder.
            suffix: Ending of the file's name, for libraries that choose their format by it (`.ubj`, `.npz`).
            shared: Whether it is the state of all hosts.

        Returns:
            None, or why the disk does not take it, which is noted.

        Raises:
            JobError: If the function wrote nothing at the path that it was given.
        """
        path = self._record_path(iteration)
        data = self.folder / f"{path.stem}{suffix}"
        try:
            self._remove(iteration)
            save_atomically(data, save)
            with disk_errors(self.folder):
                record = Record(
                    job=self._job,
                    iteration=iteration,
                    name=data.name,
                    files=fingerprint(data),
                    attempt=self._attempt,
                    shared=shared,
                    settings=self._settings,
                    reports=tuple(self._reports),
                )
                write_atomically(path, record.written())
        except DiskError as error:
            self._tell(iteration, str(error))
            return str(error)
        self._valid[iteration] = record
        self._told = None
        return None

    def drop(self, iteration: int) -> None:
        """Remove one checkpoint of this host, since other hosts lack theirs."""
        with contextlib.suppress(DiskError):  # a stale one is known by its attempt
            self._remove(iteration)

    def prune(self, keep: int) -> None:
        """Remove all checkpoints of this host but the newest usable ones.

        Args:
            keep: How many stay.
        """
        wanted = sorted(self._valid)[-keep:]
        try:
            for number in self._records(self.folder.iterdir()):
                if number not in wanted:
                    self._remove(number)
        except (DiskError, OSError) as error:
            note(f"checkpoints that are no longer needed could not be removed: {error}")

    def _tell(self, iteration: int, fault: str) -> None:
        if fault != self._told:
            older = f", the last one stays that of iteration {max(self._valid)}" if self._valid else ""
            note(f"no checkpoint of iteration {iteration}: {fault}. The training goes on{older}.")
        self._told = fault

    def _record_path(self, iteration: int) -> Path:
        return self.folder / f"iteration-{iteration:08d}.{self._host}{_ENDING}"

    def _records(self, entries: Iterable[Path]) -> dict[int, Path]:
        """This host's records by iteration."""
        found = [(match, entry) for entry in entries if (match := _RECORD.fullmatch(entry.name))]
        mine = {int(match[1]): entry for match, entry in found if match[2] == self._host}
        return dict(sorted(mine.items()))

    def _is_leftover(self, entry: Path, complete: Collection[str]) -> bool:
        """Whether an interrupted write has left it; `complete` are this host's checkpoints with a record."""
        if entry.name.startswith(UNFINISHED):
            return True
        if entry.name.startswith(".iteration-") and entry.name.endswith(PART):
            return True
        own = re.fullmatch(rf"(iteration-[0-9]{{8,}}\.{re.escape(self._host)})(\..+)?", entry.name)
        return own is not None and own[1] not in complete

    def _remove(self, iteration: int) -> None:
        """Remove one of this host's checkpoints, the record first."""
        self._valid.pop(iteration, None)
        path = self._record_path(iteration)
        remove(path)
        for data in self.folder.glob(f"{glob.escape(path.stem)}*"):
            if data.name == path.stem or data.name.startswith(f"{path.stem}."):
                remove(data)
