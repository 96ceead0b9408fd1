"""What a study is told once, at its beginning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bandstand.errors import InputError
from bandstand.study.settings import categorical, grid_size

if TYPE_CHECKING:
    from bandstand.request.plan import TuningPlan
    from bandstand.request.ranges import Range

STRATEGIES = ("Hyperband", "Hyperband-TPE", "Random", "Grid", "Bayesian")
MODELLED = ("Bayesian", "Hyperband-TPE")
"""Those whose settings come from a model of what was tried."""


@dataclass(frozen=True)
class Space:
    """What is tuned of the training jobs of one definition.

    Args:
        ranges: The tuned hyperparameters.
        name: The definition's name; empty for an only one that has none.
        max_resource: Its own maximum, which counts in place of the study's; None where it has none.
    """

    ranges: tuple[Range, ...]
    name: str = ""
    max_resource: int | None = None


@dataclass(frozen=True)
class StudySpec:
    """The frozen terms of a study; with the events they determine every decision.

    Args:
        goal: "maximize" or "minimize".
        strategy: One of `STRATEGIES`; "Hyperband-TPE" is Hyperband with settings from a model.
        min_resource: Objective reports before which Hyperband stops nothing, at least 1.
        max_resource: Objective reports at which Hyperband stops a training job; None without it, or where
            each definition has its own.
        jobs: Training jobs in all, at least 1; with Grid one per combination.
        parallel: Training jobs at the same time, at least 1.
        seed: Settings of trial k depend on it and on k only; those of a model also on what happened.
        spaces: What is tuned, one for each training job definition, at least one.
        early_stopping: Whether the median rule stops training jobs; not with Hyperband, which has its own.
        target: The objective at which the study is over; None for no target.
        not_improving: Training jobs without an improvement after which it is over; None for no such limit.
        convergence: Whether it is over when the search has converged.

    Raises:
        InputError: Naming every term that no study can have.
    """

    goal: str
    strategy: str
    min_resource: int
    max_resource: int | None
    jobs: int
    parallel: int
    seed: int
    spaces: tuple[Space, ...]
    early_stopping: bool = False
    target: float | None = None
    not_improving: int | None = None
    convergence: bool = False

    def __post_init__(self) -> None:
        problems = []
        if self.goal not in ("maximize", "minimize"):
            problems.append(f"goal is {self.goal!r}; it has to be 'maximize' or 'minimize'")
        if self.strategy not in STRATEGIES:
            problems.append(f"strategy is {self.strategy!r}; this release has {', '.join(STRATEGIES)}")
        if self.jobs < 1:
            problems.append(f"jobs is {self.jobs}; at least one training job is needed")
        if self.parallel < 1:
            problems.append(f"parallel is {self.parallel}; at least one training job has to run at a time")
        if self.hyperband:
            problems.extend(self._resource_problems())
            if self.early_stopping:
                problems.append("early_stopping is on; Hyperband stops training jobs by rules of its own")
        if self.strategy == "Grid" and self.jobs != (size := self._grid_size()):
            problems.append(f"jobs is {self.jobs}; a grid of {size} combinations has as many training jobs")
        if self.not_improving is not None and self.not_improving < 1:
            problems.append(
                f"not_improving is {self.not_improving}; at least one training job has to be asked"
            )
        if problems:
            raise InputError("This study cannot be: " + "; ".join(problems) + ".")

    def _resource_problems(self) -> list[str]:
        problems = []
        for most in dict.fromkeys(self.max_resource_of(space.name) for space in self.spaces):
            if most is None:
                problems.append("max_resource is missing; Hyperband needs it")
            elif not 1 <= self.min_resource <= most:
                found = f"min_resource is {self.min_resource} and max_resource {most}"
                problems.append(f"{found}; they have to obey 1 <= min_resource <= max_resource")
        return problems

    def _grid_size(self) -> int:
        return sum(grid_size(categorical(space.ranges)) for space in self.spaces)

    def max_resource_of(self, definition: str) -> int | None:
        """Objective reports at which Hyperband stops a definition's training jobs; None without Hyperband."""
        if not self.hyperband:
            return None
        space = next((each for each in self.spaces if each.name == definition), self.spaces[0])
        return self.max_resource if space.max_resource is None else space.max_resource

    @property
    def maximize(self) -> bool:
        """Whether greater objectives are better."""
        return self.goal == "maximize"

    @property
    def modelled(self) -> bool:
        """Whether settings come from a model of what was tried, and so depend on what happened before."""
        return self.strategy in MODELLED

    @property
    def adaptive(self) -> bool:
        """Whether what starts next depends on what happened before, beside its number."""
        return self.modelled or len(self.spaces) > 1

    @property
    def hyperband(self) -> bool:
        """Whether training jobs are stopped at rungs and at the maximum resource."""
        return self.strategy in ("Hyperband", "Hyperband-TPE")

    @classmethod
    def from_plan(cls, plan: TuningPlan, seed: int) -> StudySpec:
        """The terms that a tuning plan states.

        Args:
            plan: The checked plan.
            seed: The plan's own seed, or the one drawn and recorded when it names none.
        """
        return cls(
            goal=plan.goal,
            strategy=plan.strategy,
            min_resource=plan.min_resource,
            max_resource=plan.max_resource,
            jobs=plan.jobs,
            parallel=plan.parallel,
            seed=seed,
            spaces=tuple(Space(each.ranges, each.name, each.max_resource) for each in plan.definitions),
            early_stopping=plan.early_stopping,
            target=plan.target,
            not_improving=plan.not_improving,
            convergence=plan.convergence,
        )
