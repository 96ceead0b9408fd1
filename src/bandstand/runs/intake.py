"""Taking news in: points, offsets, study events and decisions become one transaction, or nothing does."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence

from bandstand.runs.followed import Followed
from bandstand.runs.ledger import Ledger
from bandstand.runs.news import News
from bandstand.study import Ended, Reported, Stop
from bandstand.study.events import Outcome

OUTCOMES: Mapping[str, Outcome] = {"Completed": "completed", "Failed": "failed", "Stopped": "stopped"}


def take_in(
    connection: sqlite3.Connection, news: Sequence[tuple[Followed, News]], ledger: Ledger | None, now: float
) -> list[Stop]:
    """Write all that is new about some jobs, and what the study makes of it, within a transaction.

    Reports are told in order of their time, then ends. A report that a restarted job makes again is not told
    again: the study hears the n-th report of a job once. The end of a job that was interrupted is not told,
    since it is none, unless the job had been told to stop. The final objective of a job is its last report,
    not its best, as in AMT (`FinalHyperParameterTuningJobObjectiveMetric`); the best job, every table and
    the winner of a replay go by it.

    Args:
        connection: The store.
        news: Jobs and what is new about them; with a ledger, jobs of its tuning job.
        ledger: The study of the tuning job that the jobs belong to, or None.
        now: Epoch seconds.

    Returns:
        Stops to be carried out once the transaction is through.
    """
    for job, each in news:
        job.write(connection, each)
    ended = [job for job, each in news if each.state.is_ended and not job.interrupted]
    stops: list[Stop] = []
    if ledger is not None:
        over = {job.job.number for job in ended}
        reports = [(report.time, job.job.number, report) for job, each in news for report in each.reports]
        reports.sort(key=lambda report: report[:2])
        for _, number, report in reports:
            if report.number > ledger.study.reports(number):
                stops += ledger.tell(connection, Reported(number, report.value), now, over)
        for job in ended:
            event = Ended(job.job.number, OUTCOMES[job.state.status], job.objective)
            stops += ledger.tell(connection, event, now, over)
    return stops + end_decided(connection, [job for job, _ in news], ledger, now)


def end_decided(
    connection: sqlite3.Connection, jobs: Sequence[Followed], ledger: Ledger | None, now: float
) -> list[Stop]:
    """End interrupted jobs that had been told to stop: they are not begun again only to be stopped.

    Args:
        connection: The store, within a transaction.
        jobs: Jobs; those that are not interrupted are passed over.
        ledger: The study of the tuning job that the jobs belong to, or None.
        now: Epoch seconds.

    Returns:
        Stops to be carried out once the transaction is through.
    """
    stops: list[Stop] = []
    while due := [job for job in jobs if job.interrupted and _is_decided(connection, job, ledger)]:
        job = due[0]  # its end may decide about others
        job.end_stopped(connection, now)
        if ledger is not None:
            stops += ledger.tell(connection, Ended(job.job.number, "stopped", job.objective), now)
    return stops


def _is_decided(connection: sqlite3.Connection, job: Followed, ledger: Ledger | None) -> bool:
    if ledger is not None and ledger.study.stop_reason(job.job.number) is not None:
        return True
    asked = "SELECT 1 FROM training_jobs WHERE name = ? AND stop_asked IS NOT NULL"
    return connection.execute(asked, (job.name,)).fetchone() is not None
