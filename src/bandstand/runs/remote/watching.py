"""Watching a job that runs on SageMaker until it is over, or until whoever watches leaves."""

from __future__ import annotations

from bandstand.backends.sagemaker.service_file import read_served
from bandstand.errors import InputError, PlatformError
from bandstand.runs.clock import Clock, SystemClock
from bandstand.runs.finding import find
from bandstand.runs.followed import Followed
from bandstand.runs.jobs import Kind, TrainingJob, TuningJob
from bandstand.runs.news import News
from bandstand.runs.picture import Pictures
from bandstand.runs.record import Record
from bandstand.runs.remote.bringing_home import bring_models_home
from bandstand.runs.remote.standings import Standings
from bandstand.runs.remote.survey import Round, Survey
from bandstand.runs.remote.surveyor import Surveyor
from bandstand.runs.remote.taking_in import Intake
from bandstand.runs.snapshot import Observer, Outcome, StopFlag

LOOK_SECONDS = 0.2
"""Time between two looks at the files of a job."""

REMIND_SECONDS = 60.0
"""Time after which it is said again that AWS cannot be reached."""

LEFT = "InProgress"
"""The status of an outcome whose job goes on without whoever watched it."""


def watch(
    name: str, kind: Kind, record: Record, observer: Observer, stop: StopFlag, *, clock: Clock | None = None
) -> Outcome:
    """Follow a job of the record that runs on SageMaker, and write down all that it tells.

    Any number of processes may watch the same job.

    Args:
        name: The job.
        kind: Whether it is a tuning job or a training job.
        record: The store.
        observer: Who watches.
        stop: What Ctrl-C sets: the watching ends, and the job goes on.
        clock: The time; the machine's own unless a test brings another.

    Returns:
        How it ended; with the status `InProgress` where the watching did.

    Raises:
        InputError: The rights are missing, or the job is gone.
    """
    return _Watch(name, kind, record, observer, stop, clock or SystemClock()).run()


class _Watch:
    def __init__(
        self, name: str, kind: Kind, record: Record, observer: Observer, stop: StopFlag, clock: Clock
    ) -> None:
        served = read_served(record.folder(name, kind))
        if served is None:
            raise InputError(f"There is no {kind} job {name} of SageMaker's in {record.home}.")
        self._tuning = kind == "tuning"
        self._name = name
        self._kind: Kind = kind
        self._record = record
        self._observer = observer
        self._stop = stop
        self._clock = clock
        self._intake = Intake(record, name, self._tuning, keep_lines=not self._tuning)
        self._surveyor = Surveyor(Survey(record.home, name, served).round, served.there().round_seconds)
        job = self._job()
        total = job.plan.jobs if isinstance(job, TuningJob) else 1
        used = max(0.0, clock.time() - job.created)
        self._pictures = Pictures(observer, clock, name, kind, total, used)
        self._standings = Standings(job.plan.goal) if isinstance(job, TuningJob) else None
        self._troubled: float | None = None
        self._said: frozenset[str] = frozenset()
        self._last: Round | None = None

    def run(self) -> Outcome:
        if self._job().over:
            self._intake.take()
            return self._end()
        self._surveyor.start()
        try:
            while not self._stop.asked:
                answer = self._surveyor.answer(LOOK_SECONDS)
                if isinstance(answer, InputError):
                    raise answer
                if isinstance(answer, PlatformError):
                    self._tell_trouble(answer)
                    continue
                if answer is not None and answer.over:
                    self._last = answer
                self._take(answer)
                if self._last is not None and self._is_over(self._last):
                    return self._end()
            return Outcome(self._name, LEFT)
        finally:
            self._surveyor.leave()

    def _job(self) -> TuningJob | TrainingJob:
        return find(self._record, self._name, self._kind)

    def _is_over(self, told: Round) -> bool:
        if told.standing is not None and all(row.over for row in self._intake.rows()):
            self._intake.finish(told.standing)
        return self._job().over

    def _take(self, told: Round | None) -> None:
        if told is not None:
            self._troubled = None
            for trouble in sorted(told.troubles - self._said):
                self._observer.said(f"warning: {trouble}")
            self._said |= told.troubles
        if told is None and self._last is None and not self._intake.stirred():
            self._show(changed=False)
            return
        added, news = self._intake.take(told)
        for row in added:
            settings = ", ".join(f"{name}={value}" for name, value in row.settings.items())
            self._observer.said(f"{row.name} started: {settings}")
        for job, each in news:
            self._say(job, each)
        self._show(changed=bool(added or news))

    def _say(self, job: Followed, news: News) -> None:
        several = job.job.plan.hosts > 1
        for line in news.lines:
            self._observer.said(f"{line.host} | {line.text}" if several else line.text)
        if job.over and self._tuning:
            for sentence in ended_words(job):
                self._observer.said(sentence)

    def _show(self, *, changed: bool, last: bool = False) -> None:
        jobs = sorted(self._intake.jobs.values(), key=lambda job: job.job.number)
        if self._standings is not None:
            self._standings.see(jobs)
        self._pictures.show(self._job().status, jobs, self._standings, changed=changed, last=last)

    def _end(self) -> Outcome:
        self._show(changed=True, last=True)
        job = self._job()
        bring_models_home(self._record, job, self._observer.said)
        return Outcome(job.name, job.status, job.failure_reason)

    def _tell_trouble(self, error: PlatformError) -> None:
        """Say that AWS cannot be reached, once and then now and then; the job goes on all the same."""
        now = self._clock.monotonic()
        if self._troubled is None or now - self._troubled >= REMIND_SECONDS:
            self._troubled = now
            self._observer.said(f"{self._name} goes on, but cannot be looked at: {error} Trying again.")


def ended_words(job: Followed) -> list[str]:
    """How a training job ended, and what a person should know about it."""
    status = job.state.status
    if status == "Failed":
        return [f"{job.name} failed: {job.failure_reason}", *job.warnings]
    reports = "1 report" if job.reports == 1 else f"{job.reports} reports"
    value = "" if job.objective is None else f", {job.job.objective_name}={job.objective:.6g}"
    word = "has stopped" if status == "Stopped" else status.lower()
    why = [f"{job.name}: {job.note}"] if status == "Stopped" and job.note else []
    warnings = [f"warning: {job.name}: {warning}" for warning in job.warnings]
    return [f"{job.name} {word} after {reports}{value}", *why, *warnings]
