from __future__ import annotations

from collections.abc import Callable, Iterable
from math import inf, nan

import pytest

from bandstand.errors import InputError
from bandstand.request.ranges import CategoricalRange
from bandstand.study import (
    Decision,
    Ended,
    Event,
    Finish,
    Halted,
    Reported,
    Started,
    Stop,
    StopReason,
    Study,
    StudySpec,
    to_document,
)

MakeSpec = Callable[..., StudySpec]


def tell(study: Study, events: Iterable[Event]) -> list[Decision]:
    return [decision for event in events for decision in study.tell(event)]


def reports(trial: int, *values: float) -> list[Event]:
    return [Reported(trial, value) for value in values]


def test_as_many_trials_are_asked_for_as_places_are_free(make_spec: MakeSpec) -> None:
    study = Study(make_spec(jobs=6, parallel=4))
    assert [start.trial for start in study.ask()] == [1, 2, 3, 4]
    assert study.ask() == study.ask()
    tell(study, [Started(1), Started(3)])
    assert [start.trial for start in study.ask()] == [2, 4]
    tell(study, [Started(2), Started(4)])
    assert study.ask() == ()
    tell(study, [*reports(3, 0.5), Ended(3, "completed", 0.5)])
    assert [start.trial for start in study.ask()] == [5]
    assert study.running == (1, 2, 4)


def test_more_places_than_trials_start_all_trials_once(make_spec: MakeSpec) -> None:
    study = Study(make_spec(jobs=2, parallel=10))
    assert [start.trial for start in study.ask()] == [1, 2]
    tell(study, [Started(1), Started(2)])
    assert study.ask() == ()


def test_nothing_is_stopped_before_the_minimum(make_spec: MakeSpec) -> None:
    study = Study(make_spec(min_resource=3, max_resource=9))
    tell(study, [Started(29), Started(30), *reports(29, 0.9, 0.9, 0.9)])
    assert tell(study, reports(30, 0.1, nan)) == []
    (stop,) = tell(study, reports(30, 0.1))
    assert stop == Stop(30, StopReason("rung", 0, 3, 2, 0.9, ((29, 0.9),), 0.1, 3))


def test_everything_is_stopped_at_the_maximum_even_the_best(make_spec: MakeSpec) -> None:
    study = Study(make_spec(min_resource=2, max_resource=5))
    assert tell(study, [Started(1), *reports(1, 0.1, 0.2, 0.3, 0.4)]) == []
    assert tell(study, reports(1, 0.5)) == [Stop(1, StopReason("max_resource", 0, 5, value=0.5, reports=5))]
    assert tell(study, reports(1, 0.6, 0.7)) == []


def test_minimum_equal_to_maximum_stops_at_the_maximum_only(make_spec: MakeSpec) -> None:
    study = Study(make_spec(min_resource=2, max_resource=2))
    assert tell(study, [Started(1), *reports(1, nan)]) == []
    (stop,) = tell(study, reports(1, nan))
    assert to_document(stop) == to_document(Stop(1, StopReason("max_resource", 0, 2, value=nan, reports=2)))


def test_a_trial_is_compared_with_trials_of_other_brackets_but_stopped_in_its_own(
    make_spec: MakeSpec,
) -> None:
    study = Study(make_spec())
    assert (study.bracket(14), study.bracket(7)) == (0, 1)
    assert study.rungs(7) == (3, 9, 27)
    tell(study, [Started(14), Started(7), *reports(14, 0.9)])
    assert tell(study, reports(7, 0.1)) == []
    tell(study, [Started(15)])
    (stop,) = tell(study, reports(15, 0.2))
    assert isinstance(stop, Stop)
    assert stop.reason.compared == ((7, 0.1), (14, 0.9))


def test_reports_after_a_stop_or_an_end_change_nothing(make_spec: MakeSpec) -> None:
    study = Study(make_spec())
    tell(study, [Started(14), *reports(14, 0.5), Started(15)])
    (stop,) = tell(study, reports(15, 0.4))
    assert stop.trial == 15
    assert tell(study, reports(15, 0.99, 0.99)) == []
    tell(study, [Ended(14, "completed", 0.5)])
    assert tell(study, reports(14, 0.99, 0.99)) == []
    tell(study, [Started(7), *reports(7, 0.7, 0.7, 0.7), Started(8)])
    (later,) = tell(study, reports(8, 0.6, 0.6, 0.55))
    assert isinstance(later, Stop)
    assert later.reason == StopReason("rung", 1, 3, 2, 0.7, ((7, 0.7),), 0.55, 3)


def _passed_the_first_rung_alone(make_spec: MakeSpec) -> Study:
    """Training job 14 has passed rung 1 with 0.5, before 15 and 16 came to it with 0.6 and 0.7."""
    study = Study(make_spec())
    starts: list[Event] = [Started(14), Started(15), Started(16)]
    assert tell(study, [*starts, *reports(14, 0.5), *reports(15, 0.6), *reports(16, 0.7)]) == []
    return study


def test_a_trial_that_passed_a_rung_early_is_stopped_once_later_ones_have_overtaken_it(
    make_spec: MakeSpec,
) -> None:
    study = _passed_the_first_rung_alone(make_spec)
    others = ((15, 0.6), (16, 0.7))
    assert tell(study, reports(14, 0.55)) == [
        Stop(14, StopReason("rung", 0, 1, 3, 0.7, others, value=0.55, reports=2))
    ]


def test_a_trial_whose_best_report_since_a_rung_reaches_the_cut_off_goes_on(make_spec: MakeSpec) -> None:
    study = _passed_the_first_rung_alone(make_spec)
    assert tell(study, reports(14, 0.75)) == []
    assert tell(study, [Started(17), *reports(17, 0.1)])  # one more at the rung, so that two go on
    assert tell(study, [Started(18), *reports(18, 0.65)]) == []
    assert tell(study, reports(16, nan)) == []
    (stop,) = tell(study, reports(15, 0.61))
    assert (stop.trial, stop.reason.rank, stop.reason.cutoff) == (15, 3, 0.65)


def test_the_next_rung_compares_what_was_reported_there_whatever_was_reported_before(
    make_spec: MakeSpec,
) -> None:
    study = Study(make_spec())
    tell(study, [Started(14), Started(7), *reports(7, 0.1, 0.2, 0.6)])
    (stop,) = tell(study, reports(14, 0.5, 0.9, 0.5))
    assert stop.reason == StopReason("rung", 0, 3, 2, 0.6, ((7, 0.6),), 0.5, 3)


def test_nan_and_infinity_stop_their_trial_and_leave_the_cut_off_of_others_alone(make_spec: MakeSpec) -> None:
    study = Study(make_spec(goal="minimize"))
    tell(study, [Started(14), Started(15), Started(16), Started(17), *reports(14, 0.5)])
    for trial, bad in ((15, nan), (16, -inf), (17, -3.4028234663852886e38)):
        (stop,) = tell(study, reports(trial, bad))
        assert isinstance(stop, Stop)
        assert (stop.reason.rank, stop.reason.cutoff, stop.reason.compared) == (2, 0.5, ((14, 0.5),))
    tell(study, [Ended(trial, "stopped") for trial in (15, 16, 17)])
    assert study.best() is None
    tell(study, [Ended(14, "completed", 0.5)])
    assert study.best() == (14, 0.5)


@pytest.mark.parametrize(("goal", "best"), [("maximize", (2, 0.9)), ("minimize", (3, 0.2))])
def test_the_best_is_by_final_objective_and_of_equals_the_earlier(
    make_spec: MakeSpec, goal: str, best: tuple[int, float]
) -> None:
    study = Study(make_spec(strategy="Random", goal=goal, parallel=9, max_resource=None))
    tell(study, [Started(trial) for trial in range(1, 8)])
    assert study.best() is None
    tell(study, [*reports(1, 0.99, 0.5), *reports(6, 1.5, 0.1)])
    assert study.best() is None
    final = {5: 0.2, 4: 0.9, 3: 0.2, 2: 0.9}
    tell(study, [Ended(trial, "completed", value) for trial, value in final.items()])
    tell(study, [Ended(1, "stopped"), Ended(6, "failed", 0.1), Ended(7, "completed", None)])
    assert study.best() == best


def test_random_stops_nobody_whatever_it_reports(make_spec: MakeSpec) -> None:
    study = Study(make_spec(strategy="Random", max_resource=None))
    tell(study, [Started(1), Started(2)])
    assert tell(study, [*reports(1, *[0.9] * 50), *reports(2, *[nan] * 50)]) == []
    assert (study.bracket(1), study.rungs(1)) == (None, ())


def test_a_tiny_space_gives_repeats_and_ends(make_spec: MakeSpec) -> None:
    space = (CategoricalRange("booster", ("gbtree", "dart")),)
    study = Study(make_spec(ranges=space, jobs=10, parallel=3))
    seen = []
    while study.finished is None:
        start = study.ask()[0]
        seen.append(start.settings)
        tell(study, [Started(start.trial), *reports(start.trial, 0.5), Ended(start.trial, "completed", 0.5)])
    assert len(seen) == 10
    assert len(set(seen)) <= 2
    assert study.finished.status == "Completed"


@pytest.mark.parametrize("event", [Reported(1, 0.5), Ended(1, "completed", 0.5)])
def test_an_event_of_a_trial_that_never_started_is_refused(make_spec: MakeSpec, event: Event) -> None:
    with pytest.raises(InputError, match="training job 1 was never started"):
        Study(make_spec()).tell(event)


@pytest.mark.parametrize("number", [0, 1, 31])
def test_a_start_that_cannot_be_is_refused(make_spec: MakeSpec, number: int) -> None:
    study = Study(make_spec())
    study.tell(Started(1))
    with pytest.raises(InputError, match=f"training job {number} started, but each of 1 to 30 starts once"):
        study.tell(Started(number))


def test_a_second_end_is_refused(make_spec: MakeSpec) -> None:
    study = Study(make_spec())
    tell(study, [Started(1), Ended(1, "failed")])
    with pytest.raises(InputError, match="had ended as 'failed'"):
        study.tell(Ended(1, "completed", 0.5))


def test_a_halt_before_any_start_finishes_at_once(make_spec: MakeSpec) -> None:
    study = Study(make_spec())
    assert study.tell(Halted("user")) == (
        Finish("Stopped", "The tuning job was stopped on request: none had started."),
    )
    assert study.ask() == ()
    assert study.tell(Halted("runtime")) == ()
