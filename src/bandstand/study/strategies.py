"""Who is stopped during training: a strategy sees each report once and answers at once."""

from __future__ import annotations

from typing import Protocol

from bandstand.study.decisions import StopReason
from bandstand.study.rungs import Rung, bracket_rungs, bracket_sizes, dealt_brackets
from bandstand.study.spec import StudySpec


class Strategy(Protocol):
    """What a study asks of a strategy."""

    def bracket(self, trial: int) -> int | None:
        """The trial's bracket, from 0; None where there are none."""

    def rungs(self, bracket: int) -> tuple[int, ...]:
        """The resource levels at which trials of a bracket are compared."""

    def judge(self, trial: int, resource: int, value: float) -> StopReason | None:
        """Decide about a trial that has just made its report number `resource`; None lets it go on."""


class RunToEnd:
    """Every training job runs to its own end."""

    def bracket(self, trial: int) -> int | None:
        """There are no brackets."""
        return None

    def rungs(self, bracket: int) -> tuple[int, ...]:
        """There are no rungs."""
        return ()

    def judge(self, trial: int, resource: int, value: float) -> StopReason | None:
        """Nobody is stopped."""
        return None


class Hyperband:
    """Hyperband with asynchronous rungs, one system of rungs for all brackets.

    A trial's bracket says at which rungs it may be stopped; it is compared with every trial that has made as
    many reports, whatever that one's bracket. Nearest kin: Syne Tune's `rung_system_per_bracket=False`.

    Args:
        spec: The study's terms, with a maximum resource.
    """

    def __init__(self, spec: StudySpec) -> None:
        self._max = spec.max_resource or 0
        self._brackets = bracket_rungs(spec.min_resource, self._max)
        self._dealt = dealt_brackets(bracket_sizes(len(self._brackets)), spec.jobs)
        self._rungs = {level: Rung(spec.maximize) for level in self._brackets[0]}

    def bracket(self, trial: int) -> int:
        """The bracket that the trial's number is dealt to."""
        return self._dealt[trial - 1]

    def rungs(self, bracket: int) -> tuple[int, ...]:
        """The resource levels of a bracket, all below the maximum."""
        return self._brackets[bracket]

    def judge(self, trial: int, resource: int, value: float) -> StopReason | None:
        """Stop at the maximum, and at a rung of its bracket where it is not among the best third."""
        bracket = self.bracket(trial)
        if resource >= self._max:
            return StopReason("max_resource", bracket=bracket, rung=resource, value=value)
        rung = self._rungs.get(resource)
        if rung is None:
            return None
        rung.enter(trial, value)
        if resource not in self._brackets[bracket]:
            return None
        verdict = rung.judge(trial, value)
        if verdict.goes_on:
            return None
        return StopReason("rung", bracket, resource, verdict.rank, verdict.cutoff, verdict.compared, value)
