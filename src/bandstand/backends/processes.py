"""Training jobs as processes of this machine, each host in name spaces of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bandstand.backends.backend import JobState, LogLine

if TYPE_CHECKING:
    from bandstand.request.plan import TrainingPlan


class ProcessBackend:
    """Runs each training job under a supervisor process of its own, which outlives the launcher.

    Args:
        lease_seconds: Seconds without `renew` after which a job's supervisor stops it.
        lease_grace: Seconds between SIGTERM and SIGKILL for a job that has lost its owner.
        peer_grace: Seconds that the other hosts get to end by themselves after one has failed.
    """

    def __init__(
        self,
        *,
        lease_seconds: float = 10.0,
        lease_grace: float = 5.0,
        peer_grace: float = 5.0,
        _host_command: Sequence[str] | None = None,
    ) -> None:
        self._lease_seconds = lease_seconds
        self._lease_grace = lease_grace
        self._peer_grace = peer_grace
        self._host_command = tuple(_host_command) if _host_command is not None else None

    def submit(self, plan: TrainingPlan, folder: Path, *, threads: int) -> None:
        """See `Backend.submit`."""
        raise NotImplementedError

    def describe(self, folder: Path) -> JobState:
        """See `Backend.describe`."""
        raise NotImplementedError

    def lines(self, folder: Path, offsets: Mapping[str, int]) -> tuple[list[LogLine], dict[str, int]]:
        """See `Backend.lines`."""
        raise NotImplementedError

    def stop(self, folder: Path, grace: float = 120.0) -> None:
        """See `Backend.stop`."""
        raise NotImplementedError

    def kill(self, folder: Path) -> None:
        """See `Backend.kill`."""
        raise NotImplementedError

    def renew(self, folder: Path) -> None:
        """See `Backend.renew`."""
        raise NotImplementedError

    def list(self, home: Path) -> tuple[Path, ...]:
        """See `Backend.list`."""
        raise NotImplementedError

    def close(self) -> None:
        """See `Backend.close`."""
