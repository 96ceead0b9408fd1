"""Ranks that a framework's own collective has failed, waiting to hear which other rank is to blame."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

WAIT = 10.0
"""Seconds in which the reason of a rank's end comes in, or the rest of the ranks fail likewise."""


@dataclass(frozen=True)
class Loss:
    """What one rank has met with.

    Args:
        what: What it was doing, and how that ended, as a sentence without a subject.
        since: When it told so, in seconds of the leader's monotonic clock.
    """

    what: str
    since: float


class Bereft:
    """Keeps who waits, and says in the end who was missing.

    Args:
        world_size: How many ranks there are.
        name: A rank's number to its name for people, `rank 1 on algo-2`.
    """

    def __init__(self, world_size: int, name: Callable[[int], str]) -> None:
        self._world_size = world_size
        self._name = name
        self._losses: dict[int, Loss] = {}

    @property
    def ranks(self) -> tuple[int, ...]:
        """The ranks that wait."""
        return tuple(sorted(self._losses))

    @property
    def are_all(self) -> bool:
        """Whether every rank waits, so that none of them is missing."""
        return len(self._losses) == self._world_size

    @property
    def judge_at(self) -> float | None:
        """When missing ranks are named, by the leader's monotonic clock; None while none waits."""
        return min(loss.since for loss in self._losses.values()) + WAIT if self._losses else None

    def add(self, rank: int, loss: Loss) -> None:
        """One more rank waits."""
        self._losses[rank] = loss

    def blame(self) -> tuple[int, str]:
        """Name the ranks that do not wait.

        Returns:
            The first of them, and the reason of the job's failure.
        """
        missing = [rank for rank in range(self._world_size) if rank not in self._losses]
        first = min(self._losses, key=lambda rank: self._losses[rank].since)
        others = [self._name(rank) for rank in self.ranks if rank != first]
        also = f" (as did {', '.join(others)})" if others else ""
        return missing[0], (
            f"{self._name(first)} {self._losses[first].what}{also}, and "
            f"{', '.join(self._name(rank) for rank in missing)} did not take part. Every rank must make the "
            "same collective calls in the same order: none inside a branch that only some ranks take."
        )

    def clear(self) -> None:
        """Nobody waits any longer."""
        self._losses.clear()
