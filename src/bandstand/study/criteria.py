"""When a tuning job has found enough: the three completion criteria of AMT.

Source: `TuningJobCompletionCriteria` in SageMaker's API reference, and the developer guide's page on the
progress of tuning jobs, which has a gain under 1 % count as none. What they leave open is ours and stands
in `Progress`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bandstand.study.spec import StudySpec
from bandstand.study.trial import Trial

LEAST_GAIN = 0.01
"""The share of the best objective that a training job has to gain to count as an improvement."""

CriterionKind = Literal["target", "not_improving", "converged"]


@dataclass(frozen=True)
class Met:
    """A criterion that is met.

    Args:
        kind: Which one.
        words: What met it, without a full stop.
    """

    kind: CriterionKind
    words: str


def convergence_window(jobs: int) -> int:
    """Training jobs without an improvement after which a search has converged: a quarter, at least 10."""
    return max(10, -(-jobs // 4))


class Progress:
    """Follows the best objective as training jobs end.

    Training jobs without a finite objective, failed ones among them, say nothing about the search and are
    left out. A gain is measured against the objective of the last improvement that counted, so that many
    small gains in one direction add up to one that counts.

    Args:
        spec: The study's terms.
    """

    def __init__(self, spec: StudySpec) -> None:
        self._spec = spec
        self._sign = 1.0 if spec.maximize else -1.0
        self._anchor: tuple[int, float] | None = None
        self._since = 0

    @property
    def since(self) -> int:
        """Training jobs that have ended since the last improvement that counted."""
        return self._since

    def ended(self, trial: Trial) -> Met | None:
        """Take in the end of a training job, and say which criterion is met first, if any."""
        if not trial.succeeded or trial.objective is None:
            return None
        value = trial.objective
        if self._improves(value):
            self._anchor, self._since = (trial.number, value), 0
        else:
            self._since += 1
        target = self._spec.target
        if target is not None and self._sign * (value - target) >= 0:
            return Met(
                "target", f"Training job {trial.number} reached the target {target:.6g} with {value:.6g}"
            )
        if self._spec.not_improving is not None and self._since >= self._spec.not_improving:
            return Met("not_improving", self._still())
        if self._spec.convergence and self._since >= convergence_window(self._spec.jobs):
            return Met("converged", f"The search has converged: {self._still()}")
        return None

    def _improves(self, value: float) -> bool:
        if self._anchor is None:
            return True
        gain = self._sign * (value - self._anchor[1])
        return gain > 0 and gain >= LEAST_GAIN * abs(self._anchor[1])

    def _still(self) -> str:
        number, value = self._anchor or (0, 0.0)
        jobs = f"the last {self._since} training jobs"
        return f"{jobs} gained less than {LEAST_GAIN:.0%} on the {value:.6g} of training job {number}"
