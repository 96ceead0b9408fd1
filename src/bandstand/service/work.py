"""The running work: each job that was accepted runs in a thread of its own, with the live loop of the CLI."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import closing
from functools import partial
from pathlib import Path

from bandstand.backends.backend import Backend
from bandstand.errors import BandstandError, InputError
from bandstand.request.plan import Plan, TrainingPlan
from bandstand.runs.live import resume_training, resume_tuning, train, tune
from bandstand.runs.reconcile import reconcile
from bandstand.runs.record import Record
from bandstand.runs.snapshot import Observer, Outcome, Snapshot, StopFlag

logger = logging.getLogger(__name__)

PAUSES = (0.5, 1, 2, 4, *(60,) * 1440)
"""Seconds before each try to take a job up again whose record could not be written, for a day."""

Run = Callable[[Record, Backend, Observer, StopFlag, "Begun"], Outcome]


class Begun:
    """Tells the thread that asked for a job when it is in the record, or why it is not."""

    def __init__(self) -> None:
        self._future: Future[None] = Future()

    def recorded(self) -> None:
        """See `runs.live.Service`."""
        self._future.set_result(None)

    def failed(self, error: BaseException) -> bool:
        """Hand an error to who waits; False if nobody does any more."""
        if self._future.done():
            return False
        self._future.set_exception(error)
        return True

    def wait(self) -> None:
        """Return once the job is in the record; raises what hindered it."""
        self._future.result()


class Quiet:
    """Watches a run for the service, whose clients read the record."""

    def changed(self, snapshot: Snapshot) -> None:
        """See `Observer.changed`."""

    def said(self, text: str) -> None:
        """See `Observer.said`."""
        logger.debug("%s", text)


class Work:
    """The jobs that this process runs.

    Args:
        home: The folder that holds all state.
        backend: Makes a backend for a job's thread.
    """

    def __init__(self, home: Path, backend: Callable[[], Backend]) -> None:
        self._home = home
        self._backend = backend
        self._stop = StopFlag()
        self._running: set[threading.Thread] = set()

    @property
    def running(self) -> int:
        """How many jobs run: tuning jobs, and training jobs of their own."""
        return len(self._running)

    def start(self, plan: Plan) -> None:
        """Run a job; returns once it is in the record.

        Args:
            plan: The job; no other of its kind may have its name.

        Raises:
            InputError: It cannot be: its name is taken, or what it builds on is not there.
            PlatformError: The record cannot be written.
        """

        def run(
            record: Record, backend: Backend, observer: Observer, stop: StopFlag, begun: Begun
        ) -> Outcome:
            if isinstance(plan, TrainingPlan):
                return train(plan, record, backend, observer, stop, service=begun)
            return tune(plan, record, backend, observer, stop, service=begun)

        resume = resume_training if isinstance(plan, TrainingPlan) else resume_tuning
        self._launch(plan.name, run, partial(_resumed, plan.name, resume))

    def take_up(self) -> list[str]:
        """Go on with every job that an earlier service left; returns once each has an owner again.

        Returns:
            One sentence for each job that cannot go on.
        """
        with Record.open(self._home) as record:
            tuning = [row["name"] for row in record.read(_LEFT_TUNING)]
            training = [row["name"] for row in record.read(_LEFT_TRAINING)]
        troubles = []
        for name, resume in (
            *((name, resume_tuning) for name in tuning),
            *((name, resume_training) for name in training),
        ):
            try:
                again = partial(_resumed, name, resume)
                self._launch(name, again, again)
            except BandstandError as error:
                troubles.append(f"{name} does not go on: {error}")
        with Record.open(self._home) as record:
            reconcile(record)  # what cannot go on ends, and the claims of dead processes are forgotten
        return troubles

    def _launch(self, name: str, run: Run, again: Run) -> None:
        """Run a job in a thread; `again` takes it up if what followed it fails."""
        begun = Begun()
        # Daemons: when the service ends, jobs go on under their supervisors until their leases run out.
        arguments = (name, run, again, begun)
        thread = threading.Thread(target=self._run, args=arguments, name=f"job-{name}", daemon=True)
        self._running.add(thread)
        thread.start()
        begun.wait()

    def _run(self, name: str, run: Run, again: Run, begun: Begun) -> None:
        try:
            self._follow(run, begun)
        except BandstandError as error:
            if not begun.failed(error):
                logger.error("the job %s is taken up again: %s", name, error)
                self._go_on(name, again)
        except Exception as error:
            if not begun.failed(error):
                logger.exception("the job %s is taken up again: what followed it has failed", name)
                self._go_on(name, again)
        finally:
            self._running.discard(threading.current_thread())

    def _follow(self, run: Run, begun: Begun) -> None:
        with Record.open(self._home) as record, closing(self._backend()) as backend:
            run(record, backend, Quiet(), self._stop, begun)

    def _go_on(self, name: str, again: Run) -> None:
        """Take a job up again, as a service that is started again would; if that fails, try again later."""
        for pause in PAUSES:
            time.sleep(pause)
            try:
                self._follow(again, Begun())
            except InputError as error:  # it is over, or what it needs is gone
                logger.warning("the job %s does not go on: %s", name, error)
                with Record.open(self._home) as record:
                    reconcile(record)
                return
            except BandstandError as error:
                logger.error("the job %s could not be taken up again: %s", name, error)
            except Exception:
                logger.exception("the job %s could not be taken up again", name)
            else:
                return


def _resumed(
    name: str,
    resume: Callable[..., Outcome],
    record: Record,
    backend: Backend,
    observer: Observer,
    stop: StopFlag,
    begun: Begun,
) -> Outcome:
    return resume(name, record, backend, observer, stop, service=begun)


_LEFT_TUNING = """SELECT name FROM tuning_jobs WHERE served AND (status IN ('InProgress', 'Stopping')
    OR (status = 'Failed' AND NOT EXISTS (
        SELECT 1 FROM events WHERE tuning_job = tuning_jobs.name AND kind = 'decision'
            AND json_extract(body, '$.type') = 'finish')))"""
_LEFT_TRAINING = """SELECT name FROM training_jobs WHERE served AND tuning_job IS NULL
    AND (status IN ('InProgress', 'Stopping') OR interrupted)"""
