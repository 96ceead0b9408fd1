"""Putting the record right where the owner of a job has died."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable

from bandstand.runs.followed import Followed
from bandstand.runs.intake import end_decided, take_in
from bandstand.runs.jobs import TrainingJob, TuningJob
from bandstand.runs.kinds import backend_of
from bandstand.runs.ledger import Ledger
from bandstand.runs.news import News
from bandstand.runs.ownership import alive, forget, owner_words, owners
from bandstand.runs.record import Record
from bandstand.runs.remote.owner import NOBODY
from bandstand.runs.settling import settle
from bandstand.runs.stored import OPEN, training_jobs, tuning_job, tuning_jobs
from bandstand.study import Halted, Stop


def reconcile(record: Record) -> None:
    """Adopt the last points and the final states of every job whose owner is gone.

    A job without an owner goes on until its lease runs out, and is stopped then by its supervisor; until that
    has happened, this takes in what is new. What it writes is as the owner would have written it: a study
    whose launcher died still hears every report and every end. Jobs that ended only because they had no owner
    are marked as interrupted, and stay so until somebody resumes them, whenever that is; a tuning job of
    which nothing runs any more is Failed until then.

    Any number of processes may do this at once; each piece of news is written once.

    Args:
        record: The store.

    Raises:
        PlatformError: The store cannot be written.
    """
    for owner in owners(record):
        if owner == NOBODY or alive(record, owner):
            continue  # jobs on SageMaker have no owner; they are asked about where they are shown
        for job in tuning_jobs(record, f"{OPEN} AND owner = ?", (owner,)):
            _adopt_tuning(record, job.name)
        for lone in training_jobs(record, f"{OPEN} AND owner = ? AND tuning_job IS NULL", (owner,)):
            _adopt_training(record, lone.name)
    forget(record)


def _adopt_training(record: Record, name: str) -> None:
    with record.transaction() as connection:
        rows = training_jobs(record, f"{OPEN} AND name = ?", (name,))
        if rows and not alive(record, rows[0].owner):  # else somebody has resumed it meanwhile
            take_in(connection, _news(_followed(record, rows)), None, time.time())


def _adopt_tuning(record: Record, name: str) -> None:
    with record.transaction() as connection:
        job = tuning_job(record, name)
        if job.over or alive(record, job.owner):
            return
        now = time.time()
        ledger = Ledger.load(record, job)
        stops: list[Stop] = []
        if job.stop_asked is not None and job.status != "Stopping":
            connection.execute("UPDATE tuning_jobs SET status = 'Stopping' WHERE name = ?", (name,))
            stops += ledger.tell(connection, Halted("user"), now)
        followed = _followed(
            record, training_jobs(record, f"({OPEN} OR interrupted) AND tuning_job = ?", (name,))
        )
        stops += take_in(connection, _news(each for each in followed if not each.over), ledger, now)
        stops += end_decided(connection, followed, ledger, now)
        if all(each.over for each in followed) and ledger.study.finished is None:
            settle(connection, record, name, "Failed", _abandoned(record, job, connection), now)
    _carry_out(record, name, stops, job.grace if job.stop_grace is None else job.stop_grace)


def _followed(record: Record, rows: Iterable[TrainingJob]) -> list[Followed]:
    return [Followed(record, row, resumable=True) for row in rows]


def _news(jobs: Iterable[Followed]) -> list[tuple[Followed, News]]:
    found = ((job, job.look(backend_of(job.job.backend))) for job in jobs)
    return [(job, news) for job, news in found if news is not None]


def _carry_out(record: Record, tuning: str, stops: Iterable[Stop], grace: float) -> None:
    for stop in stops:
        for job in training_jobs(record, f"{OPEN} AND tuning_job = ? AND number = ?", (tuning, stop.trial)):
            backend_of(job.backend).stop(job.folder, grace)


def _abandoned(record: Record, job: TuningJob, connection: sqlite3.Connection) -> str:
    count = "SELECT COUNT(*) FROM training_jobs WHERE tuning_job = ?"
    started = connection.execute(count, (job.name,)).fetchone()[0]
    return (
        f"The launcher of this tuning job ({owner_words(record, job.owner)}) ended before the job did; it had"
        f" started {started} of {job.plan.jobs} training jobs, and all that they reported is kept. It goes on"
        f" with: bandstand tune --resume {job.name}"
    )
