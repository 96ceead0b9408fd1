"""A study whose every event and decision is written down in the transaction that brought it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Sequence

from bandstand.runs.jobs import TuningJob
from bandstand.runs.record import Record
from bandstand.runs.settling import settle
from bandstand.runs.stops import stop_document
from bandstand.study import (
    Decision,
    Event,
    Finish,
    Start,
    Started,
    Stop,
    Study,
    StudySpec,
    from_document,
    to_document,
)


class Ledger:
    """A tuning job's study and its place in the record.

    Every method that writes takes the store within a transaction. When that transaction fails, the study is
    ahead of the record, and the ledger must not be used any more.

    Args:
        record: The store.
        tuning_job: The tuning job's name.
        study: The study, which has been told all recorded events.
        entries: How many entries the record has.
        names: The names of the training jobs started so far, by number.
    """

    def __init__(
        self,
        record: Record,
        tuning_job: str,
        study: Study,
        entries: int = 0,
        names: dict[int, str] | None = None,
    ) -> None:
        self.tuning_job = tuning_job
        self.study = study
        self._record = record
        self._entries = entries
        self._names = names or {}

    @classmethod
    def load(cls, record: Record, job: TuningJob) -> Ledger:
        """Bring a study back by telling it the recorded events again."""
        study = Study(StudySpec.from_plan(job.plan, job.seed))
        entries = history(record, job.name)
        for entry in entries:
            if isinstance(entry, Event):
                study.tell(entry)
        rows = record.read("SELECT number, name FROM training_jobs WHERE tuning_job = ?", (job.name,))
        return cls(record, job.name, study, len(entries), {row["number"]: row["name"] for row in rows})

    def start(self, connection: sqlite3.Connection, start: Start, name: str, now: float) -> None:
        """Write that a training job starts, and tell the study so.

        Args:
            connection: The store.
            start: The study's decision.
            name: The training job's name.
            now: Epoch seconds.
        """
        self._names[start.trial] = name
        self._write(connection, [start], now)
        self.tell(connection, Started(start.trial, start.settings, start.definition), now)

    def tell(
        self, connection: sqlite3.Connection, event: Event, now: float, over: Collection[int] = ()
    ) -> list[Stop]:
        """Tell the study an event; write it, what the study decides, and what follows from that.

        Args:
            connection: The store.
            event: What happened.
            now: Epoch seconds.
            over: Training jobs that nothing can stop any more. A decision to stop one of them is recorded,
                but it is not the reason for its end.

        Returns:
            The stops to be carried out once the transaction is through.
        """
        decisions = self.study.tell(event)
        self._write(connection, [event, *decisions], now)
        stops = []
        for decision in decisions:
            if isinstance(decision, Finish):
                settle(connection, self._record, self.tuning_job, decision.status, decision.reason, now)
            elif isinstance(decision, Stop) and decision.trial not in over:
                self._write_stop(connection, decision)
                stops.append(decision)
        return stops

    def _write_stop(self, connection: sqlite3.Connection, stop: Stop) -> None:
        document = stop_document(stop.reason, self._names.__getitem__)
        connection.execute(
            "UPDATE training_jobs SET stop = ? WHERE tuning_job = ? AND number = ?",
            (json.dumps(document), self.tuning_job, stop.trial),
        )

    def _write(self, connection: sqlite3.Connection, entries: Sequence[Event | Decision], now: float) -> None:
        first = self._entries + 1
        self._entries += len(entries)
        connection.executemany(
            "INSERT INTO events (tuning_job, seq, kind, body, time) VALUES (?, ?, ?, ?, ?)",
            [
                (
                    self.tuning_job,
                    first + place,
                    "event" if isinstance(entry, Event) else "decision",
                    json.dumps(to_document(entry)),
                    now,
                )
                for place, entry in enumerate(entries)
            ],
        )


def history(record: Record, tuning_job: str) -> list[Event | Decision]:
    """Every event and decision of a tuning job in order, as `bandstand.study.replay` takes them."""
    rows = record.read("SELECT body FROM events WHERE tuning_job = ? ORDER BY seq", (tuning_job,))
    return [from_document(json.loads(row["body"])) for row in rows]
