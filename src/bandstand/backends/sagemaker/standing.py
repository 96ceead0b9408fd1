"""Where a job of SageMaker's stands: what List and Describe tell, in the words of every backend."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from bandstand.backends.backend import ENDED, Cause, HostState, JobState, Transition
from bandstand.request.plan import local_path

_BEGUN = "Starting"
"""The secondary status with which each attempt at a job begins."""

_SECONDARY = {"Completed": "Completed", "Failed": "Failed", "Stopped": "Stopped", "Stopping": "Stopping"}


@dataclass(frozen=True)
class Listed:
    """One training job as a List call tells it.

    Args:
        name: Its name.
        status: `InProgress`, `Stopping`, `Completed`, `Failed` or `Stopped`.
        secondary: The finer word; a guess where the List call has none.
        created: When it was created, in epoch seconds.
        started: When its hosts were started, in epoch seconds, or None.
        ended: When it was over, in epoch seconds, or None.
        modified: When its status changed, in epoch seconds.
        failure_reason: Why it failed, where the List call tells it.
        settings: The tuned hyperparameters; of a training job of a tuning job.
        definition: The definition that it is made of, where there are several.
        objective: Its final objective, or None.
    """

    name: str
    status: str
    secondary: str
    created: float
    started: float | None = None
    ended: float | None = None
    modified: float = 0.0
    failure_reason: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    definition: str | None = None
    objective: float | None = None

    @property
    def over(self) -> bool:
        """Whether nothing of it runs any more."""
        return self.status in ENDED


@dataclass(frozen=True)
class TuningStanding:
    """Where a tuning job stands.

    Args:
        status: `InProgress`, `Stopping`, `Completed`, `Failed` or `Stopped`.
        failure_reason: Why it failed, or None.
        created: When it was created, in epoch seconds.
        ended: When it was over, in epoch seconds, or None.
        counters: Training jobs by status.
        best: Name and final objective of the best training job, or None.
        reason: Why it ended before all its training jobs had run, as far as the service tells; else empty.
    """

    status: str
    failure_reason: str | None
    created: float
    ended: float | None
    counters: Mapping[str, int]
    best: tuple[str, float] | None
    reason: str

    @property
    def over(self) -> bool:
        """Whether nothing of it is under way."""
        return self.status in ENDED


def listed(summary: Mapping[str, Any]) -> Listed:
    """Read a summary of ListTrainingJobs or of ListTrainingJobsForHyperParameterTuningJob."""
    status = _status(summary["TrainingJobStatus"])
    started = _epoch(summary.get("TrainingStartTime"))
    guess = _SECONDARY.get(status, "Training" if started is not None else "Starting")
    final = summary.get("FinalHyperParameterTuningJobObjectiveMetric")
    return Listed(
        name=summary["TrainingJobName"],
        status=status,
        secondary=summary.get("SecondaryStatus", guess),
        created=_epoch(summary["CreationTime"]) or 0.0,
        started=started,
        ended=_epoch(summary.get("TrainingEndTime")),
        modified=_epoch(summary.get("LastModifiedTime")) or 0.0,
        failure_reason=summary.get("FailureReason"),
        settings=dict(summary.get("TunedHyperParameters", {})),
        definition=summary.get("TrainingJobDefinitionName"),
        objective=None if final is None else float(final["Value"]),
    )


def tuning_standing(found: Mapping[str, Any]) -> TuningStanding:
    """Read the answer of DescribeHyperParameterTuningJob."""
    best = found.get("BestTrainingJob") or {}
    final = best.get("FinalHyperParameterTuningJobObjectiveMetric")
    return TuningStanding(
        status=_status(found["HyperParameterTuningJobStatus"]),
        failure_reason=found.get("FailureReason") or None,
        created=_epoch(found["CreationTime"]) or 0.0,
        ended=_epoch(found.get("HyperParameterTuningEndTime")),
        counters=dict(found.get("TrainingJobStatusCounters", {})),
        best=None if final is None else (best["TrainingJobName"], float(final["Value"])),
        reason=_why(found.get("TuningJobCompletionDetails") or {}),
    )


def job_state(found: Mapping[str, Any]) -> JobState:
    """Read the answer of DescribeTrainingJob.

    The attempts are counted by how often the job was started. Of a job that is over, the
    time is that which is billed, which is less than the time that it ran for where spot instances are used.
    """
    status = _status(found["TrainingJobStatus"])
    transitions = tuple(
        Transition(step["Status"], _epoch(step["StartTime"]) or 0.0, step.get("StatusMessage", ""))
        for step in found.get("SecondaryStatusTransitions", [])
    )
    started = _epoch(found.get("TrainingStartTime"))
    ended = _epoch(found.get("TrainingEndTime")) or _epoch(found.get("LastModifiedTime"))
    over = status in ENDED
    spent = 0.0
    if over and started is not None and ended is not None and "BillableTimeInSeconds" in found:
        # A millisecond less, so that rounding up gives the service's own number.
        spent = found["BillableTimeInSeconds"] - (ended - started) - 0.001
    stopped = status in ("Stopping", "Stopped")
    attempt = max(1, sum(step.status == _BEGUN for step in transitions))
    model = (
        found.get("ModelArtifacts", {}).get("S3ModelArtifacts")
        if status in ("Completed", "Stopped")
        else None
    )
    return JobState(
        status=status,
        secondary_status=found["SecondaryStatus"],
        transitions=transitions,
        failure_reason=found.get("FailureReason") or None,
        created=_epoch(found["CreationTime"]) or 0.0,
        started=started,
        ended=ended if over else None,
        hosts=hosts(hosts_in(found.get("ResourceConfig", {}))),
        model=_place(model),
        stop_requested=stopped,
        cause=_cause(status, found["SecondaryStatus"]),
        attempt=attempt,
        spent=spent,
        had_checkpoints=attempt > 1 and "CheckpointConfig" in found,
    )


def moved_on(state: JobState, seen: Listed) -> JobState:
    """The state of a job that is known, with what a List call tells of it anew.

    Args:
        state: The state so far.
        seen: What is listed; the job is not over.
    """
    status, secondary = seen.status, seen.secondary
    if secondary == "Training" and state.secondary_status in ("Uploading", "Stopping"):
        secondary = state.secondary_status  # a guess, where the List call has no finer word
    transitions = state.transitions
    attempt = state.attempt
    if secondary != state.secondary_status:
        transitions += (Transition(secondary, max(seen.modified, seen.started or 0.0, seen.created), ""),)
        attempt += secondary == _BEGUN
    return replace(
        state,
        status=status,
        secondary_status=secondary,
        transitions=transitions,
        started=state.started if seen.started is None else seen.started,
        stop_requested=status == "Stopping",
        attempt=attempt,
    )


def first_state(created: float, number: int) -> JobState:
    """The state of a job that was just handed in.

    Args:
        created: Epoch seconds.
        number: How many hosts it has.
    """
    begin = Transition("Starting", created, "Starting the training job.")
    return JobState("InProgress", "Starting", (begin,), created=created, hosts=hosts(number))


def hosts(number: int) -> tuple[HostState, ...]:
    """Hosts of which nothing but the name is known."""
    return tuple(HostState(f"algo-{each}") for each in range(1, number + 1))


def hosts_in(resources: Mapping[str, Any]) -> int:
    """How many hosts a `ResourceConfig` asks for."""
    groups = resources.get("InstanceGroups")
    if groups:
        return int(sum(group["InstanceCount"] for group in groups))
    return int(resources.get("InstanceCount", 1))


def _place(address: str | None) -> Path | str | None:
    """Where a model lies; what stands in for AWS on this machine may name a file of it."""
    return local_path(address) if address and address.startswith("file:///") else address or None


def _status(word: str) -> str:
    """A status that a backend has; a job that is being deleted was over before."""
    return "Stopped" if word in ("Deleting", "DeleteFailed") else word


def _cause(status: str, secondary: str) -> Cause:
    causes: dict[str, Cause] = {"Stopped": "stop", "Stopping": "stop", "Failed": "failure"}
    limits: dict[str, Cause] = {"MaxRuntimeExceeded": "runtime", "MaxWaitTimeExceeded": "wait"}
    return limits.get(secondary) or causes.get(status, "")


def _why(details: Mapping[str, Any]) -> str:
    if "ConvergenceDetectedTime" in details:
        return "The tuning job has converged."
    number = details.get("NumberOfTrainingJobsObjectiveNotImproving")
    return f"{number} training jobs did not improve the objective." if number else ""


def _epoch(moment: datetime | None) -> float | None:
    return None if moment is None else moment.timestamp()
