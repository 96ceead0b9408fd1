"""Taking news in: points, offsets, study events and decisions become one transaction, or nothing does."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence

from bandstand.runs.followed import Followed, News
from bandstand.runs.ledger import Ledger
from bandstand.study import Ended, Event, Reported, Stop
from bandstand.study.events import Outcome

OUTCOMES: Mapping[str, Outcome] = {"Completed": "completed", "Failed": "failed", "Stopped": "stopped"}


def take_in(
    connection: sqlite3.Connection, news: Sequence[tuple[Followed, News]], ledger: Ledger | None, now: float
) -> list[Stop]:
    """Write all that is new about some jobs, and what the study makes of it, within a transaction.

    Reports are told in order of their time, then ends. The final objective of a job is its last report,
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
    if ledger is None:
        return []
    reports = [(point.time, job.job.number, point.value) for job, each in news for point in each.reports]
    reports.sort(key=lambda report: report[:2])
    ended = [job for job, each in news if each.state.is_ended]
    events: list[Event] = [Reported(number, value) for _, number, value in reports]
    events += [Ended(job.job.number, OUTCOMES[job.state.status], job.objective) for job in ended]
    over = {job.job.number for job in ended}
    return [stop for event in events for stop in ledger.tell(connection, event, now, over)]
