"""Early stopping by the median rule, AMT's `Auto`: a training job worse than half of the earlier ones ends.

Source: Amazon SageMaker developer guide, "Stop Training Jobs Early". Near to it: D. Golovin et al., "Google
Vizier: A Service for Black-Box Optimization", KDD 2017, automated stopping by the median.
"""

from __future__ import annotations

from bisect import insort
from collections import defaultdict
from dataclasses import dataclass, field

from bandstand.study.decisions import StopReason
from bandstand.study.rungs import usable
from bandstand.study.spec import StudySpec

EARLIER_NEEDED = 5
"""Fewer earlier training jobs than this at a report stop nobody; as many as Optuna's MedianPruner waits for.
Amazon does not document its own number."""


@dataclass
class _Average:
    count: int = 0
    value: float = 0.0

    def add(self, value: float) -> None:
        self.count += 1
        self.value += (value - self.value) / self.count


@dataclass
class _Level:
    """The running averages of all who have made so many reports, by trial and in order."""

    by_trial: dict[int, float] = field(default_factory=dict)
    ordered: list[float] = field(default_factory=list)

    def median(self) -> float:
        half, odd = divmod(len(self.ordered), 2)
        return self.ordered[half] if odd else (self.ordered[half - 1] + self.ordered[half]) / 2

    def enter(self, trial: int, average: float) -> None:
        self.by_trial[trial] = average
        insort(self.ordered, average)


class MedianRule:
    """Stop a training job whose objective is worse than the median of the earlier jobs' running averages.

    At each report, the objective is compared with the running averages, up to the same report, of all
    training jobs that made that report earlier, running or ended. Objectives that are no finite numbers are
    left out of the averages, and are worse than any median themselves.

    Args:
        spec: The study's terms.
    """

    def __init__(self, spec: StudySpec) -> None:
        self._maximize = spec.maximize
        self._averages: dict[int, _Average] = defaultdict(_Average)
        self._levels: dict[int, _Level] = defaultdict(_Level)

    def bracket(self, place: int) -> int | None:
        """There are no brackets."""
        return None

    def rungs(self, bracket: int) -> tuple[int, ...]:
        """There are no rungs: every report is judged."""
        return ()

    def judge(self, trial: int, bracket: int | None, resource: int, value: float) -> StopReason | None:
        """Compare a trial at its report number `resource`; equal to the median is good enough."""
        level = self._levels[resource]
        reason = self._compare(level, resource, value)
        average = self._averages[trial]
        if usable(value):
            average.add(value)
        if average.count:
            level.enter(trial, average.value)
        return reason

    def _compare(self, level: _Level, resource: int, value: float) -> StopReason | None:
        if len(level.ordered) < EARLIER_NEEDED:
            return None
        median = level.median()
        worse = value < median if self._maximize else value > median
        if usable(value) and not worse:
            return None
        compared = tuple(sorted(level.by_trial.items()))
        return StopReason("median", None, resource, None, median, compared, value, resource)
