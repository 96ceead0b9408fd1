"""Models of jobs on SageMaker, fetched to this machine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from bandstand.backends.sagemaker.service_file import read_served
from bandstand.errors import BandstandError, InputError
from bandstand.runs.documents import best_row
from bandstand.runs.finding import words_for
from bandstand.runs.jobs import TrainingJob, TuningJob
from bandstand.runs.kinds import SAGEMAKER
from bandstand.runs.record import Record
from bandstand.runs.stored import training_jobs


def bring_models_home(record: Record, job: TuningJob | TrainingJob, said: Callable[[str], None]) -> None:
    """Fetch the model of a job that is over, if its output is a folder of this machine.

    Of a tuning job it is the best training job's; all others stay on S3. What hinders it is said, and is no
    failure of the job: the model is on S3.

    Args:
        record: The store.
        job: A job that runs on SageMaker, as it stands in the record.
        said: Told what is fetched, or why it is not.
    """
    served = read_served(record.folder(job.name, job.kind))
    row = best(record, job)
    if served is None or served.fetch is None or row is None or not (row.model or "").startswith("s3://"):
        return
    try:
        fetch_model(record, row, Path(served.fetch), said)
    except (BandstandError, OSError) as error:
        said(
            f"The model of {row.name} was not fetched: {error} Fetch it later:"
            f" bandstand show {words_for(record, job.name, job.kind)} --fetch {served.fetch}"
        )


def best(record: Record, job: TuningJob | TrainingJob) -> TrainingJob | None:
    """The training job itself, or the best one of a tuning job; None while there is none."""
    if isinstance(job, TrainingJob):
        return job if job.over else None
    return best_row(job.plan.goal, training_jobs(record, "tuning_job = ?", (job.name,)))


def fetch_model(record: Record, row: TrainingJob, into: Path, said: Callable[[str], None]) -> Path:
    """Fetch the model of a training job that is over.

    Args:
        record: The store.
        row: The training job.
        into: The folder below which it lies at `<job>/output/model.tar.gz`.
        said: Told what is fetched.

    Returns:
        The file.

    Raises:
        InputError: It left no model, or the rights are missing.
        PlatformError: AWS cannot be reached.
    """
    if row.model is None:
        raise InputError(f"{row.name} ({row.status}) has no model.")
    if row.backend != SAGEMAKER or not row.model.startswith("s3://"):
        return Path(row.model)
    from bandstand.backends.sagemaker.uploading import fetch

    served = read_served(row.folder)
    if served is None:
        raise InputError(f"The folder of {row.name} is gone; its model is at {row.model}.")
    target = into / row.name / "output" / "model.tar.gz"
    said(f"fetching the model of {row.name} to {target}")
    fetch(served.there(), row.model, target)
    with record.transaction() as connection:
        connection.execute("UPDATE training_jobs SET model = ? WHERE name = ?", (str(target), row.name))
    return target


def fetch_best(record: Record, job: TuningJob | TrainingJob, into: Path, said: Callable[[str], None]) -> Path:
    """Fetch the model of a job, or of the best training job of a tuning job.

    Args:
        record: The store.
        job: The job, as it stands in the record; one of this machine has its model here already.
        into: The folder below which it lies at `<job>/output/model.tar.gz`.
        said: Told what is fetched, or where it is.

    Returns:
        The file.

    Raises:
        InputError: There is none yet, or the rights are missing.
        PlatformError: AWS cannot be reached.
    """
    row = best(record, job)
    if row is None:
        shown = f"bandstand show {words_for(record, job.name, job.kind)}"
        raise InputError(f"{job.name} has no model yet: `{shown}` tells how far it is.")
    found = fetch_model(record, row, into.absolute(), said)
    said(f"the model of {row.name}: {found}")
    return found
