"""What a tuning job cost and saved, each saving told apart: by MaxResource, rungs and the median rule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bandstand.study.trial import Trial


@dataclass(frozen=True)
class Summary:
    """Iterations asked for, run and saved.

    Args:
        asked: Iterations that the settings of the started trials asked for, where they are known.
        run: Objective reports made by all started trials, those after a stop included.
        saved_by_max_resource: Iterations beyond MaxResource that were asked for and not run.
        saved_by_rungs: Iterations up to MaxResource that trials stopped at a rung had left to run.
        stopped_at: (resource, trials stopped there), for the rungs in ascending order.
        reached_max_resource: Trials stopped because they reached MaxResource.
        saved_by_median: Iterations that trials stopped by the median rule had left to run.
        stopped_by_median: Trials stopped by the median rule.
        not_known: Started trials whose asked-for iterations are not known; they count in `run` alone.
    """

    asked: int
    run: int
    saved_by_max_resource: int
    saved_by_rungs: int
    stopped_at: tuple[tuple[int, int], ...]
    reached_max_resource: int
    not_known: int
    saved_by_median: int = 0
    stopped_by_median: int = 0


def summarize(
    trials: Iterable[Trial], asked: Mapping[int, int], max_resource_of: Callable[[str], int | None]
) -> Summary:
    """Add up a study.

    A trial that asked for 150 iterations and was stopped at rung 9, with MaxResource 30, saved 120 by
    MaxResource, which would have ended it anyway, and 21 by the rung.

    Args:
        trials: The started trials.
        asked: Iterations asked for, by trial; trials that are missing are counted as not known.
        max_resource_of: The maximum resource of a definition, by its name; None where there is none.
    """
    trials = tuple(trials)
    by_max = by_rungs = by_median = 0
    for trial in trials:
        wanted = asked.get(trial.number)
        if trial.stop is None or wanted is None:
            continue
        if trial.stop.kind == "median":
            by_median += max(0, wanted - trial.reports)
        if (max_resource := max_resource_of(trial.definition)) is None:
            continue
        if trial.stop.kind == "rung":
            by_rungs += max(0, min(wanted, max_resource) - trial.reports)
        if trial.stop.kind in ("rung", "max_resource"):
            by_max += max(0, wanted - max(trial.reports, max_resource))
    stopped = Counter(
        trial.stop.rung
        for trial in trials
        if trial.stop is not None and trial.stop.kind == "rung" and trial.stop.rung is not None
    )
    return Summary(
        asked=sum(asked.get(trial.number, 0) for trial in trials),
        run=sum(trial.reports for trial in trials),
        saved_by_max_resource=by_max,
        saved_by_rungs=by_rungs,
        stopped_at=tuple(sorted(stopped.items())),
        reached_max_resource=sum(
            trial.stop is not None and trial.stop.kind == "max_resource" for trial in trials
        ),
        not_known=sum(trial.number not in asked for trial in trials),
        saved_by_median=by_median,
        stopped_by_median=sum(trial.stop is not None and trial.stop.kind == "median" for trial in trials),
    )
