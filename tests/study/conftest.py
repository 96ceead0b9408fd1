from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import pytest
from hypothesis import settings

from bandstand.request.ranges import CategoricalRange, ContinuousRange, IntegerRange
from bandstand.study import Decision, Ended, Event, Reported, Space, Started, Stop, Study, StudySpec

settings.register_profile("no deadline", deadline=None)  # how long an example takes is the machine's affair
settings.load_profile("no deadline")

RANGES = (
    IntegerRange("num_round", 100, 200),
    ContinuousRange("eta", 0.001, 1.0, "Logarithmic"),
    CategoricalRange("booster", ("gbtree", "dart")),
)


@dataclass(frozen=True)
class Job:
    """How a made training job behaves: what it reports, how long it goes on after a stop, how it ends."""

    values: tuple[float, ...]
    overshoot: int = 0
    outcome: str = "completed"


@dataclass
class Played:
    study: Study
    record: list[Event | Decision] = field(default_factory=list)

    def stops(self) -> dict[int, Stop]:
        return {entry.trial: entry for entry in self.record if isinstance(entry, Stop)}

    def considered(self) -> int:
        """Reports that a decision could depend on: those made before the trial was told to stop."""
        told: set[int] = set()
        count = 0
        for entry in self.record:
            if isinstance(entry, Stop):
                told.add(entry.trial)
            elif isinstance(entry, Reported) and entry.trial not in told:
                count += 1
        return count


class Play(Protocol):
    def __call__(
        self, spec: StudySpec, jobs: Callable[[int], Job], choose: Callable[[Sequence[int]], int]
    ) -> Played: ...


def _play(spec: StudySpec, jobs: Callable[[int], Job], choose: Callable[[Sequence[int]], int]) -> Played:
    """Run a whole study on made jobs; `choose` says whose turn is next among the running ones."""
    played = Played(Study(spec))
    left: dict[int, list[float]] = {}
    stopped: set[int] = set()

    def tell(event: Event) -> None:
        played.record.append(event)
        for decision in played.study.tell(event):
            played.record.append(decision)
            if isinstance(decision, Stop):
                stopped.add(decision.trial)
                left[decision.trial] = left[decision.trial][: jobs(decision.trial).overshoot]

    while played.study.finished is None:
        for start in played.study.ask():
            played.record.append(start)
            left[start.trial] = list(jobs(start.trial).values)
            tell(Started(start.trial))
        running = played.study.running
        assert 0 < len(running) <= spec.parallel
        trial = choose(running)
        if left[trial]:
            tell(Reported(trial, left[trial].pop(0)))
        else:
            tell(Ended(trial, "stopped" if trial in stopped else jobs(trial).outcome))
    return played


@pytest.fixture
def play() -> Play:
    return _play


@pytest.fixture
def make_job() -> Callable[..., Job]:
    return Job


@pytest.fixture
def make_study() -> Callable[[StudySpec], Study]:
    return Study


@pytest.fixture
def make_spec() -> Callable[..., StudySpec]:
    def make(**terms: object) -> StudySpec:
        standard: dict[str, object] = {
            "goal": "maximize",
            "strategy": "Hyperband",
            "min_resource": 1,
            "max_resource": 30,
            "jobs": 30,
            "parallel": 4,
            "seed": 7,
        }
        ranges = terms.pop("ranges", RANGES)
        return StudySpec(**(standard | {"spaces": (Space(ranges),)} | terms))

    return make
