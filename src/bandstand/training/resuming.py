"""From which iteration a job goes on: what its hosts offer, and what follows from that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bandstand.training.checkpoint_record import Record

Offer = dict[str, Any]
"""What a host tells the others, as JSON carries it."""


def offer_of(found: Mapping[int, Record], attempt: str) -> Offer:
    """A host's usable checkpoints, for the other hosts.

    Args:
        found: Iteration to record.
        attempt: A name for this start of the job; the leader's counts.
    """
    checkpoints = [[number, record.attempt, record.shared] for number, record in found.items()]
    return {"attempt": attempt, "checkpoints": checkpoints}


def newest_common(offers: Sequence[Offer]) -> int:
    """The newest iteration from which every host can go on, 0 if there is none.

    A state that all hosts share is needed from the leader alone, so that neither the number of hosts nor who
    has rows matters. Of any other state every host needs its own, written in the same attempt: another one
    may have trained something else.

    Args:
        offers: What the hosts offer, the leader first.
    """
    leader, *others = [{tuple(entry) for entry in offer["checkpoints"]} for offer in offers]
    usable = {entry for entry in leader if entry[2] or all(entry in other for other in others)}
    return max((number for number, _, _ in usable), default=0)
