from __future__ import annotations

import json
from math import isnan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bandstand.errors import InputError
from bandstand.study import (
    Decision,
    Ended,
    Event,
    Finish,
    Halted,
    Reported,
    Start,
    Started,
    Stop,
    StopReason,
    from_document,
    to_document,
)

numbers = st.floats(allow_nan=False)
maybe = st.none() | numbers
trials = st.integers(1, 10_000)
reasons = st.builds(
    StopReason,
    st.sampled_from(["rung", "max_resource", "runtime", "user", "failures"]),
    st.none() | st.integers(0, 9),
    st.none() | st.integers(1, 20_000),
    st.none() | trials,
    maybe,
    st.lists(st.tuples(trials, numbers), max_size=5).map(tuple),
    maybe,
    st.none() | st.integers(1, 20_000),
)
entries = st.one_of(
    st.builds(Started, trials),
    st.builds(Reported, trials, numbers),
    st.builds(Ended, trials, st.sampled_from(["completed", "failed", "stopped"]), maybe),
    st.builds(Halted, st.sampled_from(["runtime", "user"])),
    st.builds(Start, trials, st.lists(st.tuples(st.text(), st.text()), max_size=4).map(tuple)),
    st.builds(Stop, trials, reasons),
    st.builds(Finish, st.sampled_from(["Completed", "Failed", "Stopped"]), st.text()),
)


@given(entries)
def test_every_entry_comes_back_equal_from_strict_json(entry: Event | Decision) -> None:
    assert from_document(json.loads(json.dumps(to_document(entry), allow_nan=False))) == entry


def test_nan_comes_back_as_nan() -> None:
    back = from_document(json.loads(json.dumps(to_document(Reported(3, float("nan"))), allow_nan=False)))
    assert isinstance(back, Reported)
    assert isnan(back.value)


def test_an_unknown_type_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InputError, match=r"type 'paused'; expected one of known, started, reported"):
        from_document({"type": "paused", "trial": 1})


def test_a_missing_key_is_named() -> None:
    with pytest.raises(InputError, match=r"type 'reported' in the record lacks the key 'value'"):
        from_document({"type": "reported", "trial": 1})


def test_a_stop_recorded_without_its_reports_was_made_at_its_rung() -> None:
    stop = Stop(2, StopReason("rung", 0, 9, 2, 0.8, ((1, 0.8),), 0.7, reports=9))
    document = to_document(stop)
    del document["reason"]["reports"]
    assert from_document(document) == stop
