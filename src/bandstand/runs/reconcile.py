"""Putting the record right where the owner of a job has died."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable

from bandstand.runs.followed import Followed, News
from bandstand.runs.intake import take_in
from bandstand.runs.kinds import backend_of
from bandstand.runs.ledger import Ledger
from bandstand.runs.ownership import alive, forget, owners
from bandstand.runs.record import Record
from bandstand.runs.settling import settle
from bandstand.runs.stored import OPEN, TrainingJob, TuningJob, training_jobs, tuning_job, tuning_jobs
from bandstand.study import Halted, Stop


def reconcile(record: Record) -> None:
    """Adopt the last points and the final states of every job whose owner is gone.

    A job without an owner goes on until its lease runs out, and is stopped then by its supervisor; until that
    has happened, this takes in what is new. What it writes is as the owner would have written it: a study
    whose launcher died still hears every report and every end.

    Any number of processes may do this at once; each piece of news is written once.

    Args:
        record: The store.

    Raises:
        PlatformError: The store cannot be written.
    """
    for owner in owners(record):
        if alive(record, owner):
            continue
        for job in tuning_jobs(record, f"{OPEN} AND owner = ?", (owner,)):
            _adopt_tuning(record, job.name)
        for lone in training_jobs(record, f"{OPEN} AND owner = ? AND tuning_job IS NULL", (owner,)):
            _adopt_training(record, lone.name)
    forget(record)


def _adopt_training(record: Record, name: str) -> None:
    with record.transaction() as connection:
        news = _news(record, training_jobs(record, f"{OPEN} AND name = ?", (name,)))
        take_in(connection, news, None, time.time())


def _adopt_tuning(record: Record, name: str) -> None:
    with record.transaction() as connection:
        job = tuning_job(record, name)
        if job.over:
            return
        now = time.time()
        ledger = Ledger.load(record, job)
        stops: list[Stop] = []
        if job.stop_asked is not None and job.status != "Stopping":
            connection.execute("UPDATE tuning_jobs SET status = 'Stopping' WHERE name = ?", (name,))
            stops += ledger.tell(connection, Halted("user"), now)
        news = _news(record, training_jobs(record, f"{OPEN} AND tuning_job = ?", (name,)))
        stops += take_in(connection, news, ledger, now)
        if not ledger.study.running and ledger.study.finished is None:
            settle(connection, record, name, "Failed", _abandoned(record, job, connection), now)
    _carry_out(record, name, stops, job.grace if job.stop_grace is None else job.stop_grace)


def _news(record: Record, jobs: Iterable[TrainingJob]) -> list[tuple[Followed, News]]:
    found = []
    for job in jobs:
        followed = Followed(record, job)
        news = followed.look(backend_of(job.backend))
        if news is not None:
            found.append((followed, news))
    return found


def _carry_out(record: Record, tuning: str, stops: Iterable[Stop], grace: float) -> None:
    for stop in stops:
        for job in training_jobs(record, f"{OPEN} AND tuning_job = ? AND number = ?", (tuning, stop.trial)):
            backend_of(job.backend).stop(job.folder, grace)


def _abandoned(record: Record, job: TuningJob, connection: sqlite3.Connection) -> str:
    claims = record.read("SELECT pid, machine FROM owners WHERE id = ?", (job.owner,))
    launcher = f"process {claims[0]['pid']} on {claims[0]['machine']}" if claims else "its process"
    count = "SELECT COUNT(*) FROM training_jobs WHERE tuning_job = ?"
    started = connection.execute(count, (job.name,)).fetchone()[0]
    return (
        f"The launcher of this tuning job ({launcher}) ended before the job did; it had started {started} of"
        f" {job.plan.jobs} training jobs. What they reported is kept."
        " Start the tuning job again under another name."
    )
