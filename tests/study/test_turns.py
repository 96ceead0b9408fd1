"""Several training job definitions in one study: whose turn it is, and who is given up."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
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
    Space,
    Start,
    Started,
    Study,
    StudySpec,
    from_document,
    replay,
    simulate,
    to_document,
)
from bandstand.study.model import Observation, random_first
from bandstand.study.settings import random_settings
from bandstand.study.turns import next_space

TREES = Space((IntegerRange("depth", 1, 12), ContinuousRange("rate", 0.0, 1.0)), "trees")
NETS = Space((ContinuousRange("rate", 10.0, 20.0), CategoricalRange("act", ("a", "b"))), "nets")
LINES = Space((ContinuousRange("alpha", 0.0, 1.0),), "lines")

MakeSpec = Callable[..., StudySpec]
Run = Callable[[Start], tuple[str, float | None]]


def driven(spec: StudySpec, run: Run, order: int = 0) -> tuple[Study, list[Event | Decision]]:
    """Run a study to its end; `run` says how a training job ends, which of the running ones is random."""
    study, record = Study(spec), []
    begun: dict[int, Start] = {}
    random = Random(order)

    def tell(event: Event) -> None:
        record.append(event)
        record.extend(study.tell(event))

    while study.finished is None:
        for start in study.ask():
            record.append(start)
            begun[start.trial] = start
            tell(Started(start.trial, start.settings, start.definition))
        trial = random.choice(study.running)
        outcome, value = run(begun[trial])
        tell(Ended(trial, outcome, value))  # type: ignore[arg-type]
    return study, record


def starts(record: list[Event | Decision]) -> list[Start]:
    return [entry for entry in record if isinstance(entry, Start)]


def shares(record: list[Event | Decision]) -> Counter[str]:
    return Counter(start.definition for start in starts(record))


def well(start: Start) -> tuple[str, float | None]:
    return "completed", 0.5


@pytest.fixture
def spec(make_spec: MakeSpec) -> StudySpec:
    return make_spec(strategy="Random", max_resource=None, jobs=14, parallel=3, spaces=(TREES, NETS, LINES))


def test_without_a_model_definitions_take_turns_with_their_own_ranges(spec: StudySpec) -> None:
    _, record = driven(spec, well)
    assert [start.definition for start in starts(record)[:6]] == ["trees", "nets", "lines"] * 2
    spaces = {space.name: space for space in spec.spaces}
    for start in starts(record):
        assert start.settings == random_settings(7, start.trial, spaces[start.definition].ranges)


@given(order=st.integers(0, 1000), jobs=st.integers(1, 20), parallel=st.integers(1, 6))
def test_shares_are_equal_whatever_ends_first(order: int, jobs: int, parallel: int) -> None:
    spec = StudySpec("minimize", "Random", 1, None, jobs, parallel, 3, (TREES, NETS, LINES))
    counts = shares(driven(spec, well, order)[1])
    assert sum(counts.values()) == jobs
    assert (
        max(counts[each.name] for each in spec.spaces) - min(counts[each.name] for each in spec.spaces) <= 1
    )


def test_a_definition_that_never_succeeds_is_given_up_and_the_others_get_its_share(spec: StudySpec) -> None:
    def run(start: Start) -> tuple[str, float | None]:
        return ("failed", None) if start.definition == "trees" else ("completed", 0.5)

    study, record = driven(replace(spec, jobs=30, parallel=1), run)
    assert shares(record) == {"trees": 5, "nets": 13, "lines": 12}
    assert study.finished is not None
    assert study.finished.status == "Completed"
    best = study.best()
    assert best is not None
    assert starts(record)[best[0] - 1].definition == "nets"


def test_failures_of_one_do_not_end_what_another_one_still_runs(spec: StudySpec) -> None:
    study = Study(replace(spec, jobs=20, parallel=8, spaces=(TREES, NETS)))
    for number in range(1, 6):
        study.tell(Started(number, None, "trees"))
    study.tell(Started(6, None, "nets"))
    for number in range(1, 6):
        assert study.tell(Ended(number, "failed")) == ()
    assert {start.definition for start in study.ask()} == {"nets"}
    assert study.tell(Ended(6, "completed", 0.5)) == ()


def test_one_success_is_enough_to_go_on(spec: StudySpec) -> None:
    def run(start: Start) -> tuple[str, float | None]:
        return ("completed", 0.5) if start.trial == 1 else ("failed", None)

    _, record = driven(replace(spec, jobs=40, parallel=1), run)
    assert shares(record) == {"trees": 30, "nets": 5, "lines": 5}


def test_a_study_fails_when_every_definition_has_had_its_five_attempts(spec: StudySpec) -> None:
    study, record = driven(replace(spec, jobs=40, parallel=1), lambda start: ("failed", None))
    assert shares(record) == {"trees": 5, "nets": 5, "lines": 5}
    assert study.finished is not None
    assert study.finished.status == "Failed"
    assert study.finished.reason.startswith("No training job succeeded after 15 attempts.")


def quality(start: Start) -> tuple[str, float | None]:
    """Trees reach 0.6 and nets 0.9, where their rate is right."""
    rate = float(dict(start.settings)["rate"])
    return "completed", 0.6 - abs(rate - 0.3) if start.definition == "trees" else 0.9 - abs(rate - 13) / 10


def test_a_model_spends_most_on_the_definition_that_does_best_and_learns_within_it(spec: StudySpec) -> None:
    spec = replace(spec, strategy="Bayesian", jobs=40, parallel=2, spaces=(TREES, NETS))
    study, record = driven(spec, quality)
    counts = shares(record)
    assert counts["nets"] >= 25
    assert counts["trees"] >= random_first(spec)
    best = study.best()
    assert best is not None
    assert best[1] > 0.85
    late = [quality(start)[1] or 0.0 for start in starts(record)[20:] if start.definition == "nets"]
    drawn = [
        Start(start.trial, random_settings(7, start.trial, NETS.ranges), "nets") for start in starts(record)
    ]
    at_random = [quality(start)[1] or 0.0 for start in drawn]
    assert sum(late) / len(late) > sum(at_random) / len(at_random)


def dealt(spec: StudySpec, value: Callable[[str, Random], float], seed: int) -> Counter[str]:
    """How many training jobs each definition gets, if one after the other ends with such a value."""
    known: list[Observation] = []
    random = Random(seed)
    for trial in range(1, spec.jobs + 1):
        name = next_space(replace(spec, seed=seed), trial, known).name
        known.append(Observation((), "ended", value(name, random), 1, name))
    return Counter(each.definition for each in known)


def test_definitions_that_do_equally_well_get_the_same_on_average(spec: StudySpec) -> None:
    spec = replace(spec, strategy="Bayesian", jobs=40, spaces=(TREES, NETS))
    counts = [dealt(spec, lambda name, random: random.random(), seed) for seed in range(40)]
    assert 0.4 < sum(each["trees"] for each in counts) / (40 * 40) < 0.6
    assert min(min(each["trees"], each["nets"]) for each in counts) >= random_first(spec)


@pytest.mark.parametrize("goal", ["maximize", "minimize"])
def test_the_one_that_does_best_gets_the_most_of_many(spec: StudySpec, goal: str) -> None:
    names = [f"d{number}" for number in range(6)]
    spaces = tuple(Space(LINES.ranges, name) for name in names)
    sign = 1 if goal == "maximize" else -1
    counts = dealt(
        replace(spec, strategy="Bayesian", goal=goal, jobs=90, spaces=spaces),
        lambda name, random: sign * (random.random() + (1 if name == "d4" else 0)),
        1,
    )
    assert counts["d4"] > 45
    assert min(counts[name] for name in names) >= 3


@pytest.mark.parametrize("strategy", ["Random", "Bayesian"])
def test_a_record_of_several_definitions_is_decided_the_same_again(spec: StudySpec, strategy: str) -> None:
    spec = replace(spec, strategy=strategy, jobs=16, spaces=(TREES, NETS))
    _, record = driven(spec, quality, order=2)
    back = [from_document(json.loads(json.dumps(to_document(entry)))) for entry in record]
    assert back == record
    assert replay(spec, back).differences == ()
    without = [Started(entry.trial) if isinstance(entry, Started) else entry for entry in record]
    assert replay(spec, without).differences == ()
    other = next(entry for entry in record if isinstance(entry, Start))
    changed = [replace(other, definition="nets") if entry == other else entry for entry in record]
    assert "training job 1 was recorded to start" in replay(spec, changed).differences[0]


def test_settings_that_were_drawn_are_drawn_anew_after_a_start_that_was_not_asked_for(
    spec: StudySpec,
) -> None:
    study, other = Study(spec), Study(spec)
    study.ask()
    for each in (study, other):
        each.tell(Started(2, None, "lines"))
    assert study.ask() == other.ask()
    assert [start.definition for start in study.ask()] == ["trees", "nets"]


def test_a_start_of_a_definition_that_there_is_not_is_refused(spec: StudySpec) -> None:
    with pytest.raises(InputError, match="none of trees, nets, lines"):
        Study(spec).tell(Started(1, None, "forests"))


def test_a_simulation_takes_each_curve_for_what_it_was_made_of(spec: StudySpec) -> None:
    curves = {
        number: Curve((), 1.0, "failed", "trees")
        if number < 7
        else Curve(((1.0, 0.5),), 1.0, "completed", "nets")
        for number in range(1, 15)
    }
    told = simulate(spec, curves)
    assert (told.finish.status, told.best) == ("Completed", (7, 0.5))
