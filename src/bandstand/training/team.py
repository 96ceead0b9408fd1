"""What the ranks of a job agree on: how far to go, and values that all of them need."""

from __future__ import annotations

import json
from typing import Any, Literal, Protocol

from bandstand.errors import JobError

MAX_VALUE = 4 << 20
"""Bytes of JSON that one rank may give to a collective."""

Operation = Literal["start", "mean", "gather", "broadcast", "barrier", "checkpoint", "reason"]
Step = tuple[int, int]
"""Which training loop of the script, from 1, and which iteration of it: what comes later is greater."""


class Team(Protocol):
    """The ranks of one job, seen from one of them."""

    def enter(self, step: Step, stop_asked: bool) -> bool:
        """Whether this rank may enter an iteration; the answer is the same for all ranks.

        Args:
            step: The iteration that this rank would enter next.
            stop_asked: Whether this rank has been asked to stop.
        """
        ...

    def gather(self, operation: Operation, value: object, step: Step) -> list[Any]:
        """The values of all ranks, in rank order, on every rank."""
        ...

    def broadcast(self, value: object, root: int, step: Step) -> object:
        """The value of one rank, on every rank."""
        ...


class Alone:
    """A job of one rank, which needs nobody."""

    def enter(self, step: Step, stop_asked: bool) -> bool:
        """Go on until asked to stop."""
        return not stop_asked

    def gather(self, operation: Operation, value: object, step: Step) -> list[Any]:
        """The rank's own value, as it would look after its way over a network."""
        return [json.loads(encode_value(operation, value))]

    def broadcast(self, value: object, root: int, step: Step) -> object:
        """The rank's own value, as it would look after its way over a network."""
        return json.loads(encode_value("broadcast", value))


def encode_value(operation: str, value: object) -> str:
    """A value for a collective as JSON.

    Raises:
        JobError: If it is nothing that JSON can carry, or too large.
    """
    try:
        text = json.dumps(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise JobError(
            f"{operation}() takes what JSON can carry (numbers, text, lists, mappings); found "
            f"{type(value).__name__}: {error}. Convert it first, as in float(x) or x.tolist()."
        ) from None
    if len(text) > MAX_VALUE:
        raise JobError(
            f"{operation}() was given {len(text)} bytes of JSON; at most {MAX_VALUE} are carried. Exchange "
            "large arrays with the framework's own collectives, or through files."
        )
    return text
