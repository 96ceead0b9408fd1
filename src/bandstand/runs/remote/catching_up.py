"""One look at a job on SageMaker for the verbs that show it: all that is new is written down first."""

from __future__ import annotations

import logging
import threading
import time

from bandstand.backends.sagemaker.service_file import Served, read_served
from bandstand.errors import BandstandError
from bandstand.runs.finding import find
from bandstand.runs.jobs import TrainingJob, TuningJob
from bandstand.runs.kinds import SAGEMAKER
from bandstand.runs.record import Record
from bandstand.runs.remote.bringing_home import bring_models_home
from bandstand.runs.stored import OPEN, training_jobs, tuning_jobs

logger = logging.getLogger(__name__)

PATIENCE_SECONDS = 4.0
"""How long a verb that only shows a job waits for an AWS that cannot be reached."""

_looked: dict[str, float] = {}
_lock = threading.Lock()


def catch_up(record: Record, job: TuningJob | TrainingJob) -> str:
    """Ask about a job of the record, if it runs on SageMaker and was not over when last seen.

    Args:
        record: The store.
        job: Any job.

    Returns:
        Why it could not be asked about, as one sentence; empty if it was, or need not be.
    """
    whole = _open_job(record, job)
    if whole is None:
        return ""
    served = read_served(record.folder(whole.name, whole.kind))
    if served is None:
        return f"The folder of {whole.name} is gone; this is how it was last seen."
    if served.arn is None and served.submitted is not None:
        verb = "tune" if served.kind == "tuning" else "train"
        return (
            f"SageMaker has not acknowledged {whole.name}: its launcher ended before. It is handed in, or"
            f" found, with: bandstand {verb} --resume {whole.name}"
        )
    with _lock:  # lines of many jobs are followed by a thread each
        return _ask(record, whole.name, served)


def _ask(record: Record, name: str, served: Served) -> str:
    key = str(record.folder(name, served.kind))
    if time.monotonic() - _looked.get(key, float("-inf")) < served.there().round_seconds:
        return ""
    from bandstand.runs.remote.survey import Survey
    from bandstand.runs.remote.taking_in import Intake

    try:
        told = Survey(record.home, name, served, PATIENCE_SECONDS).round()
    except BandstandError as error:
        return f"{error} This is how {name} was last seen."
    finally:
        _looked[key] = time.monotonic()
    intake = Intake(record, name, served.kind == "tuning")
    intake.take(told)
    if told.over:
        if told.standing is not None:
            intake.finish(told.standing)
        bring_models_home(record, find(record, name, served.kind), logger.info)
    return ""


def _open_job(record: Record, job: TuningJob | TrainingJob) -> TuningJob | TrainingJob | None:
    """The job, or the tuning job that it belongs to, if SageMaker runs it and it is not over."""
    if job.backend != SAGEMAKER:
        return None
    if isinstance(job, TrainingJob) and job.tuning_job is not None:
        whole = tuning_jobs(record, f"name = ? AND {OPEN}", (job.tuning_job,))
        return whole[0] if whole else None
    return None if job.over else job


def catch_up_all(record: Record) -> list[str]:
    """Ask about every job on SageMaker that was not over when last seen.

    Returns:
        Why jobs could not be asked about, one sentence each.
    """
    jobs: list[TuningJob | TrainingJob] = [
        *tuning_jobs(record, f"{OPEN} AND backend = ?", (SAGEMAKER,)),
        *training_jobs(record, f"{OPEN} AND backend = ? AND tuning_job IS NULL", (SAGEMAKER,)),
    ]
    return list(dict.fromkeys(filter(None, (catch_up(record, job) for job in jobs))))
