"""Removing what ended jobs left behind."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bandstand.backends.engine_address import find_engine
from bandstand.backends.leftovers import Leftovers, left_behind, remove
from bandstand.errors import InputError, PlatformError
from bandstand.runs.finding import find, words_for
from bandstand.runs.jobs import Kind, TrainingJob, TuningJob
from bandstand.runs.kinds import SAGEMAKER, backend_of
from bandstand.runs.ownership import alive
from bandstand.runs.reconcile import reconcile
from bandstand.runs.record import Record
from bandstand.runs.stored import remove as remove_job
from bandstand.runs.stored import training_jobs, tuning_jobs


@dataclass(frozen=True)
class _Removal:
    """What is removed together: a tuning job with its training jobs, a training job, or what strayed."""

    tuning: str | None
    training: tuple[str, ...]
    folders: tuple[Path, ...]
    containers: Leftovers | None = None

    def sentence(self) -> str:
        """What it is."""
        if self.tuning is not None:
            jobs = "1 training job" if len(self.training) == 1 else f"{len(self.training)} training jobs"
            return f"tuning job {self.tuning} with {jobs}"
        if self.training:
            return f"training job {self.training[0]}"
        if self.containers is not None:
            return str(self.containers)
        return f"folder {self.folders[0]}, which belongs to no job"


def clean(
    record: Record,
    names: Sequence[str] = (),
    *,
    kind: Kind | None = None,
    all_ended: bool = False,
    dry_run: bool = False,
) -> list[str]:
    """Remove jobs that are over: their records, logs and folders, but nothing of their output.

    Args:
        record: The store.
        names: Tuning jobs, with all their training jobs, and training jobs of their own.
        kind: Which of the two the names stand for; None for the one that there is.
        all_ended: Everything that is over, and folders that no job in the record has.
        dry_run: Only say what would be removed.

    Returns:
        One line for each thing removed.

    Raises:
        InputError: A name is unknown or stands for two jobs, or its job is not over or part of a tuning job;
            all at once.
    """
    _put_right(record)
    removals = _everything(record) if all_ended else _named(record, names, kind)
    if dry_run:
        return [removal.sentence() for removal in removals]
    return [_remove(record, removal) for removal in removals]


def _put_right(record: Record) -> None:
    """Reconcile, unless the disk is too full for that: then this is what makes room."""
    try:
        reconcile(record)
    except PlatformError as error:
        if not (isinstance(error.__cause__, sqlite3.OperationalError) and "full" in str(error.__cause__)):
            raise


def _is_over(record: Record, row: TrainingJob) -> bool:
    """Whether a job is over, by the record or, where its owner died, by what its backend says."""
    if row.backend == SAGEMAKER or row.over or alive(record, row.owner):
        return row.over
    try:
        return backend_of(row.backend).describe(row.folder).is_ended
    except InputError:  # it has never been started
        return True


def _is_tuning_over(record: Record, job: TuningJob) -> bool:
    if job.backend == SAGEMAKER or job.over or alive(record, job.owner):
        return job.over
    return all(_is_over(record, row) for row in training_jobs(record, "tuning_job = ?", (job.name,)))


def _everything(record: Record) -> list[_Removal]:
    # Folders are listed before the record is read: a job is in the record before it has a folder.
    folders = sorted(path for path in (record.home / "jobs").iterdir() if path.is_dir())
    rows = training_jobs(record)
    removals = [_tuning(record, job) for job in tuning_jobs(record) if _is_tuning_over(record, job)]
    removals += [
        _Removal(None, (row.name,), (row.folder,))
        for row in rows
        if row.tuning_job is None and _is_over(record, row)
    ]
    known = {row.folder for row in rows}
    known |= {record.folder(job.name, "tuning") for job in tuning_jobs(record)}
    removals += [_Removal(None, (), (), left) for left in left_behind(os.environ, record.home)]
    return removals + [_Removal(None, (), (folder,)) for folder in folders if folder not in known]


def _named(record: Record, names: Sequence[str], kind: Kind | None) -> list[_Removal]:
    removals, problems = [], []
    for name in dict.fromkeys(names):
        try:
            removals.append(_one(record, name, kind))
        except InputError as error:
            problems.append(str(error))
    if problems:
        raise InputError("\n".join(problems))
    return removals


def _one(record: Record, name: str, kind: Kind | None) -> _Removal:
    row = find(record, name, kind)
    stop = f"Stop it first: bandstand stop {words_for(record, name, row.kind)}"
    if isinstance(row, TuningJob):
        if not _is_tuning_over(record, row):
            raise InputError(f"{name} is {row.status}. {stop}")
        return _tuning(record, row)
    if row.tuning_job is not None:
        whole = words_for(record, row.tuning_job, "tuning")
        raise InputError(
            f"{name} belongs to tuning job {row.tuning_job}. Remove that: bandstand clean {whole}"
        )
    if not _is_over(record, row):
        raise InputError(f"{name} is {row.status}. {stop}")
    return _Removal(None, (row.name,), (row.folder,))


def _tuning(record: Record, job: TuningJob) -> _Removal:
    rows = training_jobs(record, "tuning_job = ?", (job.name,))
    folders = [row.folder for row in rows]
    if job.backend == SAGEMAKER:
        folders.append(record.folder(job.name, "tuning"))
    return _Removal(job.name, tuple(row.name for row in rows), tuple(folders))


def _remove(record: Record, removal: _Removal) -> str:
    if removal.containers is not None:
        return removal.sentence() + _remove_containers(removal.containers)
    # Folders first: on a full disk there is room for the record's change only then.
    kept = [trouble for folder in removal.folders if (trouble := remove_folder(folder))]
    with record.transaction() as connection:
        for name in removal.training:
            remove_job(connection, name, "training")
        if removal.tuning is not None:
            remove_job(connection, removal.tuning, "tuning")
    return removal.sentence() + "".join(f"; {trouble}" for trouble in kept)


def _remove_containers(left: Leftovers) -> str:
    try:
        remove(find_engine(os.environ), left)
    except PlatformError as error:
        return f"; it could not be removed: {error}"
    return ""


def remove_folder(folder: Path) -> str:
    """Remove a folder; what cannot be removed is said, and a later clean-up tries it again."""
    try:
        shutil.rmtree(folder)
    except FileNotFoundError:
        return ""
    except OSError as error:
        return f"{folder} could not be removed: {error}"
    return ""
