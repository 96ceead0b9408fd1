"""What the outside wants of a running job: that it stop, that it be interrupted, that it keep its limits."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

from bandstand.backends.ending import EndingCause, Lease
from bandstand.backends.job_folder import JobFolder
from bandstand.backends.requests import read_interruption, read_request
from bandstand.backends.task import Task


@dataclass(frozen=True)
class Wish:
    """That a job end.

    Args:
        cause: Why.
        grace: Seconds between SIGTERM and SIGKILL.
        text: One sentence for people.
    """

    cause: EndingCause
    grace: float
    text: str


class Outside:
    """Sees the wishes for a job's end, its limits of time, and whether it still has an owner.

    Args:
        task: The job.
        folder: Its folder.
        created: When the job was handed in, in epoch seconds; its first attempt, if there were several.
    """

    def __init__(self, task: Task, folder: JobFolder, created: float) -> None:
        now = time.monotonic()
        self.is_terminated = False
        self._task = task
        self._folder = folder
        self._lease = Lease(task.lease_seconds, now)
        self._run_until: float | None = None
        self._wait_until: float | None = None
        if task.max_wait is not None:
            self._wait_until = now + task.max_wait - (time.time() - created)

    def begin(self) -> None:
        """Let the time count that the job may run."""
        if self._task.max_runtime is not None:
            self._run_until = time.monotonic() + max(0.0, self._task.max_runtime - self._task.spent)

    @property
    def due(self) -> float:
        """When the next limit is reached, on the monotonic clock; infinite if there is none."""
        return min(
            (limit for limit in (self._run_until, self._wait_until) if limit is not None),
            default=float("inf"),
        )

    def wishes(self, now: float) -> Iterator[Wish]:
        """Yield every wish there is, the most urgent kind first.

        Args:
            now: The time on the monotonic clock.
        """
        task = self._task
        request = read_request(self._folder)
        if request is not None:
            yield Wish("stop", request.grace, "Stopping the training job.")
        elif self.is_terminated:
            yield Wish("stop", task.grace, "Stopping: the supervisor got SIGTERM.")
        if self._lease.is_lost(self._mark(), now):
            text = f"Stopping: nobody has renewed the lease for {task.lease_seconds:g} s."
            yield Wish("owner", task.lease_grace, text)
        if self._run_until is not None and now >= self._run_until:
            self._run_until = None
            text = f"Stopping: the job has run for {task.max_runtime} s, its limit."
            yield Wish("runtime", task.grace, text)
        if self._wait_until is not None and now >= self._wait_until:
            self._wait_until = None
            text = f"Stopping: the job has waited and run for {task.max_wait} s, its limit."
            yield Wish("wait", task.grace, text)
        interruption = read_interruption(self._folder)
        if interruption is not None:
            text = (
                "The managed spot instances were interrupted: SIGTERM to all hosts,"
                f" SIGKILL after {interruption.grace:g} s."
            )
            yield Wish("interruption", interruption.grace, text)

    def _mark(self) -> int | None:
        try:
            return self._folder.lease.stat().st_mtime_ns
        except FileNotFoundError:
            return None
