"""Ranks that a framework's own collective has failed, waiting to hear which other rank is to blame."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

WAIT = 10.0
"""Seconds in which the reason of a rank's end comes in, or the rest of the ranks fail likewise."""


@dataclass(frozen=True)
class Loss:
    """What one rank has met with.

    Args:
        how: How its collective ended.
        iteration: The iteration that it is in, 0 before the first.
        since: When it told so, in seconds of the leader's monotonic clock.
    """

    how: str
    iteration: int
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
        first = min(self._losses.values(), key=lambda loss: loss.since)
        where = f" in iteration {first.iteration}" if first.iteration else ""
        return missing[0], (
            f"{self._names(self.ranks)} waited in a collective{where} for {self._names(missing)}, which did "
            f"not come ({first.how}). Every rank must make the same collective calls in the same order: none "
            "inside a branch that only some ranks take."
        )

    def _names(self, ranks: Sequence[int]) -> str:
        return ", ".join(self._name(rank) for rank in ranks)

    def clear(self) -> None:
        """Nobody waits any longer."""
        self._losses.clear()
