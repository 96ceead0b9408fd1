"""What a ring of gradients asks of the library that moves its tensors, and how it hears of a broken one."""

from __future__ import annotations

from typing import Any, Protocol


class LostRingError(Exception):
    """A collective has failed, since another rank is gone, missing, or called something else."""


class Transport(Protocol):
    """What moves tensors between ranks; both operations are collective and raise LostRingError."""

    name: str

    def sum(self, tensor: Any) -> None:
        """Replace a tensor by its sum over all ranks."""
        ...

    def broadcast(self, tensor: Any) -> None:
        """Replace a tensor by the leader's."""
        ...

    def close(self) -> None:
        """Leave, once every rank has come so far."""
        ...
