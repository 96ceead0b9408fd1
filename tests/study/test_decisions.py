from __future__ import annotations

from math import nan

import pytest

from bandstand.study import StopReason


def test_a_stop_at_a_rung_is_told_with_place_cut_off_and_whom_it_was_compared_with() -> None:
    compared = ((1, 0.76), (2, 0.75), (5, 0.7301), (6, 0.72))
    reason = StopReason("rung", 0, 9, 4, 0.75, compared, 0.725)
    assert reason.sentence() == (
        "Stopped at rung 9 of bracket 0: 0.725 is place 4 of 5 and the best 2 go on (cut-off 0.75); "
        "compared with training jobs 1, 2, 5, 6."
    )


def test_a_stop_some_reports_after_the_rung_says_that_others_have_overtaken() -> None:
    reason = StopReason("rung", 0, 9, 3, 0.76, ((1, 0.76), (2, 0.75)), 0.725, reports=14)
    assert reason.sentence() == (
        "Stopped after 14 reports, overtaken at rung 9 of bracket 0: the best since, 0.725, is place 3 of 3 "
        "and only the best one goes on (cut-off 0.76); compared with training jobs 1, 2."
    )


def test_two_at_a_rung_are_told_in_the_singular() -> None:
    reason = StopReason("rung", 1, 3, 2, 0.76, ((1, 0.76),), 0.7)
    assert reason.sentence().endswith(
        "0.7 is place 2 of 2 and only the best one goes on (cut-off 0.76); compared with training job 1."
    )


def test_a_crowd_is_named_in_part() -> None:
    compared = tuple((trial, 0.9) for trial in range(1, 41))
    sentence = StopReason("rung", 0, 1, 41, 0.9, compared, 0.1).sentence()
    assert sentence.endswith("compared with training jobs 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 and 28 more.")


@pytest.mark.parametrize("value", [nan, None])
def test_an_objective_that_is_no_number_is_told_as_that(value: float | None) -> None:
    sentence = StopReason("rung", 0, 1, 3, 0.5, ((1, 0.5), (2, 0.4)), value).sentence()
    assert sentence == (
        "Stopped at rung 1 of bracket 0: the objective is not a finite number (nan), which is worse than any."
    )


def test_the_maximum_and_the_ends_from_outside_have_their_own_sentences() -> None:
    at_maximum = StopReason("max_resource", 0, 30, value=0.7)
    assert at_maximum.sentence() == "Stopped after 30 reports: MaxResource is reached."
    assert "run-time limit" in StopReason("runtime").sentence()
    assert "on request" in StopReason("user").sentence()
    assert "none of its first training jobs succeeded" in StopReason("failures").sentence()


def test_every_reason_has_a_few_words_for_a_table() -> None:
    assert StopReason("rung", 0, 9, 3, 0.75, ((1, 0.76), (2, 0.75)), 0.725).brief() == "place 3 of 3"
    assert StopReason("rung", 0, 9, value=nan).brief() == "not finite"
    assert StopReason("max_resource", 0, 30).brief() == "at MaxResource"
    assert all(len(StopReason(kind).brief()) <= 16 for kind in ("runtime", "user", "failures"))
