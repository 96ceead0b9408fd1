"""The live loop: joins the study's decisions and a backend's jobs, and writes both into the record."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from itertools import chain
from typing import Protocol

from bandstand.backends.backend import Backend
from bandstand.request.plan import TrainingPlan, TuningPlan
from bandstand.runs.clock import Clock, SystemClock
from bandstand.runs.jobs import TuningJob
from bandstand.runs.kinds import kind_of
from bandstand.runs.launcher import Launcher
from bandstand.runs.ledger import Ledger
from bandstand.runs.ownership import Claim, Renewal
from bandstand.runs.record import Record
from bandstand.runs.resuming import (
    changes_since,
    claim_training,
    claim_tuning,
    resumable_training,
    resumable_tuning,
)
from bandstand.runs.single import Single
from bandstand.runs.snapshot import JobRow, Observer, Outcome, Snapshot, StopFlag
from bandstand.runs.stored import add_tuning_job, training_jobs
from bandstand.runs.tuning import Tuning
from bandstand.runs.warm_start import knowledge
from bandstand.study import Study, StudySpec
from bandstand.study.model import require_model

__all__ = [
    "JobRow",
    "Observer",
    "Outcome",
    "Service",
    "Snapshot",
    "StopFlag",
    "resume_training",
    "resume_tuning",
    "train",
    "tune",
]

GRACE_SECONDS = 120.0
"""Time between SIGTERM and SIGKILL, as SageMaker gives it (StopTrainingJob)."""


class Service(Protocol):
    """What the service wants to know of a job that it runs."""

    def recorded(self) -> None:
        """The job is in the record, under a living claim; nothing of it has been started yet."""


def tune(
    plan: TuningPlan,
    record: Record,
    backend: Backend,
    observer: Observer,
    stop: StopFlag,
    *,
    grace: float = GRACE_SECONDS,
    clock: Clock | None = None,
    service: Service | None = None,
) -> Outcome:
    """Run a tuning job to its end.

    Args:
        plan: What was asked for; its name must be free.
        record: The store; every report, event and decision is in it before anything is done about it.
        backend: Where the training jobs run.
        observer: Who watches.
        stop: What Ctrl-C sets: the first ends all jobs cleanly, the second kills them.
        grace: Seconds between SIGTERM and SIGKILL when a training job is stopped.
        clock: The time; the machine's own unless a test brings another.
        service: Set where the service runs it.

    Returns:
        How it ended.

    Raises:
        InputError: The name is taken, or a warm start is asked for from jobs that cannot give it.
        PlatformError: The record cannot be written, and the training jobs have been asked to stop; or the
            strategy needs a package that is not installed.
    """
    seed = secrets.randbelow(2**31) if plan.seed is None else plan.seed
    spec = StudySpec.from_plan(plan, seed)
    if spec.modelled:
        require_model()
    with _launcher(record, backend, observer, stop, grace, clock, service) as launcher:
        learned = knowledge(record, plan)
        ledger = Ledger(record, plan.name, Study(spec))
        created = launcher.clock.time()
        owner, kind = launcher.claim.owner, kind_of(backend)
        job = TuningJob(plan.name, owner, plan, seed, grace, created, backend=kind, served=launcher.served)
        with record.transaction(durable=launcher.served) as connection:
            add_tuning_job(connection, job)
            for known in learned.events:
                ledger.tell(connection, known, job.created)
        _acknowledge(service)
        for note in learned.notes:
            observer.said(f"{plan.name}: {note}")
        return Tuning(plan, launcher, ledger).run()


def train(
    plan: TrainingPlan,
    record: Record,
    backend: Backend,
    observer: Observer,
    stop: StopFlag,
    *,
    grace: float = GRACE_SECONDS,
    clock: Clock | None = None,
    service: Service | None = None,
) -> Outcome:
    """Run one training job to its end; its log lines are told to the observer.

    Args:
        plan: What was asked for; its name must be free.
        record: The store.
        backend: Where the job runs.
        observer: Who watches.
        stop: What Ctrl-C sets: the first ends the job cleanly, the second kills it.
        grace: Seconds between SIGTERM and SIGKILL when the job is stopped.
        clock: The time; the machine's own unless a test brings another.
        service: Set where the service runs it.

    Returns:
        How it ended.

    Raises:
        InputError: The name is taken.
        PlatformError: The record cannot be written; the job has been asked to stop.
    """
    with _launcher(record, backend, observer, stop, grace, clock, service) as launcher:
        with record.transaction(durable=launcher.served) as connection:
            job = launcher.add(connection, plan)
        _acknowledge(service)
        return Single(job, launcher).run()


def resume_tuning(
    name: str,
    record: Record,
    backend: Backend,
    observer: Observer,
    stop: StopFlag,
    *,
    clock: Clock | None = None,
    service: Service | None = None,
) -> Outcome:
    """Take up a tuning job whose launcher is gone, and run it to its end.

    What has ended stays as it is; training jobs that run go on; those that lost their owner are begun again,
    each once, from their checkpoints; and those that were never started follow, as the study has it.

    Args:
        name: The tuning job.
        record: The store.
        backend: Where its training jobs run.
        observer: Who watches.
        stop: What Ctrl-C sets: the first ends all jobs cleanly, the second kills them.
        clock: The time; the machine's own unless a test brings another.
        service: Set where the service runs it.

    Returns:
        How it ended.

    Raises:
        InputError: It cannot be resumed: nobody has the name, it is over, a living launcher runs it, or its
            code or data is gone.
        PlatformError: The record cannot be written, and the training jobs have been asked to stop; or the
            strategy needs a package that is not installed.
    """
    found = resumable_tuning(record, name)
    if StudySpec.from_plan(found.plan, found.seed).modelled:
        require_model()
    with _launcher(record, backend, observer, stop, found.grace, clock, service) as launcher:
        job = claim_tuning(record, name, launcher.claim, launcher.clock.time())
        _acknowledge(service)
        notes = [changes_since(each.training, job.created) for each in job.plan.definitions]
        for note in dict.fromkeys(chain.from_iterable(notes)):
            observer.said(f"note: {note}")
        halting = job.status == "Stopping"
        ledger = Ledger.load(record, job)
        run = Tuning(job.plan, launcher, ledger, used=job.used, halting=halting, grace=job.stop_grace)
        run.adopt(training_jobs(record, "tuning_job = ?", (job.name,)))
        return run.run()


def resume_training(
    name: str,
    record: Record,
    backend: Backend,
    observer: Observer,
    stop: StopFlag,
    *,
    clock: Clock | None = None,
    service: Service | None = None,
) -> Outcome:
    """Take up a training job of its own whose launcher is gone, and run it to its end.

    Args:
        name: The training job.
        record: The store.
        backend: Where it runs.
        observer: Who watches.
        stop: What Ctrl-C sets: the first ends the job cleanly, the second kills it.
        clock: The time; the machine's own unless a test brings another.
        service: Set where the service runs it.

    Returns:
        How it ended.

    Raises:
        InputError: It cannot be resumed: nobody has the name, it is over, a living launcher runs it, or its
            code or data is gone.
        PlatformError: The record cannot be written; the job has been asked to stop.
    """
    found = resumable_training(record, name)
    with _launcher(record, backend, observer, stop, found.grace, clock, service) as launcher:
        job = claim_training(record, name, launcher.claim)
        _acknowledge(service)
        for note in changes_since(job.plan, job.created):
            observer.said(f"note: {note}")
        return Single(job, launcher).run(resumed=True)


@contextmanager
def _launcher(
    record: Record,
    backend: Backend,
    observer: Observer,
    stop: StopFlag,
    grace: float,
    clock: Clock | None,
    service: Service | None,
) -> Iterator[Launcher]:
    with Claim.make(record) as claim, Renewal(backend.renew) as renewal:
        time, served = clock or SystemClock(), service is not None
        launcher = Launcher(record, backend, observer, stop, grace, time, claim, renewal, served)
        with nullcontext() if served else launcher.stopping_on_error():  # a service takes its jobs up again
            yield launcher


def _acknowledge(service: Service | None) -> None:
    if service is not None:
        service.recorded()
