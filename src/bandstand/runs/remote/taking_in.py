"""What a round has told becomes rows of the record; any number of processes may do so at once."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field

from bandstand.backends.job_folder import JobFolder
from bandstand.backends.sagemaker.mirror import Mirror
from bandstand.backends.sagemaker.standing import TuningStanding
from bandstand.runs.followed import Followed
from bandstand.runs.intake import take_in
from bandstand.runs.jobs import TrainingJob
from bandstand.runs.news import News
from bandstand.runs.record import Record
from bandstand.runs.remote.events import explain_stops, write_history
from bandstand.runs.remote.survey import Round
from bandstand.runs.remote.trials import add_trials
from bandstand.runs.settling import settle
from bandstand.runs.stored import OPEN, training_job, training_jobs, tuning_job
from bandstand.study import Finish
from bandstand.study.decisions import FinishStatus


@dataclass
class Intake:
    """Takes the mirrors of one job into the record, and remembers what it has read.

    Args:
        record: The store.
        name: The job.
        tuning: Whether it is a tuning job.
        keep_lines: Whether news is to hold the log lines themselves.
    """

    record: Record
    name: str
    tuning: bool
    keep_lines: bool = False
    jobs: dict[str, Followed] = field(default_factory=dict)
    _mirror: Mirror = field(default_factory=Mirror)

    def rows(self) -> list[TrainingJob]:
        """The training jobs, as they stand in the record."""
        if self.tuning:
            return training_jobs(self.record, "tuning_job = ?", (self.name,))
        return [training_job(self.record, self.name)]

    def take(self, told: Round | None = None) -> tuple[list[TrainingJob], list[tuple[Followed, News]]]:
        """Write what is new: training jobs, their points and states, why they were stopped.

        Args:
            told: What a round has told; None to look at the files alone.

        Returns:
            Training jobs that are new in the record, and those of which there is news.
        """
        added: list[TrainingJob] = []
        with self.record.transaction() as connection:
            if self.tuning and told is not None:
                added = add_trials(connection, self.record, tuning_job(self.record, self.name), told.listed)
            if self.tuning and told is not None and told.standing is not None:
                self._stand(connection, told.standing)
            news = [
                (job, new)
                for job in self._open()
                if (new := job.look(self._mirror)) is not None  # type: ignore[arg-type]
            ]
            if news:
                take_in(connection, news, None, 0.0)
            if self.tuning:
                self._explain(connection, [job for job, _ in news if job.over])
        for row in self.rows():
            job = self.jobs.get(row.name)
            if row.over and (job is None or not job.over):
                self.jobs[row.name] = Followed(self.record, row)
        return added, news

    def stirred(self) -> bool:
        """Whether files have changed since this was last asked; reads none of them."""
        changed = [job.stirred() for job in self.jobs.values() if not job.over]
        return any(changed)

    def finish(self, standing: TuningStanding) -> None:
        """Write the end of the tuning job, once all of its training jobs are over."""
        with self.record.transaction() as connection:
            job = tuning_job(self.record, self.name)
            if job.over:
                return
            finish = _finish(standing, self.rows(), asked=job.stop_asked is not None)
            reason = standing.failure_reason or finish.reason
            settle(connection, self.record, self.name, finish.status, reason, standing.ended or job.created)
            write_history(connection, self.record, tuning_job(self.record, self.name), finish)

    def _open(self) -> list[Followed]:
        """The jobs that are not over, each as the record has it at this moment."""
        where = "tuning_job = ?" if self.tuning else "name = ?"
        found = []
        for row in training_jobs(self.record, f"{OPEN} AND {where}", (self.name,)):
            if not JobFolder(row.folder).state.exists():
                continue  # its request is still under way
            job = self.jobs.get(row.name)
            if job is None or not job.is_as_stored(row):  # another process has read on meanwhile
                job = Followed(self.record, row, keep_lines=self.keep_lines)
                self.jobs[row.name] = job
            found.append(job)
        return found

    def _stand(self, connection: sqlite3.Connection, standing: TuningStanding) -> None:
        """Write that somebody stops the tuning job, if so; this may have been asked for elsewhere.

        What was over before it was noticed was not stopped by that. All that is running is given three
        minutes to stop.
        """
        if standing.status not in _STOPPED:
            return
        job = tuning_job(self.record, self.name)
        if job.over:
            return
        since = [job.created, *(row.ended or 0.0 for row in self.rows() if row.over)]
        since += [standing.ended - _STOP_SECONDS] if standing.ended is not None else []
        connection.execute(
            "UPDATE tuning_jobs SET status = 'Stopping', stop_asked = COALESCE(stop_asked, ?) WHERE name = ?",
            (max(since), self.name),
        )

    def _explain(self, connection: sqlite3.Connection, ended: Sequence[Followed]) -> None:
        if not any(job.state.status == "Stopped" for job in ended):
            return
        thought = explain_stops(connection, self.record, tuning_job(self.record, self.name))
        for job in ended:
            if job.name in thought:
                job.note, job.brief = thought[job.name].sentence, thought[job.name].brief


_STOPPED = ("Stopping", "Stopped")
_STOP_SECONDS = 180.0


def _finish(standing: TuningStanding, rows: Sequence[TrainingJob], *, asked: bool) -> Finish:
    status: FinishStatus = "Completed"
    if standing.status == "Failed":
        status = "Failed"
    elif standing.status == "Stopped":
        status = "Stopped"
    words = {
        "Completed": "All training jobs have ended" if not standing.reason else standing.reason.rstrip("."),
        "Failed": standing.failure_reason or "The tuning job failed",
        "Stopped": "The tuning job was stopped on request" if asked else "The tuning job was stopped",
    }
    counts = {word: sum(row.status == word for row in rows) for word in ("Completed", "Stopped", "Failed")}
    told = ", ".join(f"{number} {word.lower()}" for word, number in counts.items() if number)
    return Finish(status, f"{words[status].rstrip('.')}: {told or 'none had started'}.")
