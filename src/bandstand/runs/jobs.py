"""The jobs that the record keeps, as everybody reads them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal

from bandstand.request.plan import OBJECTIVE_HYPERPARAMETER, TrainingPlan, TuningPlan

Kind = Literal["tuning", "training"]
"""The kinds of jobs; names are unique among the jobs of one kind, as on SageMaker."""

KINDS: tuple[Kind, ...] = ("tuning", "training")


def kind_of(plan: TrainingPlan | TuningPlan) -> Kind:
    """The kind of the job that is made of a plan."""
    return "tuning" if isinstance(plan, TuningPlan) else "training"


OVER = ("Completed", "Failed", "Stopped")
"""The statuses that never change again."""


@dataclass(frozen=True)
class TuningJob:
    """A tuning job in the record.

    Args:
        name: Its name.
        owner: The claim of the launcher that runs it.
        plan: What was asked for.
        seed: The plan's seed, or the one that was drawn.
        grace: Seconds that the launcher gives a training job between SIGTERM and SIGKILL.
        created: When it was asked for, in epoch seconds.
        status: `InProgress`, `Stopping`, `Completed`, `Failed` or `Stopped`.
        failure_reason: Why it failed; None unless it did.
        ended: When it was over, or None.
        stop_asked: When somebody asked for it to stop, or None.
        stop_grace: Seconds that whoever asked gives the training jobs; None leaves it to the launcher.
        warnings: What a person should know, one sentence each.
        backend: The kind of backend that runs its training jobs.
        seen: When its launcher was last known to run, in epoch seconds; None where nobody has said.
        idle: (from, to) of each time for which no launcher ran it, in epoch seconds.
        served: Whether the service runs it, which takes it up again by itself.
        modified: When its status changed last, in epoch seconds.
    """

    kind: ClassVar[Kind] = "tuning"

    name: str
    owner: str
    plan: TuningPlan
    seed: int
    grace: float
    created: float
    status: str = "InProgress"
    failure_reason: str | None = None
    ended: float | None = None
    stop_asked: float | None = None
    stop_grace: float | None = None
    warnings: tuple[str, ...] = ()
    backend: str = "processes"
    seen: float | None = None
    idle: tuple[tuple[float, float], ...] = ()
    served: bool = False
    modified: float = 0.0

    @property
    def over(self) -> bool:
        """Whether nothing of it is under way: its status is final, unless somebody resumes it."""
        return self.status in OVER

    @property
    def used(self) -> float:
        """Seconds for which launchers have run it, until the last one was seen."""
        until = self.created if self.seen is None else self.seen
        return max(0.0, until - self.created - sum(end - begin for begin, end in self.idle))


@dataclass(frozen=True)
class TrainingJob:
    """A training job in the record.

    Args:
        name: Its name.
        tuning_job: The tuning job it belongs to, or None.
        number: Its 1-based number within the tuning job; 1 for a job of its own.
        owner: The claim of the launcher that started it.
        backend: The kind of backend that runs it.
        folder: Its own folder.
        plan: What was asked for.
        settings: The tuned hyperparameters, as text.
        grace: Seconds that the launcher gives it between SIGTERM and SIGKILL.
        created: When it was asked for, in epoch seconds.
        status: `InProgress`, `Stopping`, `Completed`, `Failed` or `Stopped`.
        secondary_status: SageMaker's finer word.
        failure_reason: Why it failed; None unless it did.
        started: When the hosts of its present attempt were started, or None.
        ended: When it was over, or None.
        model: The path of its model.tar.gz, or None.
        hosts: A document per host.
        transitions: (secondary status, epoch seconds, message) in order.
        reports: Objective reports so far.
        iterations: The greatest iteration number reported.
        objective: The latest objective; NaN where it was no finite number; None before the first report.
        stop: Why and where it was stopped, or None.
        stop_asked: When somebody asked for this very job to stop, or None.
        offsets: Bytes of each log that were read and acknowledged.
        warnings: What a person should know, one sentence each.
        attempt: How often it was begun.
        spent: Seconds for which its earlier attempts are billed.
        interrupted: Whether it has ended only because its owner was lost, so that it may be begun again.
        resume_point: The iteration after which its present attempt goes on; None where that is not known.
        served: Whether the service runs it, which takes it up again by itself.
        modified: When its status changed last, in epoch seconds.
        definition: The name of the tuning job's definition that it is made of; empty where that has none.
    """

    kind: ClassVar[Kind] = "training"

    name: str
    tuning_job: str | None
    number: int
    owner: str
    backend: str
    folder: Path
    plan: TrainingPlan
    settings: dict[str, str]
    grace: float
    created: float
    status: str = "InProgress"
    secondary_status: str = "Starting"
    failure_reason: str | None = None
    started: float | None = None
    ended: float | None = None
    model: str | None = None
    hosts: tuple[dict[str, Any], ...] = ()
    transitions: tuple[tuple[str, float, str], ...] = ()
    reports: int = 0
    iterations: int = 0
    objective: float | None = None
    stop: dict[str, Any] | None = None
    stop_asked: float | None = None
    offsets: dict[str, int] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    attempt: int = 1
    spent: float = 0.0
    interrupted: bool = False
    resume_point: int | None = None
    served: bool = False
    modified: float = 0.0
    definition: str = ""

    @property
    def over(self) -> bool:
        """Whether its status is final."""
        return self.status in OVER

    @property
    def objective_name(self) -> str | None:
        """The metric it is judged by: the tuning objective, else its only metric, else none."""
        return objective_name(self.plan)


def objective_name(plan: TrainingPlan) -> str | None:
    """The metric a training job is judged by: the tuning objective, else its only metric, else None."""
    named = dict(plan.hyperparameters).get(OBJECTIVE_HYPERPARAMETER)
    if named is not None:
        return named.strip('"')
    return plan.metrics[0][0] if len(plan.metrics) == 1 else None


ITERATION_HYPERPARAMETERS = ("num_round", "epochs", "numepochs", "n-epochs", "n_epochs", "num_epochs")
"""Hyperparameters that say how many iterations a job is to run: XGBoost's, and the five that AMT infers
MaxResource from (HyperbandStrategyConfig in SageMaker's API reference)."""


def iterations_asked(plan: TrainingPlan) -> int | None:
    """How many iterations a training job's hyperparameters ask for; None where they do not say."""
    settings = dict(plan.hyperparameters)
    texts = (settings[name].strip('"') for name in ITERATION_HYPERPARAMETERS if name in settings)
    return next((int(text) for text in texts if text.isascii() and text.isdigit()), None)
