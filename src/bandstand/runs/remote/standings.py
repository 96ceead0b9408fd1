"""Who is best in a tuning job that AMT decides, for the picture of a run."""

from __future__ import annotations

from collections.abc import Sequence

from bandstand.runs.followed import Followed
from bandstand.study.rungs import usable


class Standings:
    """Knows the best training job of those that are over; brackets and rungs are AMT's own.

    Args:
        goal: `maximize` or `minimize`.
    """

    def __init__(self, goal: str) -> None:
        self._sign = -1.0 if goal == "maximize" else 1.0
        self._jobs: Sequence[Followed] = ()

    def see(self, jobs: Sequence[Followed]) -> None:
        """Take in the training jobs, in order of their numbers."""
        self._jobs = jobs

    def best(self) -> tuple[int, float] | None:
        """Number and objective of the best training job; None while there is none."""
        ranked = [
            (self._sign * job.objective, job.job.number, job.objective)
            for job in self._jobs
            if job.state.status in ("Completed", "Stopped")
            and job.objective is not None
            and usable(job.objective)
        ]
        return min(ranked)[1:] if ranked else None
