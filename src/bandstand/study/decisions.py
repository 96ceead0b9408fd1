"""What the study decides, each stop with the reason that a person can check by hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from bandstand.study.rungs import places_kept, usable

StopKind = Literal[
    "rung", "max_resource", "median", "runtime", "user", "failures", "target", "not_improving", "converged"
]
FinishStatus = Literal["Completed", "Failed", "Stopped"]

_NAMED_IN_SENTENCE = 12

_ENDED_FROM_OUTSIDE: Mapping[str, str] = {
    "runtime": "Stopped because the tuning job reached its run-time limit.",
    "user": "Stopped because the tuning job was stopped on request.",
    "failures": "Stopped because the tuning job failed: none of its first training jobs succeeded.",
    "target": "Stopped because the tuning job reached its target.",
    "not_improving": "Stopped because the tuning job did not improve any more.",
    "converged": "Stopped because the tuning job has converged.",
}

_IN_BRIEF: Mapping[str, str] = {
    "max_resource": "at MaxResource",
    "median": "worse than half",
    "runtime": "at time limit",
    "user": "on request",
    "failures": "none succeeded",
    "target": "target reached",
    "not_improving": "no improvement",
    "converged": "converged",
}


@dataclass(frozen=True)
class StopReason:
    """Why a training job was stopped.

    Args:
        kind: "rung" (not among the best at a rung), "max_resource", "median" (worse than the median of the
            running averages of earlier training jobs), or why the whole tuning job ended: "runtime",
            "user", "failures", or the completion criterion that was met: "target", "not_improving" or
            "converged".
        bracket: The trial's bracket, from 0; None where there are no brackets.
        rung: The resource (count of objective reports) at which it was judged; for "max_resource" the
            maximum, for "median" the report; None when none of these was the cause.
        rank: Its place at the rung, from 1 (best).
        cutoff: The objective of the last place that goes on, or the median; None when nothing finite was
            compared.
        compared: (trial, objective) of every other trial that had made as many reports, the last one finite;
            for "median" (trial, running average).
        value: The trial's objective that was compared: that at the rung or, later, its best one since.
        reports: How many reports it had made, where a report was the cause; more than `rung` where it had
            passed that rung and was overtaken.
    """

    kind: StopKind
    bracket: int | None = None
    rung: int | None = None
    rank: int | None = None
    cutoff: float | None = None
    compared: tuple[tuple[int, float], ...] = ()
    value: float | None = None
    reports: int | None = None

    def sentence(self) -> str:
        """The reason in words, for `show`, `report` and the live view."""
        if self.kind == "max_resource":
            return f"Stopped after {self.rung} reports: MaxResource is reached."
        if self.kind == "median":
            return self._median_sentence()
        if self.kind != "rung":
            return _ENDED_FROM_OUTSIDE[self.kind]
        value = float("nan") if self.value is None else self.value
        where = f"Stopped at rung {self.rung} of bracket {self.bracket}: "
        if not usable(value):
            return f"{where}the objective is not a finite number ({value:.6g}), which is worse than any."
        if self.overtaken:
            where = f"Stopped after {self.reports} reports, overtaken at rung {self.rung} of bracket "
            where += f"{self.bracket}: the best since, "
        placed = len(self.compared) + 1
        kept = places_kept(placed)
        go_on = "only the best one goes on" if kept == 1 else f"the best {kept} go on"
        return (
            f"{where}{value:.6g}{',' if self.overtaken else ''} is place {self.rank} of {placed} and {go_on} "
            f"(cut-off {self.cutoff:.6g}); compared with {self._others()}."
        )

    @property
    def overtaken(self) -> bool:
        """Whether it had passed the rung, and lost its place to those that came later."""
        return self.kind == "rung" and self.reports is not None and self.reports != self.rung

    def _median_sentence(self) -> str:
        where = f"Stopped at report {self.rung} by the median rule"
        value = float("nan") if self.value is None else self.value
        if not usable(value):
            return f"{where}: the objective is not a finite number ({value:.6g}), which is worse than any."
        return (
            f"{where}: {value:.6g} is worse than {self.cutoff:.6g}, the median of the running averages of "
            f"earlier training jobs up to that report; compared with {self._others()}."
        )

    def brief(self) -> str:
        """The reason in two or three words, for a table: `place 13 of 17`, `at MaxResource`."""
        if self.kind != "rung":
            return _IN_BRIEF[self.kind]
        if not usable(float("nan") if self.value is None else self.value):
            return "not finite"
        return f"place {self.rank} of {len(self.compared) + 1}"

    def _others(self) -> str:
        numbers = [str(trial) for trial, _ in self.compared]
        shown = ", ".join(numbers[:_NAMED_IN_SENTENCE])
        more = len(numbers) - _NAMED_IN_SENTENCE
        jobs = "training job" if len(numbers) == 1 else "training jobs"
        return f"{jobs} {shown} and {more} more" if more > 0 else f"{jobs} {shown}"


@dataclass(frozen=True)
class Start:
    """Start this training job next.

    Args:
        trial: Its number, from 1.
        settings: (name, value as text) of every tuned hyperparameter, in the order of the ranges.
        definition: The name of the training job definition that it is made of.
    """

    trial: int
    settings: tuple[tuple[str, str], ...]
    definition: str = ""


@dataclass(frozen=True)
class Stop:
    """Stop this training job now; told once per trial at most.

    Args:
        trial: The training job's number.
        reason: Why.
    """

    trial: int
    reason: StopReason


@dataclass(frozen=True)
class Finish:
    """The tuning job is over: no training job runs and none is to be started.

    Args:
        status: "Completed"; "Failed" when no training job succeeded; "Stopped" when a person ended it.
        reason: Why, in words.
    """

    status: FinishStatus
    reason: str


Answer = Stop | Finish
Decision = Start | Answer
