"""What happens to a tuning job, as the study is told: the only things its decisions depend on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Outcome = Literal["completed", "failed", "stopped"]
Cause = Literal["runtime", "user"]


@dataclass(frozen=True)
class Known:
    """A setting whose objective is known from an earlier tuning job; told before anything starts.

    Args:
        source: Who says so, the name of a training job.
        settings: (name, value as text) of every tuned hyperparameter, in the order of the ranges.
        objective: Its final objective, a finite number.
        reports: The objective reports that it made.
        cut: Whether a rung or the median rule stopped it.
    """

    source: str
    settings: tuple[tuple[str, str], ...]
    objective: float
    reports: int
    cut: bool = False


@dataclass(frozen=True)
class Started:
    """A training job was started.

    Args:
        trial: Its number, from 1, as an asked-for `Start` gave it.
        settings: (name, value as text) of every tuned hyperparameter that it was started with; None means
            those that the study would have asked for.
        definition: The name of the training job definition that it is made of; empty means the one that the
            study would have asked for.
    """

    trial: int
    settings: tuple[tuple[str, str], ...] | None = None
    definition: str = ""


@dataclass(frozen=True)
class Reported:
    """A training job reported its objective once more; each report is one unit of resource.

    Args:
        trial: The training job's number.
        value: The objective; may be NaN or infinite.
    """

    trial: int
    value: float


@dataclass(frozen=True)
class Ended:
    """A training job is over: no host of it runs any more.

    Args:
        trial: The training job's number.
        outcome: How it ended. A job that was told to stop ends as "stopped", whatever its exit code.
        objective: Its final objective, which is the latest one reported; None when it reported none.
    """

    trial: int
    outcome: Outcome
    objective: float | None = None


@dataclass(frozen=True)
class Halted:
    """The whole tuning job has to end, by a cause outside the study.

    Args:
        cause: "runtime" when the tuning job's run-time limit is reached, "user" when somebody asked for it.
    """

    cause: Cause


Event = Known | Started | Reported | Ended | Halted
