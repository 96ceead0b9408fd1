from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from math import isnan
from random import Random

import pytest

from bandstand.errors import InputError
from bandstand.study import (
    Decision,
    Ended,
    Event,
    Finish,
    Reported,
    Start,
    Started,
    Stop,
    StopReason,
    Study,
    StudySpec,
    from_document,
    replay,
    to_document,
)

MakeSpec = Callable[..., StudySpec]
Record = list[Event | Decision]


@pytest.fixture
def spec(make_spec: MakeSpec) -> StudySpec:
    return make_spec(jobs=9, parallel=3, max_resource=9)


@pytest.fixture
def record(spec: StudySpec, play, make_job) -> Record:
    """A recorded study with rises and falls, one job that fails and one that reports NaN."""

    def job(trial: int):
        curve = Random(trial)
        values = tuple(float("nan") if trial == 4 else curve.random() for _ in range(12))
        return make_job(
            values[:2] if trial == 6 else values, trial % 3, "failed" if trial == 6 else "completed"
        )

    return play(spec, job, Random(3).choice).record


def place_of(record: Record, kind: type) -> int:
    return next(place for place, entry in enumerate(record) if isinstance(entry, kind))


def test_a_faithful_record_has_no_differences(spec: StudySpec, record: Record) -> None:
    again = replay(spec, record)
    assert again.differences == ()
    assert sorted(map(repr, again.decisions)) == sorted(
        repr(entry) for entry in record if isinstance(entry, Start | Stop | Finish)
    )
    assert again.study.finished is not None


def test_a_record_that_went_through_json_has_no_differences_not_even_for_nan(
    spec: StudySpec, record: Record
) -> None:
    back = [from_document(json.loads(json.dumps(to_document(entry)))) for entry in record]
    assert any(isinstance(entry, Reported) and isnan(entry.value) for entry in back)
    assert replay(spec, back).differences == ()


def test_a_study_rebuilt_at_any_moment_goes_on_as_if_nothing_had_happened(
    spec: StudySpec, record: Record
) -> None:
    events = [entry for entry in record if not isinstance(entry, Start | Stop | Finish)]
    for cut in range(len(events) + 1):
        undisturbed, rebuilt = Study(spec), Study(spec)
        for event in events[:cut]:
            undisturbed.tell(event)
        for event in events[:cut]:
            rebuilt.tell(event)
        assert rebuilt.ask() == undisturbed.ask()
        assert [repr(rebuilt.tell(event)) for event in events[cut:]] == [
            repr(undisturbed.tell(event)) for event in events[cut:]
        ]
        assert rebuilt.best() == undisturbed.best()


def test_a_stop_that_the_record_lacks_is_told(spec: StudySpec, record: Record) -> None:
    place = place_of(record, Stop)
    stop = record.pop(place)
    (difference,) = replay(spec, record).differences
    assert difference.startswith(
        f"after entry {place}: decided now but not recorded: stop training job {stop.trial} ("
    )


def test_a_recorded_stop_that_would_not_be_made_now_is_told(spec: StudySpec, record: Record) -> None:
    place = place_of(record, Reported)
    invented = Stop(record[place].trial, StopReason("rung", 0, 1, 2, 0.5, ((9, 0.5),), 0.4))
    record.insert(place + 1, invented)
    (difference,) = replay(spec, record).differences
    assert "recorded but not decided now: stop training job" in difference
    assert invented.reason.sentence() in difference


def test_a_stop_with_another_reason_is_told_both_ways(spec: StudySpec, record: Record) -> None:
    place = place_of(record, Stop)
    record[place] = replace(record[place], reason=replace(record[place].reason, rank=99))
    recorded, decided = replay(spec, record).differences
    assert "recorded but not decided now" in recorded
    assert "decided now but not recorded" in decided


def test_another_end_is_told(spec: StudySpec, record: Record) -> None:
    assert isinstance(record[-1], Finish)
    record[-1] = Finish("Failed", "something else")
    recorded, decided = replay(spec, record).differences
    assert "finish as Failed (something else)" in recorded
    assert "finish as Completed (All 9 training jobs have ended" in decided


def test_other_settings_are_told(spec: StudySpec, record: Record) -> None:
    place = place_of(record, Start)
    record[place] = Start(1, (("num_round", "1"),))
    (difference,) = replay(spec, record).differences
    assert difference.startswith("entry 2: training job 1 was recorded to start with {'num_round': '1'}")


def test_a_start_without_settings_in_the_record_is_no_difference(spec: StudySpec, record: Record) -> None:
    assert replay(spec, [entry for entry in record if not isinstance(entry, Start)]).differences == ()


def test_a_start_that_was_not_due_is_told(spec: StudySpec) -> None:
    (difference,) = replay(spec, [Started(9)]).differences
    assert difference == "entry 1: training job 9 was started where no start was due"


def test_events_that_cannot_follow_each_other_are_refused(spec: StudySpec) -> None:
    with pytest.raises(InputError, match="never started"):
        replay(spec, [Ended(1, "completed", 0.5)])


def test_other_terms_give_other_decisions(spec: StudySpec, record: Record) -> None:
    assert replay(replace(spec, goal="minimize"), record).differences
