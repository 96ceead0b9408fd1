"""A study on recorded curves: what other terms would have cost and found, as far as the curves tell."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from bandstand.study.decisions import Finish, Stop, StopKind
from bandstand.study.events import Ended, Event, Reported, Started
from bandstand.study.rungs import usable
from bandstand.study.spec import StudySpec
from bandstand.study.study import Study


@dataclass(frozen=True)
class Curve:
    """What one training job did.

    Args:
        reports: (seconds since its start, objective) in order.
        ended: Seconds from its start to its end, or to the last that is known of it.
        outcome: "completed" or "failed" where it ended by itself; None where it was stopped or still runs, so
            that nobody knows how it would have gone on.
        definition: The name of the training job definition that it was made of.
    """

    reports: tuple[tuple[float, float], ...]
    ended: float
    outcome: Literal["completed", "failed"] | None
    definition: str = ""


@dataclass(frozen=True)
class Simulation:
    """How a simulated study went.

    Args:
        finish: Its end.
        best: (trial, final objective) of the best trial whose end is known; None without one.
        reports: (trial, reports made) of each trial that started; a lower bound for unknown ones.
        seconds: Its length, if every training job were as fast as it was.
        stops: How many trials were stopped, by kind.
        stopped_at: (resource, trials stopped there) of the rungs in ascending order.
        unknown: (trial, reports known) of each trial that would have gone on beyond what was recorded, or was
            never recorded at all.
    """

    finish: Finish
    best: tuple[int, float] | None
    reports: tuple[tuple[int, int], ...]
    seconds: float
    stops: Mapping[StopKind, int]
    stopped_at: tuple[tuple[int, int], ...]
    unknown: tuple[tuple[int, int], ...]

    @property
    def iterations(self) -> int:
        """Reports made in all; a lower bound when there are unknown trials."""
        return sum(count for _, count in self.reports)


def simulate(spec: StudySpec, curves: Mapping[int, Curve]) -> Simulation:
    """Run a study on recorded curves, each trial as fast as it was, stops taking effect at once.

    Settings are the recorded ones, so that a strategy with a model is simulated with the settings it had. A
    trial whose curve is too short leaves the study where its curve ends: its last objective stays in the
    comparisons that it was part of, but it is not the best, and nothing is made up about the rest.

    Args:
        spec: The terms.
        curves: Recorded curves by trial number.
    """
    return _Simulator(spec, curves).run()


class _Simulator:
    def __init__(self, spec: StudySpec, curves: Mapping[int, Curve]) -> None:
        self._study = Study(replace(spec, strategy="Hyperband" if spec.hyperband else "Random"))
        self._maximize = spec.maximize
        self._curves = curves
        self._queue: list[tuple[float, int, int]] = []
        self._starts: dict[int, float] = {}
        self._made: Counter[int] = Counter()
        self._final: dict[int, float] = {}
        self._stops: list[Stop] = []
        self._unknown: dict[int, int] = {}

    def run(self) -> Simulation:
        """Take events in order of their time until the study has finished."""
        now = 0.0
        self._start(now)
        while self._study.finished is None:
            now, trial, place = heapq.heappop(self._queue)
            if trial in self._study.running:
                self._tell(now, self._next(trial, place))
                self._start(now)
        kinds = Counter(stop.reason.kind for stop in self._stops)
        rungs = Counter(stop.reason.rung or 0 for stop in self._stops if stop.reason.kind == "rung")
        return Simulation(
            finish=self._study.finished,
            best=self._best(),
            reports=tuple((trial, self._made[trial]) for trial in sorted(self._starts)),
            seconds=now,
            stops=dict(kinds),
            stopped_at=tuple(sorted(rungs.items())),
            unknown=tuple(sorted(self._unknown.items())),
        )

    def _start(self, now: float) -> None:
        for start in self._study.ask():
            self._starts[start.trial] = now
            curve = self._curves.get(start.trial)
            self._tell(now, Started(start.trial, definition="" if curve is None else curve.definition))
            for place, moment in enumerate(_moments(curve)):
                heapq.heappush(self._queue, (now + moment, start.trial, place))

    def _next(self, trial: int, place: int) -> Event:
        curve = self._curves.get(trial)
        if curve is not None and place < len(curve.reports):
            return Reported(trial, curve.reports[place][1])
        if curve is None or curve.outcome is None:
            self._unknown[trial] = self._made[trial]
            return Ended(trial, "stopped")
        return Ended(trial, curve.outcome)

    def _tell(self, now: float, event: Event) -> None:
        if isinstance(event, Reported):
            self._made[event.trial] += 1
            self._final[event.trial] = event.value
        if isinstance(event, Ended) and event.outcome == "failed":
            self._final.pop(event.trial, None)
        for stop in _stops(self._study.tell(event)):
            self._stops.append(stop)
            self._tell(now, Ended(stop.trial, "stopped"))

    def _best(self) -> tuple[int, float] | None:
        sign = -1.0 if self._maximize else 1.0
        known = [
            (sign * value, trial, value)
            for trial, value in self._final.items()
            if usable(value) and trial not in self._unknown
        ]
        return min(known)[1:] if known else None


def _moments(curve: Curve | None) -> Iterator[float]:
    """When a training job reports and when it ends, in seconds since its start."""
    if curve is None:
        yield 0.0
        return
    for moment, _ in curve.reports:
        yield moment
    last = curve.reports[-1][0] if curve.reports else 0.0
    yield max(curve.ended, last)


def _stops(decisions: Iterable[Stop | Finish]) -> list[Stop]:
    return [decision for decision in decisions if isinstance(decision, Stop)]
