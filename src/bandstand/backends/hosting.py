"""What a supervisor needs of a job's hosts, whatever they are, and the choice of what they are."""

from __future__ import annotations

import resource
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from bandstand.backends.backend import HostState
from bandstand.backends.job_folder import JobFolder
from bandstand.backends.log_writer import LogWriter
from bandstand.backends.task import Task

if TYPE_CHECKING:
    from bandstand.backends.container_network import Network


class AnyStream(Protocol):
    """Output of a host that can be waited for and read."""

    descriptor: int
    is_open: bool

    def read(self) -> bool:
        """Take what there is, at most a bounded amount; return whether there may be more."""

    def close(self) -> None:
        """Write the last, unfinished line, and let the descriptor go."""


class AnyHost(Protocol):
    """A host from its start to its end."""

    name: str
    log: LogWriter
    report: int
    """A descriptor that can be read when `take_report` has something to tell; -1 if there is none."""
    hint: str
    """A sentence about its end that its own words do not have; else empty."""

    @property
    def state(self) -> HostState:
        """What is told to the outside."""

    @property
    def has_ended(self) -> bool:
        """Whether nothing of it runs any more, and all that it said can be read."""

    @property
    def fault(self) -> str | None:
        """Why the host cannot be part of the job, or None."""

    @property
    def streams(self) -> Sequence[AnyStream]:
        """Its output."""

    @property
    def processes(self) -> tuple[int, ...]:
        """The supervisor's own children that belong to it and live."""

    def take_report(self) -> bool:
        """Take note of what became of it; return False when there will be nothing more."""

    def child_ended(self, pid: int, status: int, usage: resource.struct_rusage) -> None:
        """Take note of the end of one of the supervisor's children, if it is this host's."""

    def terminate(self) -> bool:
        """Send SIGTERM to process 1; return whether it can hear it."""

    def kill(self) -> None:
        """End the host and everything in it."""

    def finish(self) -> None:
        """Read what is left of the output of a host that has ended, and close everything."""


class AnyLaunch(Protocol):
    """A job's hosts, from first to last."""

    @property
    def hosts(self) -> Sequence[AnyHost]:
        """The hosts, the leader first."""

    def start(self) -> None:
        """Start every host; those that cannot be started say so."""

    def see_off(self) -> None:
        """Do what is to be done when a host has ended."""

    def hand_over(self) -> str:
        """Make the files of all hosts, which have ended, the caller's; return what resisted, for people."""

    def close(self) -> str:
        """Let go of what another job may wait for; return what resisted, for people."""

    def leave(self) -> str:
        """Remove what is left, which nobody waits for, after the job's last status; return what resisted."""


def make_launch(
    task: Task, folder: JobFolder, environ: Mapping[str, str], network: Network | None = None
) -> AnyLaunch:
    """Return a job's hosts, laid out and not started.

    Args:
        task: The job.
        folder: The job's folder.
        environ: The supervisor's own variables.
        network: The network of a job on containers, if it was asked for already.

    Raises:
        BandstandError: Data or code is missing, or the platform is not there.
        OSError: The machine has no room, no address or no right for it.
    """
    if task.container is not None:
        from bandstand.backends.container_launching import ContainerLaunch

        return ContainerLaunch(task, task.container, folder, environ, network)
    from bandstand.backends.launching import Launch

    return Launch(task, folder, environ)
