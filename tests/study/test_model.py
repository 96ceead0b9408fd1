from __future__ import annotations

import json
import logging
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import log10, nan
from random import Random

import pytest

from bandstand.errors import InputError, PlatformError
from bandstand.request.ranges import CategoricalRange, ContinuousRange, IntegerRange, Range
from bandstand.study import (
    Decision,
    Ended,
    Event,
    Known,
    Reported,
    Start,
    Started,
    Stop,
    Study,
    StudySpec,
    from_document,
    replay,
    to_document,
)
from bandstand.study.model import RANDOM_FIRST, Observation, modelled_settings
from bandstand.study.settings import Settings, random_settings

MakeSpec = Callable[..., StudySpec]
RANGES: tuple[Range, ...] = (
    IntegerRange("depth", 1, 12),
    IntegerRange("rounds", 1, 1000, "Logarithmic"),
    ContinuousRange("eta", 1e-4, 1.0, "Logarithmic"),
    ContinuousRange("momentum", 0.5, 0.999, "ReverseLogarithmic"),
    ContinuousRange("offset", -1.7e308, 1.7e308),
    IntegerRange("wide", -(2**63), 2**63 - 1),
    CategoricalRange("booster", ("gbtree", "dart")),
    CategoricalRange("only", ("one",)),
    IntegerRange("same", 4, 4),
    ContinuousRange("equal", 0.25, 0.25),
)


@pytest.fixture
def spec(make_spec: MakeSpec) -> StudySpec:
    return make_spec(strategy="Bayesian", max_resource=None, ranges=RANGES, jobs=18, parallel=4)


def objective(settings: Settings) -> float:
    chosen = dict(settings)
    return -abs(log10(float(chosen["eta"])) + 2) - (chosen["booster"] == "dart")


def drive(spec: StudySpec, seed: int) -> list[Event | Decision]:
    """Run a study on made jobs that end in a drawn order; some fail, some report NaN."""
    order, study = Random(seed), Study(spec)
    record: list[Event | Decision] = []
    drawn: dict[int, Settings] = {}
    while study.finished is None:
        for start in study.ask():
            drawn[start.trial] = start.settings
            record.append(start)
            event: Event = Started(start.trial, start.settings)
            record += [event, *study.tell(event)]
        trial = order.choice(study.running)
        value = nan if trial == 3 else objective(drawn[trial])
        for event in (Reported(trial, value), Ended(trial, "failed" if trial == 5 else "completed", value)):
            record += [event, *study.tell(event)]
    return record


def chosen_for(spec: StudySpec, trial: int, known: Sequence[Observation]) -> Settings:
    """The model's choice, of a study with one definition."""
    return modelled_settings(spec, spec.spaces[0], trial, known)


def observed(spec: StudySpec, count: int) -> list[Observation]:
    drawn = [random_settings(99, trial, spec.spaces[0].ranges) for trial in range(1, count + 1)]
    return [Observation(settings, "ended", objective(settings), 5) for settings in drawn]


def test_settings_of_every_kind_of_range_lie_within_it(spec: StudySpec) -> None:
    known = observed(spec, 30)
    for trial in range(31, 51):
        settings = chosen_for(spec, trial, known)
        assert [name for name, _ in settings] == [each.name for each in RANGES]
        for each, (_, text) in zip(RANGES, settings, strict=True):
            assert each.place(text) is not None, (each, text)


def test_the_first_trials_are_drawn_at_random_until_one_has_ended(spec: StudySpec) -> None:
    known = observed(spec, RANDOM_FIRST)
    assert chosen_for(spec, 11, known[1:]) == random_settings(7, 11, RANGES)
    running = [replace(each, state="running", value=None) for each in known]
    assert chosen_for(spec, 11, running) == random_settings(7, 11, RANGES)
    assert chosen_for(spec, 11, known) != random_settings(7, 11, RANGES)


def test_the_model_goes_where_the_objective_is_good(spec: StudySpec) -> None:
    known = observed(spec, 60)
    chosen = [objective(chosen_for(spec, trial, known)) for trial in range(61, 91)]
    at_random = [objective(random_settings(7, trial, RANGES)) for trial in range(61, 91)]
    assert sum(chosen) > sum(at_random) + 10


def test_the_goal_turns_the_model_round(spec: StudySpec) -> None:
    known = observed(spec, 60)
    worst = [objective(chosen_for(replace(spec, goal="minimize"), trial, known)) for trial in range(61, 81)]
    assert sum(worst) < sum(objective(chosen_for(spec, trial, known)) for trial in range(61, 81))


def test_trials_of_the_same_moment_try_different_things(spec: StudySpec) -> None:
    study = Study(spec)
    for trial, seen in enumerate(observed(spec, 12), start=1):
        study.tell(Started(trial, seen.settings))
        study.tell(Ended(trial, "completed", seen.value))
    starts = study.ask()
    assert [start.trial for start in starts] == [13, 14, 15, 16]
    assert len({start.settings for start in starts}) == 4
    assert study.ask() == starts
    study.tell(Started(13))
    assert study.ask() == starts[1:]


def test_what_was_cut_or_has_failed_ranks_behind_what_ended(spec: StudySpec) -> None:
    def place(known: list[Observation]) -> float:
        return sum(dict(chosen_for(spec, trial, known))["booster"] == "dart" for trial in range(100, 130))

    def seen(booster: str, state: str, value: float | None, reports: int) -> list[Observation]:
        drawn = [random_settings(5, trial, spec.spaces[0].ranges) for trial in range(1, 21)]
        words = [tuple((n, booster if n == "booster" else t) for n, t in each) for each in drawn]
        return [Observation(each, state, value, reports) for each in words]  # type: ignore[arg-type]

    ended = seen("gbtree", "ended", 0.1, 30)
    for others in (seen("dart", "cut", 0.9, 9), seen("dart", "bad", None, 9)):
        assert place(ended + others) < 15
    assert place(seen("gbtree", "cut", 0.1, 9) + seen("dart", "cut", 0.9, 9)) > 15
    assert place(seen("gbtree", "cut", 0.1, 27) + seen("dart", "cut", 0.9, 9)) < 15


@pytest.mark.parametrize("seed", [1, 2])
def test_the_same_recorded_order_of_events_gives_the_same_settings(spec: StudySpec, seed: int) -> None:
    record = drive(spec, seed)
    assert drive(spec, seed) == record or "nan" in str(record)
    again = replay(spec, [from_document(json.loads(json.dumps(to_document(entry)))) for entry in record])
    assert again.differences == ()
    without = [Started(entry.trial) if isinstance(entry, Started) else entry for entry in record]
    assert replay(spec, without).differences == ()


def test_settings_depend_on_the_seed_and_on_what_happened(spec: StudySpec) -> None:
    def last(record: list[Event | Decision]) -> Settings:
        return [entry for entry in record if isinstance(entry, Start)][-1].settings

    assert last(drive(spec, 1)) != last(drive(spec, 2))
    assert last(drive(replace(spec, seed=8), 1)) != last(drive(spec, 1))


def test_a_start_out_of_turn_or_with_other_settings_is_known_to_the_next(spec: StudySpec) -> None:
    def fresh() -> Study:
        study = Study(spec)
        for trial, seen in enumerate(observed(spec, 12), start=1):
            study.tell(Started(trial, seen.settings))
            study.tell(Ended(trial, "completed", seen.value))
        return study

    study, other = fresh(), fresh()
    asked = study.ask()
    changed = random_settings(123, 13, RANGES)
    study.tell(Started(13, changed))
    other.tell(Started(13, changed))
    assert study.ask() == other.ask()
    turned, rebuilt = fresh(), fresh()
    turned.ask()
    for each in (turned, rebuilt):
        each.tell(Started(14, asked[1].settings))
    assert turned.ask() == rebuilt.ask()


def test_optuna_is_quiet_and_left_as_it_was(spec: StudySpec, capsys: pytest.CaptureFixture[str]) -> None:
    before = logging.getLogger("optuna").level
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        chosen_for(spec, 31, observed(spec, 30))
    assert logging.getLogger("optuna").level == before or before == logging.NOTSET
    told = capsys.readouterr()
    assert (told.out, told.err) == ("", "")


def test_a_missing_optuna_is_told_with_the_way_to_get_it(
    spec: StudySpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    assert chosen_for(spec, 1, ()) == random_settings(7, 1, RANGES)
    with pytest.raises(PlatformError, match=r"pip install 'bandstand\[local\]'"):
        chosen_for(spec, 11, observed(spec, 30))


def test_the_modelled_hyperband_stops_as_hyperband_and_chooses_by_what_it_stopped(
    make_spec: MakeSpec,
) -> None:
    spec = make_spec(strategy="Hyperband-TPE", jobs=24, max_resource=9, ranges=RANGES)
    plain = Study(replace(spec, strategy="Hyperband"))
    study = Study(spec)
    kinds = set()
    while study.finished is None:
        for start in study.ask():
            study.tell(Started(start.trial, start.settings))
            plain.tell(Started(start.trial))
        trial = study.running[0]
        assert study.bracket(trial) == plain.bracket(trial)
        for report in range(1, 10):
            event = Reported(trial, (trial * 7919 % 100) * report / 100)
            decided = study.tell(event)
            assert decided == plain.tell(event)
            if decided:
                kinds |= {each.reason.kind for each in decided if isinstance(each, Stop)}
                break
        study.tell(Ended(trial, "stopped"))
        plain.tell(Ended(trial, "stopped"))
    assert kinds == {"rung", "max_resource"}
    assert study.summary({}) == plain.summary({})


def test_the_modelled_hyperband_draws_at_random_at_first_and_then_by_its_model(make_spec: MakeSpec) -> None:
    study = Study(make_spec(strategy="Hyperband-TPE", jobs=24, max_resource=9, ranges=RANGES, parallel=1))
    for trial in range(1, 13):
        (start,) = study.ask()
        assert (start.settings == random_settings(7, trial, RANGES)) == (trial <= RANDOM_FIRST)
        study.tell(Started(trial, start.settings))
        study.tell(Reported(trial, objective(start.settings)))
        study.tell(Ended(trial, "stopped"))


def test_what_earlier_tuning_jobs_have_found_is_known_from_the_first_trial_on(spec: StudySpec) -> None:
    known = [
        Known(f"past-{place}", seen.settings, seen.value or 0.0, 5, cut=place % 4 == 0)
        for place, seen in enumerate(observed(spec, 40))
    ]
    study = Study(spec)
    record: list[Event | Decision] = []
    for event in known:
        assert study.tell(event) == ()
        record.append(event)
    (first, *_) = study.ask()
    assert first.settings != random_settings(7, 1, RANGES)
    assert study.best() is None  # others' objectives are no trials of this study
    record += [first, Started(1, first.settings)]
    study.tell(Started(1, first.settings))
    back = [from_document(json.loads(json.dumps(to_document(entry)))) for entry in record]
    assert back == record
    assert replay(spec, back).differences == ()
    with pytest.raises(InputError, match="before the first start"):
        study.tell(known[0])
    with pytest.raises(InputError, match="with values of depth, rounds"):
        Study(spec).tell(Known("past", (("depth", "1"),), 0.5, 1))
