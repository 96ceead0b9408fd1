"""Metrics on their way out: each iteration once, its line kept for the checkpoints that follow."""

from __future__ import annotations

from collections.abc import Mapping

from bandstand.errors import JobError
from bandstand.hyperparameters import nearest
from bandstand.metric_line import MOST_ITERATIONS
from bandstand.metrics import format_line
from bandstand.training.checkpoints import Checkpoints
from bandstand.training.checks import whole_number
from bandstand.training.output import note, print_line


class Reporting:
    """One rank's part in the metrics of its job.

    Args:
        prints: Whether this rank is the one whose values are printed.
        objective: The metric that a tuning job looks for, if there is one.
        goals: Metric name to `maximize` or `minimize`, as the tuning job declares it.
        checkpoints: Those of this host.
    """

    def __init__(
        self, prints: bool, objective: str | None, goals: Mapping[str, str], checkpoints: Checkpoints
    ) -> None:
        self._prints = prints
        self._objective = objective
        self._goals = goals
        self._checkpoints = checkpoints
        self._last = 0

    def report(self, iteration: int, values: Mapping[str, float], goals: Mapping[str, str]) -> None:
        """Print the metrics of one iteration; the tuning job's goals win over those that are given.

        Raises:
            JobError: For an iteration that was reported before, a name that a metric line cannot hold, or a
                value that is not finite where the goal is unknown.
        """
        number = whole_number("report(iteration)", iteration, 1, MOST_ITERATIONS)
        if number <= self._last:
            raise JobError(
                f"Iteration {number} is reported after iteration {self._last}; report each iteration "
                "once, in ascending order, with all its metrics in one call."
            )
        if not isinstance(goals, Mapping) or set(map(str, goals.values())) - {"maximize", "minimize"}:
            raise JobError(
                "report(goals=) takes maximize or minimize by metric, such as "
                f'{{"validation:gain": "maximize"}}; found {goals!r}.'
            )
        first, self._last = self._last == 0, number
        if not self._prints:
            return
        line = format_line(number, values, {**goals, **self._goals})
        self._checkpoints.keep_report(number, line)
        print_line(line)
        if first:
            self._look_for_objective(values)

    def _look_for_objective(self, values: Mapping[str, float]) -> None:
        objective = self._objective
        if objective and objective not in values:
            near = nearest(objective, values)
            hint = f" Is {near!r} a misspelling of it?" if near else ""
            note(f"the tuning objective {objective!r} is not among the reported: {', '.join(values)}.{hint}")
