"""When a checkpoint is due, who writes it, and when older ones may go."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from bandstand.training.checkpoints import Checkpoints
from bandstand.training.surroundings import Surroundings
from bandstand.training.team import Step, Team


class Checkpointing:
    """One rank's part in the checkpoints of its job.

    Args:
        at: This rank's place.
        team: The ranks of the job.
        checkpoints: Those of this host.
        clock: Seconds of a monotonic clock.
    """

    def __init__(
        self, at: Surroundings, team: Team, checkpoints: Checkpoints, clock: Callable[[], float]
    ) -> None:
        self._at = at
        self._team = team
        self._checkpoints = checkpoints
        self._clock = clock
        self._last = clock()
        self._offered: Callable[[], None] | None = None

    def is_due(self, number: int, every: int | None, every_seconds: float | None, step: Step) -> bool:
        """Whether a checkpoint is due, the same on all ranks; a collective if the time counts.

        Args:
            number: The iteration that has ended.
            every: Iterations between checkpoints.
            every_seconds: Seconds between checkpoints, by the leader's clock.
            step: Where the loop is.
        """
        due = every is None and every_seconds is None
        if every is not None:
            due = number % every == 0
        if every_seconds is not None:
            late = self._clock() - self._last >= every_seconds
            due = bool(self._team.broadcast(due or late, 0, step))
        return due

    def write(
        self, number: int, save: Callable[[Path], object], keep: int, suffix: str, shared: bool, step: Step
    ) -> None:
        """Write a checkpoint, and remove older ones once all hosts that need it have theirs.

        Args:
            number: The iteration that it follows.
            save: Writes the state to the path that it is given.
            keep: How many of the newest stay.
            suffix: Ending of the file's name.
            shared: Whether the leader alone writes, for all.
            step: Where the loop is.
        """
        self._offered = None
        self._last = self._clock()
        writes = self._at.rank == 0 if shared else self._at.local_rank == 0
        fault = self._checkpoints.write(number, save, suffix=suffix, shared=shared) if writes else None
        alone = shared or len(self._at.cluster.hosts) == 1
        faults = [fault] if alone else self._team.gather("checkpoint", fault, step)
        if writes and not any(faults):
            self._checkpoints.prune(keep)
        elif writes and fault is None:
            self._checkpoints.drop(number)

    def offer(self, write: Callable[[], None]) -> None:
        """Keep a checkpoint that is not due, in case that no iteration follows."""
        self._offered = write

    def forget(self) -> None:
        """An iteration begins: what was offered is no longer the state."""
        self._offered = None

    def write_offered(self) -> None:
        """No iteration follows: write what the last one has offered."""
        if self._offered is not None:
            self._offered()
