"""One collective call at a time: the ranks' values come in, the same result goes out to all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bandstand.training.meet.wire import Message


@dataclass(frozen=True)
class Call:
    """What one rank asks for.

    Args:
        operation: The name of the method that the script called.
        root: The rank whose value goes to all; None when the values of all ranks do.
        step: Loop and iteration that the rank is in, (0, 0) before the first.
        value: This rank's contribution.
        since: When it came, in seconds of the leader's monotonic clock.
    """

    operation: str
    root: int | None
    step: tuple[int, int]
    value: object
    since: float

    def __str__(self) -> str:
        where = f" in iteration {self.step[1]}" if self.step[1] else ""
        return f"{self.operation}(){where}"

    def fits(self, other: Call) -> bool:
        """Whether two ranks mean the same call; one that stands aside from the loop has no step."""
        same_step = self.step == other.step or (0, 0) in (self.step, other.step)
        return same_step and (self.operation, self.root) == (other.operation, other.root)


class Collectives:
    """Joins the calls of all ranks, and fails those that can never be complete.

    Args:
        world_size: How many ranks there are.
        name: A rank's number to its name for people, `rank 1 on algo-2`.
    """

    def __init__(self, world_size: int, name: Callable[[int], str]) -> None:
        self._world_size = world_size
        self._name = name
        self._calls: dict[int, Call] = {}
        self._left: dict[int, bool] = {}

    @property
    def waiting(self) -> tuple[int, ...]:
        """The ranks that wait in a call."""
        return tuple(sorted(self._calls))

    def call(self, rank: int, call: Call) -> list[tuple[int, Message]]:
        """A rank makes its call.

        Returns:
            The replies that are due now.
        """
        other = next(iter(self._calls.items()), None)
        self._calls[rank] = call
        if other is not None and not call.fits(other[1]):
            return self._reply_all(
                "error",
                f"{self._name(other[0])} calls {other[1]}, {self._name(rank)} calls {call}. Every rank must "
                "make the same collective calls in the same order: none inside a branch that only some ranks "
                "take.",
            )
        if self._left:
            return self._miss()
        if len(self._calls) < self._world_size:
            return []
        result = [self._calls[number].value for number in range(self._world_size)]
        return self._reply_all("result", result if call.root is None else result[call.root])

    def leave(self, rank: int, *, stopped: bool) -> list[tuple[int, Message]]:
        """A rank has ended without a failure.

        Args:
            rank: Which one.
            stopped: Whether the job had been asked to stop.

        Returns:
            The replies to those that wait for it in vain.
        """
        self._left[rank] = stopped
        return self._miss() if self._calls else []

    def fail(self, reason: str) -> list[tuple[int, Message]]:
        """The job has failed: nobody waits any longer."""
        return self._reply_all("failed", reason)

    def stalled(self, now: float, after: float) -> str | None:
        """Who has been waiting for whom for some time, as a sentence; None when nobody has.

        Args:
            now: Seconds of the leader's monotonic clock.
            after: Seconds that a call may take unnoticed.
        """
        if not self._calls:
            return None
        rank, call = min(self._calls.items(), key=lambda item: item[1].since)
        if now - call.since < after:
            return None
        missing = [self._name(number) for number in range(self._world_size) if number not in self._calls]
        waited = round(now - call.since)
        return f"{self._name(rank)} has waited {waited} s in {call} for {', '.join(missing)}."

    def _miss(self) -> list[tuple[int, Message]]:
        rank, stopped = next(iter(self._left.items()))
        call = next(iter(self._calls.values()))
        if stopped:
            return self._reply_all(
                "stopped", f"{self._name(rank)} has left, since the job was asked to stop."
            )
        return self._reply_all(
            "error",
            f"{call} waits for {self._name(rank)}, which has ended. Every rank must make the same collective "
            "calls.",
        )

    def _reply_all(self, kind: str, value: object) -> list[tuple[int, Message]]:
        replies: list[tuple[int, Message]] = [(rank, {"kind": kind, "value": value}) for rank in self._calls]
        self._calls.clear()
        return replies
