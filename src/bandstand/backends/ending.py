"""Why a job's hosts are being ended, and by when: decided here, without a clock of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

EndingCause = Literal["stop", "owner", "runtime", "wait", "interruption", "failure"]

_SECONDARY: Mapping[str, str] = {
    "runtime": "MaxRuntimeExceeded",
    "wait": "MaxWaitTimeExceeded",
    "interruption": "Interrupted",
}


@dataclass(frozen=True)
class Ending:
    """The end that a job's hosts have been set.

    Args:
        cause: `stop`: somebody asked; `owner`: nobody renewed the lease; `runtime` and `wait`: the plan's
            limits are reached; `interruption`: as spot instances are; `failure`: a host failed, or the job
            cannot go on.
        deadline: When the hosts are killed, on the caller's clock, in seconds.
        detail: For a failure, its reason as far as it is known without looking at a host; else a sentence.
    """

    cause: EndingCause
    deadline: float
    detail: str = ""

    @property
    def status(self) -> str:
        """The job's last status."""
        return "Failed" if self.cause == "failure" else "Stopped"

    @property
    def secondary_status(self) -> str:
        """The job's last secondary status."""
        return _SECONDARY.get(self.cause, self.status)

    @property
    def is_wanted(self) -> bool:
        """Whether a host's exit code says nothing about the job any more."""
        return self.cause != "failure"


def asked(present: Ending | None, cause: EndingCause, now: float, grace: float, detail: str = "") -> Ending:
    """Return the end that counts after one more wish for it: the first cause, the earliest time.

    An interruption is no end of the job, so any other cause takes its place.

    Args:
        present: The end that was set before, if any.
        cause: Why this end is asked for.
        now: The time on the caller's clock, in seconds.
        grace: Seconds between SIGTERM and SIGKILL.
        detail: See `Ending`.
    """
    deadline = now + max(0.0, grace)
    if present is None:
        return Ending(cause, deadline, detail)
    if present.cause != "interruption":
        cause, detail = present.cause, present.detail
    return Ending(cause, min(present.deadline, deadline), detail)


class Lease:
    """Notices when nobody renews the lease any more.

    The owner changes a file's time; how long ago that was is measured on the watcher's own clock, so that
    clocks that are set meanwhile do no harm. A watcher that was halted (a frozen container, a paused machine)
    has most likely been so together with the owner: of the time between two looks, no more than half the
    lease counts, so that the owner has the other half to come back.

    Args:
        seconds: Time without a change after which the owner is taken for lost.
        now: The time on the watcher's clock.
    """

    def __init__(self, seconds: float, now: float) -> None:
        self._seconds = seconds
        self._mark: int | None = None
        self._changed = now
        self._looked = now

    def is_lost(self, mark: int | None, now: float) -> bool:
        """Say whether the owner is lost.

        Args:
            mark: The file's time of change, in any unit; None if it cannot be read.
            now: The time on the watcher's clock, in seconds.
        """
        self._changed += max(0.0, now - self._looked - self._seconds / 2)
        self._looked = now
        if mark is not None and mark != self._mark:
            self._mark = mark
            self._changed = now
        return now - self._changed >= self._seconds
