"""Several definitions under a strategy that stops: each is decided by itself, as a study of its own would."""

from __future__ import annotations

import json
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bandstand.errors import InputError
from bandstand.request.ranges import CategoricalRange, ContinuousRange, IntegerRange
from bandstand.study import (
    Curve,
    Decision,
    Ended,
    Event,
    Reported,
    Space,
    Start,
    Started,
    Stop,
    Study,
    StudySpec,
    from_document,
    replay,
    simulate,
    to_document,
)
from bandstand.study.inferring import infer_stops

TREES = Space((IntegerRange("depth", 1, 12),), "trees", max_resource=9)
NETS = Space((ContinuousRange("rate", 10.0, 20.0),), "nets", max_resource=30)
LINES = Space((ContinuousRange("alpha", 0.0, 1.0),), "lines", max_resource=2)
SPACES = (TREES, NETS, LINES)
WORDS = (
    Space((CategoricalRange("act", ("a", "b")), CategoricalRange("loss", ("x", "y"))), "nets"),
    Space((CategoricalRange("depth", ("1", "2", "3")),), "trees"),
)

Record = list[Event | Decision]


def spec_of(jobs: int, parallel: int, **terms: object) -> StudySpec:
    """Three definitions whose objectives and units of resource have nothing to do with each other."""
    standard = StudySpec("maximize", "Hyperband", 1, None, jobs, parallel, 7, SPACES)
    return replace(standard, **terms)  # type: ignore[arg-type]


def played(spec: StudySpec, seed: int, *, failing: str = "") -> tuple[Study, Record]:
    """Run a study on made curves, whose reports arrive in a drawn order; nothing of `failing` succeeds."""
    study, random, record = Study(spec), Random(seed), Record()
    scale = {"trees": 1.0, "nets": 1000.0, "lines": -5.0}
    definitions: dict[int, str] = {}
    left: dict[int, int] = {}
    told: set[int] = set()

    def tell(event: Event) -> None:
        record.append(event)
        for decision in study.tell(event):
            record.append(decision)
            if isinstance(decision, Stop):
                told.add(decision.trial)
                left[decision.trial] = random.choice([0, 0, 1])  # it may report once more before it is gone

    while study.finished is None:
        for start in study.ask():
            record.append(start)
            definitions[start.trial], left[start.trial] = start.definition, random.randint(1, 40)
            tell(Started(start.trial, start.settings, start.definition))
        trial = random.choice(study.running)
        name = definitions[trial]
        if name == failing:
            tell(Ended(trial, "failed"))
        elif left[trial]:
            left[trial] -= 1
            tell(Reported(trial, scale[name] * random.choice([1.0, 2.0, 3.0, float("nan"), random.random()])))
        else:
            tell(Ended(trial, "stopped" if trial in told else "completed"))
    return study, record


def alone(record: Record, definition: str) -> tuple[list[Event], list[Stop], dict[int, int]]:
    """What a study of one definition would be told, the stops of its trials, and its numbers for them."""
    numbers: dict[int, int] = {}
    events: list[Event] = []
    stops: list[Stop] = []
    for entry in record:
        if isinstance(entry, Started) and entry.definition == definition:
            numbers[entry.trial] = len(numbers) + 1
        if isinstance(entry, Started | Reported | Ended) and entry.trial in numbers:
            events.append(replace(entry, trial=numbers[entry.trial]))
        if isinstance(entry, Stop) and entry.trial in numbers:
            stops.append(entry)
    return events, stops, numbers


def renumbered(stop: Stop, numbers: dict[int, int]) -> Stop:
    compared = tuple((numbers[trial], value) for trial, value in stop.reason.compared)
    return Stop(numbers[stop.trial], replace(stop.reason, compared=compared))


def words(stops: list[Stop]) -> list[str]:
    """Stops in writing, since NaN equals NaN in writing only."""
    return [json.dumps(to_document(stop)) for stop in stops]


@pytest.mark.parametrize("strategy", ["Hyperband", "median"])
@given(
    seed=st.integers(0, 10_000), jobs=st.integers(1, 40), parallel=st.integers(1, 8), low=st.integers(1, 2)
)
def test_a_definitions_decisions_are_those_of_a_study_of_its_own_that_hears_its_reports_only(
    strategy: str, seed: int, jobs: int, parallel: int, low: int
) -> None:
    spec = spec_of(jobs, parallel, min_resource=low)
    if strategy == "median":
        spec = replace(spec, strategy="Random", early_stopping=True)
    study, record = played(spec, seed)
    for space in spec.spaces:
        events, stops, numbers = alone(record, space.name)
        if not events:
            continue
        own = Study(replace(spec, spaces=(space,), jobs=len(numbers), parallel=jobs))
        decided = [stop for event in events for stop in own.tell(event) if isinstance(stop, Stop)]
        assert words(decided) == words([renumbered(stop, numbers) for stop in stops])
        for trial, number in numbers.items():
            assert (study.bracket(trial), study.rungs(trial)) == (own.bracket(number), own.rungs(number))


@given(seed=st.integers(0, 10_000), jobs=st.integers(1, 30), parallel=st.integers(1, 8))
def test_no_training_job_is_compared_with_one_of_another_definition(
    seed: int, jobs: int, parallel: int
) -> None:
    _, record = played(spec_of(jobs, parallel), seed)
    definitions = {entry.trial: entry.definition for entry in record if isinstance(entry, Started)}
    most = {space.name: space.max_resource for space in SPACES}
    for stop in (entry for entry in record if isinstance(entry, Stop)):
        assert {definitions[trial] for trial, _ in stop.reason.compared} <= {definitions[stop.trial]}
        if stop.reason.kind == "max_resource":
            assert stop.reason.rung == most[definitions[stop.trial]]


@given(seed=st.integers(0, 10_000), failing=st.sampled_from(["", "trees", "nets"]))
def test_a_record_under_hyperband_is_decided_the_same_again(seed: int, failing: str) -> None:
    spec = spec_of(24, 4)
    study, record = played(spec, seed, failing=failing)
    back = [from_document(json.loads(json.dumps(to_document(entry)))) for entry in record]
    again = replay(spec, back)
    assert again.differences == ()
    assert again.study.finished == study.finished
    assert [again.study.bracket(trial) for trial in range(1, 25)] == [
        study.bracket(trial) for trial in range(1, 25)
    ]


def test_jobs_that_one_definition_leaves_over_are_dealt_to_brackets_as_well() -> None:
    study, record = played(spec_of(24, 1), 3, failing="trees")
    numbers = [entry.trial for entry in record if isinstance(entry, Started) and entry.definition == "nets"]
    assert len(numbers) > 8
    brackets = [study.bracket(trial) for trial in numbers]
    assert None not in brackets
    assert brackets[8:] == brackets[: len(brackets) - 8]


def test_a_bracket_is_not_known_before_it_is_known_whose_the_trial_is() -> None:
    study = Study(spec_of(6, 2))
    assert (study.bracket(1), study.rungs(1)) == (None, ())
    study.tell(Started(1))
    assert study.bracket(1) is not None


def test_savings_are_counted_against_each_definitions_own_maximum() -> None:
    study = Study(spec_of(3, 3))
    for trial, count in ((1, 9), (2, 30), (3, 2)):
        study.tell(Started(trial))
        for _ in range(count):
            study.tell(Reported(trial, 1.0))
        study.tell(Ended(trial, "stopped"))
    told = study.summary({1: 50, 2: 50, 3: 50})
    assert (told.reached_max_resource, told.saved_by_max_resource) == (3, 41 + 20 + 48)


def test_every_maximum_that_cannot_be_is_told() -> None:
    with pytest.raises(InputError) as caught:
        spec_of(6, 2, min_resource=4)
    assert "min_resource is 4 and max_resource 2" in str(caught.value)
    with pytest.raises(InputError, match="max_resource is missing"):
        spec_of(6, 2, spaces=(TREES, Space((), "other")))


def test_recorded_curves_are_simulated_by_their_definitions() -> None:
    curves = {
        number: Curve(
            tuple((float(place), 1.0) for place in range(1, 41)),
            40.0,
            "completed",
            SPACES[(number - 1) % 3].name,
        )
        for number in range(1, 7)
    }
    told = simulate(spec_of(6, 6), curves)
    first = dict(told.reports)
    assert (first[1], first[2], first[3]) == (9, 30, 2)
    assert told.unknown == ()


def test_a_stop_of_amts_is_explained_by_its_definitions_own_terms() -> None:
    spec = spec_of(6, 6)
    events: list[Event] = [Started(1, (), "trees"), Started(2, (), "nets"), Started(3, (), "lines")]
    events += [Reported(2, 5000.0)] * 5 + [Reported(1, 0.5)] * 5
    events += [Reported(3, -7.0), Reported(3, -7.0), Ended(3, "stopped"), Ended(1, "stopped")]
    thought = infer_stops(spec, events, [1, 3])
    assert thought[3].reason is not None
    assert (thought[3].reason.kind, thought[3].reason.rung) == ("max_resource", 2)
    assert thought[1].brief == "by AMT"  # there is nobody of its own definition to compare it with


def test_a_grid_of_several_definitions_runs_every_combination_of_each_whoever_fails() -> None:
    spec = StudySpec("maximize", "Grid", 1, None, 7, 1, 7, WORDS)
    study, record = played(spec, 5, failing="nets")
    started = {(entry.definition, entry.settings) for entry in record if isinstance(entry, Start)}
    assert len(started) == 7
    assert sorted(name for name, _ in started) == ["nets"] * 4 + ["trees"] * 3
    assert study.finished is not None
    assert study.finished.status == "Completed"
    assert replay(spec, record).differences == ()
    without = [Started(entry.trial) if isinstance(entry, Started) else entry for entry in record]
    assert replay(spec, without).differences == ()
