"""Who is stopped during training: a strategy sees each report once and answers at once."""

from __future__ import annotations

from typing import Protocol

from bandstand.study.decisions import StopReason
from bandstand.study.rungs import Rung, bracket_rungs, bracket_sizes, dealt_brackets
from bandstand.study.spec import Space, StudySpec


class Strategy(Protocol):
    """What a study asks of a strategy, of which each definition has one of its own."""

    def bracket(self, place: int) -> int | None:
        """The bracket, from 0, of the definition's trial of this number, from 1; None without brackets."""

    def rungs(self, bracket: int) -> tuple[int, ...]:
        """The resource levels at which trials of a bracket are compared."""

    def judge(self, trial: int, bracket: int | None, resource: int, value: float) -> StopReason | None:
        """Decide about a trial that has just made its report number `resource`; None lets it go on."""


class RunToEnd:
    """Every training job runs to its own end."""

    def bracket(self, place: int) -> int | None:
        """There are no brackets."""
        return None

    def rungs(self, bracket: int) -> tuple[int, ...]:
        """There are no rungs."""
        return ()

    def judge(self, trial: int, bracket: int | None, resource: int, value: float) -> StopReason | None:
        """Nobody is stopped."""
        return None


class Hyperband:
    """Hyperband with asynchronous rungs, one system of rungs for all brackets.

    A trial's bracket says at which rungs it may be stopped; it is compared with every trial that has made as
    many reports, whatever that one's bracket. Nearest kin: Syne Tune's `rung_system_per_bracket=False`.

    Args:
        spec: The study's terms, with a maximum resource.
        space: The definition; trials of others are never compared with its own.
    """

    def __init__(self, spec: StudySpec, space: Space) -> None:
        self._max = spec.max_resource_of(space.name) or 0
        self._brackets = bracket_rungs(spec.min_resource, self._max)
        share, left = divmod(spec.jobs, len(spec.spaces))
        # At least one, so that brackets are defined where there are more definitions than jobs.
        jobs = max(1, share + (spec.spaces.index(space) < left))
        self._dealt = dealt_brackets(bracket_sizes(len(self._brackets)), jobs)
        self._rungs = {level: Rung(spec.maximize) for level in self._brackets[0]}
        self._passed: dict[int, tuple[int, float]] = {}  # the last rung, and the best objective since

    def bracket(self, place: int) -> int:
        """The bracket that a place is dealt to; beyond the definition's equal share all begins anew."""
        return self._dealt[(place - 1) % len(self._dealt)]

    def rungs(self, bracket: int) -> tuple[int, ...]:
        """The resource levels of a bracket, all below the maximum."""
        return self._brackets[bracket]

    def judge(self, trial: int, bracket: int | None, resource: int, value: float) -> StopReason | None:
        """Stop at the maximum, and where the trial is not, or no longer, among the best third of its rung.

        A trial is looked at again at each report: those that came to its rung after it may have moved the
        cut-off beyond all that it has reported since.
        """
        if resource >= self._max:
            return StopReason("max_resource", bracket, resource, value=value, reports=resource)
        if resource in self._rungs:
            self._rungs[resource].enter(trial, value)
        if bracket is not None and resource in self._brackets[bracket]:
            level, best = resource, value
        elif trial in self._passed:
            level, best = self._passed[trial]
            best = self._rungs[level].better(best, value)
        else:
            return None
        self._passed[trial] = level, best
        verdict = self._rungs[level].judge(trial, best)
        if verdict.goes_on:
            return None
        found = (verdict.rank, verdict.cutoff, self._rungs[level].others(trial))
        return StopReason("rung", bracket, level, *found, value=best, reports=resource)
