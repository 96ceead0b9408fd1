"""What a live run of one or many training jobs needs: start them, follow them, stop them, tell of them."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from bandstand.backends.backend import Backend, JobState
from bandstand.cores import usable_cores
from bandstand.errors import BandstandError, InputError
from bandstand.host_variables import REPORTED
from bandstand.request.plan import TrainingPlan
from bandstand.runs.clock import Clock
from bandstand.runs.faults import alike
from bandstand.runs.followed import Followed
from bandstand.runs.jobs import TrainingJob
from bandstand.runs.kinds import kind_of
from bandstand.runs.news import News
from bandstand.runs.ownership import Claim, Renewal
from bandstand.runs.record import Record
from bandstand.runs.snapshot import Observer, StopFlag
from bandstand.runs.stops import failed_state
from bandstand.runs.stored import add_training_job

POLL_SECONDS = 0.01
"""Time between two looks at the logs while something happens in them."""

IDLE_POLL_SECONDS = 0.02
"""The same while nothing has happened for a second."""

KILL_SECONDS = 15.0
"""How long a job that was killed may take to be over before it is given up."""

THOROUGH_SECONDS = 0.5
"""Time between two looks at a job whose files do not change: its supervisor may have been killed."""

logger = logging.getLogger(__name__)


@dataclass
class Launcher:
    """The jobs of one live run, and what it takes to run them.

    Args:
        record: The store.
        backend: Where the jobs run.
        observer: Who watches.
        stop: What Ctrl-C sets.
        grace: Seconds between SIGTERM and SIGKILL when a job is stopped.
        clock: The time.
        claim: This process's claim on its jobs.
        renewal: What renews their leases.
        served: Whether the service runs them.
    """

    record: Record
    backend: Backend
    observer: Observer
    stop: StopFlag
    grace: float
    clock: Clock
    claim: Claim
    renewal: Renewal
    served: bool = False
    jobs: list[Followed] = field(default_factory=list)
    _refused: dict[str, JobState] = field(default_factory=dict)
    _killed_at: float | None = None
    _last_news: float = 0.0
    _thorough: float = 0.0
    _warned: set[str] = field(default_factory=set)
    _unread: dict[str, bool] = field(default_factory=dict)

    @property
    def running(self) -> list[Followed]:
        """The jobs that are not over."""
        return [job for job in self.jobs if not job.over]

    def add(
        self,
        connection: sqlite3.Connection,
        plan: TrainingPlan,
        *,
        tuning_job: str | None = None,
        number: int = 1,
        settings: Mapping[str, str] | None = None,
        definition: str = "",
    ) -> TrainingJob:
        """Write a job into the record, within a transaction; `submit` starts it afterwards."""
        job = TrainingJob(
            name=plan.name,
            tuning_job=tuning_job,
            number=number,
            owner=self.claim.owner,
            backend=kind_of(self.backend),
            folder=self.record.folder(plan.name),
            plan=plan,
            created=self.clock.time(),
            settings=dict(settings or {}),
            grace=self.grace,
            served=self.served,
            definition=definition,
        )
        add_training_job(connection, job)
        return job

    def submit(self, job: TrainingJob, threads: int, *, keep_lines: bool = False) -> Followed:
        """Start a job that the record knows of; one that cannot be started counts as failed."""
        followed = Followed(self.record, job, keep_lines=keep_lines)
        self.jobs.append(followed)
        try:
            self.backend.submit(job.plan, job.folder, threads=threads)
        except (BandstandError, OSError) as error:
            self._refused[job.name] = failed_state(
                f"The job could not be started: {error}", job, self.clock.time()
            )
        else:
            self.renewal.add(job.folder)
        return followed

    def adopt(self, job: TrainingJob, *, keep_lines: bool = False) -> Followed:
        """Follow a job that an earlier launcher has started; if it runs, it has an owner again at once."""
        followed = Followed(self.record, job, keep_lines=keep_lines, resumable=True)
        self.jobs.append(followed)
        if not followed.over:
            try:
                self.backend.renew(job.folder)
            except (BandstandError, OSError) as error:  # it was never started: the next look tells
                logger.info("%s has no lease: %s", job.name, error)
            else:
                self.renewal.add(job.folder)
        return followed

    def reopen(self, connection: sqlite3.Connection, jobs: Iterable[Followed]) -> list[Followed]:
        """Write that interrupted jobs go on, within a transaction, in which they may just have been found.

        Args:
            connection: The store.
            jobs: Jobs; those that are not interrupted are passed over.

        Returns:
            The jobs that are to be begun again.
        """
        again = [job for job in jobs if job.interrupted]
        for job in again:
            job.reopen(connection, self.claim.owner)
        return again

    def restart(self, job: Followed, threads: int) -> None:
        """Begin a reopened job again; one that cannot be begun counts as failed.

        It is told which of its reports have arrived: a checkpoint may be of an iteration whose report was
        still on its way.
        """
        plan, folder = job.job.plan, job.job.folder
        attempt, is_first = job.state.attempt, not job.state.spent
        reported = (REPORTED.name, str(job.iterations))
        try:
            told = replace(plan, environment=(*plan.environment, reported))
            self.backend.restart(told, folder, threads=threads, attempt=attempt, spent=job.state.spent)
        except (BandstandError, OSError) as error:
            reason = f"The job could not be started again: {error}"
            self._refused[job.name] = failed_state(reason, job.job, self.clock.time())
        else:
            self.renewal.add(folder)
            word = "is started" if is_first else "is started again"
            self.observer.said(f"{job.name} {word}, for attempt {attempt}")
            asked = "SELECT 1 FROM training_jobs WHERE name = ? AND stop_asked IS NOT NULL"
            if self.record.read(asked, (job.name,)):  # when there was nothing that could hear it
                self.end(job)

    def look(self) -> list[tuple[Followed, News]]:
        """What is new about every job that is not over."""
        found = []
        now = self.clock.monotonic()
        thorough = now - self._thorough >= THOROUGH_SECONDS
        if thorough:
            self._thorough = now
        for job in self.running:
            stirred = job.stirred()
            news = self._look(job) if stirred or thorough or self._unread.get(job.name) else None
            self._unread[job.name] = news is not None and news.more
            if news is not None:
                found.append((job, news))
                if news.state.is_ended:
                    self.renewal.remove(job.job.folder)
        if found:
            self._last_news = self.clock.monotonic()
        return found

    def end(self, job: Followed, grace: float | None = None) -> None:
        """Ask a job to stop.

        Args:
            job: The job.
            grace: Seconds between SIGTERM and SIGKILL; None for the launcher's own.
        """
        seconds = self.grace if grace is None else grace
        self._press(job, lambda folder: self.backend.stop(folder, seconds))

    def kill_if_asked(self) -> None:
        """Kill every job at once when the second Ctrl-C has come."""
        if self.stop.killed and self._killed_at is None:
            self._killed_at = self.clock.monotonic()
            for job in self.running:
                self._press(job, self.backend.kill)

    def pause(self, news: Sequence[tuple[Followed, News]], after_news: float = POLL_SECONDS) -> None:
        """Wait until the next look; not at all while a log has more to read.

        Args:
            news: What the last look has found.
            after_news: Seconds to wait if it has found any.
        """
        if any(each.more and not each.state.is_ended for _, each in news):
            return
        if news:
            self.clock.wait(after_news)
            return
        idle = self.clock.monotonic() - self._last_news > 1.0
        self.clock.wait(IDLE_POLL_SECONDS if idle else POLL_SECONDS)

    def say_ended(self, job: Followed) -> None:
        """Tell how a job ended, and what a person should know about it."""
        status = job.state.status
        if status == "Failed":
            self.observer.said(f"{job.name} failed: {job.failure_reason}")
        else:
            number, thing = (
                (job.reports, "report") if job.job.objective_name else (job.iterations, "iteration")
            )
            counted = f"{number} {thing}" if number == 1 else f"{number} {thing}s"
            value = "" if job.objective is None else f", {job.job.objective_name}={job.objective:.6g}"
            word = "has stopped" if status == "Stopped" else status.lower()
            self.observer.said(f"{job.name} {word} after {counted}{value}")
        for warning in job.warnings:
            if alike(warning) not in self._warned:  # thirty jobs with the same fault are told of once
                self._warned.add(alike(warning))
                self.observer.said(f"warning: {job.name}: {warning}")

    @contextmanager
    def stopping_on_error(self) -> Iterator[None]:
        """Let no job run on when the live loop cannot: each is asked to stop."""
        try:
            yield
        except BaseException:
            for job in self.running:
                try:
                    self.end(job)
                except (BandstandError, OSError) as error:
                    logger.warning("%s could not be asked to stop: %s", job.name, error)
            raise

    def _press(self, job: Followed, action: Callable[[Path], None]) -> None:
        """Do something to a job; one whose folder is gone is passed over: the next look tells."""
        if job.name in self._refused:
            return
        try:
            action(job.job.folder)
        except InputError as error:
            logger.warning("%s could not be asked to end: %s", job.name, error)

    def _look(self, job: Followed) -> News | None:
        if job.name in self._refused:
            return job.end(self._refused[job.name])
        if self._killed_at is not None and self.clock.monotonic() - self._killed_at > KILL_SECONDS:
            reason = f"The job was killed and was not over {KILL_SECONDS:.0f} s later; it was given up."
            return job.end(failed_state(reason, job.job, self.clock.time()))
        return job.look(self.backend)


def threads_per_rank(plan: TrainingPlan, parallel: int) -> int:
    """Threads for each rank: the cores of this machine shared by all ranks that may run, at least one.

    Args:
        plan: A training job.
        parallel: How many such jobs run at a time.
    """
    if plan.threads is not None:
        return plan.threads
    ranks = parallel * plan.hosts * (plan.ranks_per_host or 1)
    return max(1, usable_cores() // ranks)
