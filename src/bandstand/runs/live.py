"""The live loop: joins the study's decisions and a backend's jobs, and writes both into the record."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager

from bandstand.backends.backend import Backend
from bandstand.request.plan import TrainingPlan, TuningPlan
from bandstand.runs.clock import Clock, SystemClock
from bandstand.runs.launcher import Launcher
from bandstand.runs.ledger import Ledger
from bandstand.runs.ownership import Claim, Renewal
from bandstand.runs.record import Record
from bandstand.runs.single import Single
from bandstand.runs.snapshot import JobRow, Observer, Outcome, Snapshot, StopFlag
from bandstand.runs.stored import TuningJob, add_tuning_job
from bandstand.runs.tuning import Tuning
from bandstand.runs.warm_start import knowledge
from bandstand.study import Study, StudySpec
from bandstand.study.model import require_model

__all__ = ["JobRow", "Observer", "Outcome", "Snapshot", "StopFlag", "train", "tune"]

GRACE_SECONDS = 120.0
"""Time between SIGTERM and SIGKILL, as SageMaker gives it (StopTrainingJob)."""


def tune(
    plan: TuningPlan,
    record: Record,
    backend: Backend,
    observer: Observer,
    stop: StopFlag,
    *,
    grace: float = GRACE_SECONDS,
    clock: Clock | None = None,
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
    with _launcher(record, backend, observer, stop, grace, clock) as launcher:
        learned = knowledge(record, plan)
        ledger = Ledger(record, plan.name, Study(spec))
        job = TuningJob(plan.name, launcher.claim.owner, plan, seed, grace, launcher.clock.time())
        with record.transaction() as connection:
            add_tuning_job(connection, job)
            for known in learned.events:
                ledger.tell(connection, known, job.created)
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

    Returns:
        How it ended.

    Raises:
        InputError: The name is taken.
        PlatformError: The record cannot be written; the job has been asked to stop.
    """
    with _launcher(record, backend, observer, stop, grace, clock) as launcher:
        with record.transaction() as connection:
            job = launcher.add(connection, plan)
        return Single(job, launcher).run()


@contextmanager
def _launcher(
    record: Record, backend: Backend, observer: Observer, stop: StopFlag, grace: float, clock: Clock | None
) -> Iterator[Launcher]:
    with Claim.make(record) as claim, Renewal(backend.renew) as renewal:
        launcher = Launcher(record, backend, observer, stop, grace, clock or SystemClock(), claim, renewal)
        with launcher.stopping_on_error():
            yield launcher
