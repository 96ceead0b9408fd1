"""What every backend answers about one training job, and the words it answers with."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from bandstand.request.plan import TrainingPlan

ENDED = frozenset({"Completed", "Failed", "Stopped"})
"""The values of `JobState.status` after which nothing of the job runs any more."""

Cause = Literal["", "stop", "owner", "runtime", "wait", "interruption", "failure", "lost"]
"""Why a job was ended. Nothing: it ended by itself, or runs. `stop`: somebody asked for it. `owner`: nobody
renewed the lease. `runtime` and `wait`: its limits. `interruption`: as spot instances are; the job is to
begin again. `failure`: a host failed. `lost`: its supervisor was killed, or failed itself."""


@dataclass(frozen=True)
class Transition:
    """One step of a job's life, as `SecondaryStatusTransitions` of DescribeTrainingJob has it.

    Args:
        status: The secondary status that began (`Starting`, `Downloading`, `Training`, `Stopping`, ...).
        time: When it began, in epoch seconds.
        message: One sentence for people.
    """

    status: str
    time: float
    message: str


@dataclass(frozen=True)
class HostState:
    """One host of a job.

    Args:
        name: `algo-1`, `algo-2`, ...
        exit_code: Exit code of the host's process 1; 128 + n if signal n ended it; None while it runs.
        signal: Name of the signal that ended process 1 (`SIGKILL`), or None.
        peak_memory: Greatest resident set of any one process of the host, in bytes; None while it runs.
        address: The address that the host's name stands for inside the job.
    """

    name: str
    exit_code: int | None = None
    signal: str | None = None
    peak_memory: int | None = None
    address: str = ""


@dataclass(frozen=True)
class JobState:
    """Where a training job stands.

    Args:
        status: `InProgress`, `Stopping`, `Completed`, `Failed` or `Stopped`.
        secondary_status: SageMaker's finer word; the last of `transitions`.
        transitions: Every secondary status so far, oldest first.
        failure_reason: At most 1,024 characters; None unless the job failed.
        created: When the job was handed in, in epoch seconds.
        started: Begin of `Downloading`, from which time is billed, in epoch seconds; None before it. Of a job
            that was restarted: the begin of its present attempt.
        ended: End of the job, `Uploading` included, in epoch seconds; None while it runs.
        hosts: The hosts, in order; the first is the leader.
        model: The job's `model.tar.gz`, or its `s3://` address; None if there is none (yet).
        output: The job's `output.tar.gz`; None if there is none (yet).
        stop_requested: Whether somebody asked for an end (user, launcher, runtime limit or lost owner).
        cause: Why it was ended.
        attempt: How often it was begun: 1, and one more for each restart.
        spent: Seconds for which its earlier attempts are billed.
        had_checkpoints: Whether there was anything among its checkpoints when this attempt began.
        faults: How often an earlier attempt has lost its supervisor.
    """

    status: str
    secondary_status: str
    transitions: tuple[Transition, ...] = ()
    failure_reason: str | None = None
    created: float = 0.0
    started: float | None = None
    ended: float | None = None
    hosts: tuple[HostState, ...] = ()
    model: Path | str | None = None
    output: Path | None = None
    stop_requested: bool = False
    cause: Cause = ""
    attempt: int = 1
    spent: float = 0.0
    had_checkpoints: bool = False
    faults: int = 0

    @property
    def is_ended(self) -> bool:
        """Whether nothing of the job runs any more."""
        return self.status in ENDED

    @property
    def seconds(self) -> float:
        """Seconds from Downloading to the end of Uploading, over all attempts that have ended."""
        ran = self.started is not None and self.ended is not None
        return self.spent + (self.ended - self.started if ran else 0.0)  # type: ignore[operator]

    @property
    def billable_seconds(self) -> int:
        """Whole seconds from the begin of Downloading to the end of Uploading, rounded up.

        `BillableTimeInSeconds` of DescribeTrainingJob; 0 for a job that is still running or never began. The
        attempts of a job that was restarted add up, as those of managed spot training do.
        """
        if self.ended is None or (self.started is None and not self.spent):
            return 0
        return max(1, math.ceil(self.seconds))


@dataclass(frozen=True)
class LogLine:
    """One whole line that a host wrote to its standard output or standard error.

    Args:
        host: The host that wrote it.
        time: When the line was complete, in epoch seconds.
        text: The line without its line end.
    """

    host: str
    time: float
    text: str


class Backend(Protocol):
    """Runs training jobs, one folder each; a folder holds all there is to know, so any process can ask.

    A folder is `HOME/jobs/<training job name>`. Everything in it outlives the process that submitted the job.
    """

    def check(self, plan: TrainingPlan) -> None:
        """Check that the platform is there that a plan needs, before anything is begun.

        Raises:
            PlatformError: It is not; says what to do.
        """

    def submit(self, plan: TrainingPlan, folder: Path, *, threads: int) -> None:
        """Start a training job and return at once; its first status is `InProgress`, `Starting`.

        Args:
            plan: The job.
            folder: The job's own folder; made here, and must not hold a job already.
            threads: Threads for each rank, at least 1; the plan's own BANDSTAND_THREADS wins.

        Raises:
            PlatformError: This backend cannot run such a plan here.
            InputError: The folder holds a job already.
        """

    def restart(self, plan: TrainingPlan, folder: Path, *, threads: int, attempt: int, spent: float) -> None:
        """Start a job again whose hosts are gone, and return at once.

        Its logs go on where they ended, its checkpoints stay, all else of the hosts is made anew. A folder in
        which the job was never begun will do as well. Nothing but the one owner of a job may call it.

        Args:
            plan: The job.
            folder: The job's folder.
            threads: Threads for each rank, at least 1; the plan's own BANDSTAND_THREADS wins.
            attempt: How often it has been begun, this time included.
            spent: Seconds that its earlier attempts ran, which count against its time limit.

        Raises:
            PlatformError: This backend cannot run such a plan here.
            InputError: The job runs.
        """

    def describe(self, folder: Path) -> JobState:
        """Say where the job in a folder stands.

        Raises:
            InputError: There is no job in the folder.
        """

    def lines(self, folder: Path, offsets: Mapping[str, int]) -> tuple[list[LogLine], dict[str, int]]:
        """Read whole log lines from where the last call ended.

        Args:
            folder: The job's folder.
            offsets: Bytes already read of each host's log; a host that is missing is read from its begin.

        Returns:
            The lines in order of time, a bounded amount at once (call again until there are none), and the
            offsets for the next call.
        """

    def stop(self, folder: Path, grace: float = 120.0) -> None:
        """Ask all hosts to end (SIGTERM), and end them by force after the grace time.

        Of several requests the earliest end counts. Nothing happens if the job has ended.

        Args:
            folder: The job's folder.
            grace: Seconds between SIGTERM and SIGKILL; 120 is what SageMaker gives.
        """

    def kill(self, folder: Path) -> None:
        """End all hosts at once and by force; what they had saved is still kept."""

    def renew(self, folder: Path) -> None:
        """Say that the job still has an owner; to be called about once a second."""

    def list(self, home: Path) -> tuple[Path, ...]:
        """Name the folders under a home that hold a job, sorted by name."""

    def close(self) -> None:
        """Release what this object holds in this process; the jobs go on."""
