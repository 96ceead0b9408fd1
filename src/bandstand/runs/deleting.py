"""Deleting one job from the record for good, as the API has it; its output stays."""

from __future__ import annotations

from bandstand.errors import InputError, PlatformError
from bandstand.runs.cleaning import remove_folder
from bandstand.runs.jobs import TrainingJob, TuningJob
from bandstand.runs.record import Record
from bandstand.runs.stored import remove, tuning_jobs


def delete_training_job(record: Record, job: TrainingJob) -> None:
    """Delete a training job that is over: its record, logs and folder.

    Args:
        record: The store.
        job: The job.

    Raises:
        InputError: It is not over, or its tuning job is not, which still compares others with it.
        PlatformError: Its folder cannot be removed.
    """
    if not job.over or job.interrupted:
        raise InputError(f"Training job {job.name} is {job.status}; only one that is over can be deleted.")
    whole = [] if job.tuning_job is None else tuning_jobs(record, "name = ?", (job.tuning_job,))
    if whole and not whole[0].over:
        raise InputError(
            f"Training job {job.name} belongs to tuning job {job.tuning_job}, which is {whole[0].status}"
            " and compares others with it. Delete it once that is over."
        )
    # The folder first: a job without a folder can be deleted again, a folder without a job cannot.
    trouble = remove_folder(job.folder)
    if trouble:
        raise PlatformError(trouble)
    with record.transaction() as connection:
        remove(connection, job.name, job.kind)


def delete_tuning_job(record: Record, job: TuningJob) -> None:
    """Delete a tuning job that is over; its training jobs stay, as jobs of their own.

    Args:
        record: The store.
        job: The job.

    Raises:
        InputError: It is not over.
    """
    if not job.over:
        raise InputError(f"Tuning job {job.name} is {job.status}; only one that is over can be deleted.")
    with record.transaction() as connection:
        connection.execute("UPDATE training_jobs SET tuning_job = NULL WHERE tuning_job = ?", (job.name,))
        remove(connection, job.name, job.kind)
