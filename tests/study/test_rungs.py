from __future__ import annotations

from math import ceil, inf, nan
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bandstand.study.rungs import Rung, bracket_rungs, bracket_sizes, dealt_brackets, places_kept, usable


def test_one_to_thirty_has_four_brackets() -> None:
    assert bracket_rungs(1, 30) == ((1, 3, 9, 27), (3, 9, 27), (9, 27), (27,))


def test_a_level_at_the_maximum_is_no_rung_since_everything_stops_there() -> None:
    assert bracket_rungs(1, 27) == ((1, 3, 9), (3, 9), (9,), ())


def test_minimum_equal_to_maximum_is_one_bracket_without_rungs() -> None:
    assert bracket_rungs(20_000, 20_000) == ((),)


def test_one_round_of_hyperband_gives_the_sizes_of_the_paper() -> None:
    assert bracket_sizes(5) == (81, 34, 15, 8, 5)  # the paper's table 1, R = 81
    assert bracket_sizes(4) == (27, 12, 6, 4)


@given(st.integers(1, 20_000), st.integers(1, 20_000))
def test_rungs_lie_between_minimum_and_maximum_a_factor_of_three_apart(low: int, high: int) -> None:
    low, high = min(low, high), max(low, high)
    brackets = bracket_rungs(low, high)
    assert low * 3 ** (len(brackets) - 1) <= high < low * 3 ** len(brackets)
    for k, levels in enumerate(brackets):
        assert levels == tuple(low * 3**i for i in range(k, len(brackets)) if low * 3**i < high)


def test_thirty_trials_are_dealt_in_proportion_with_the_most_patient_first() -> None:
    assert dealt_brackets((27, 12, 6, 4), 30) == (3,) * 2 + (2,) * 4 + (1,) * 7 + (0,) * 17


def test_more_trials_than_one_round_holds_make_another_round() -> None:
    dealt = dealt_brackets((27, 12, 6, 4), 60)
    assert dealt[:49] == (3,) * 4 + (2,) * 6 + (1,) * 12 + (0,) * 27
    assert dealt[49:] == (3,) * 1 + (2,) * 1 + (1,) * 3 + (0,) * 6


def test_a_single_trial_is_in_the_bracket_of_most_trials() -> None:
    assert dealt_brackets((27, 12, 6, 4), 1) == (0,)


@given(st.integers(1, 10), st.integers(1, 400))
def test_every_bracket_gets_its_share_to_within_one_trial(brackets: int, jobs: int) -> None:
    sizes = bracket_sizes(brackets)
    dealt = dealt_brackets(sizes, jobs)
    assert len(dealt) == jobs
    for bracket, size in enumerate(sizes):
        assert abs(dealt.count(bracket) - jobs * size / sum(sizes)) < 1


@pytest.mark.parametrize("value", [nan, inf, -inf, None, 3.4028235e38, -3.4028234663852886e38])
def test_what_is_not_finite_or_printed_in_place_of_it_cannot_be_compared(value: float | None) -> None:
    assert not usable(value)


@given(st.integers(1, 1000))
def test_the_best_third_rounded_up_goes_on(placed: int) -> None:
    assert places_kept(placed) == ceil(placed / 3)


def _rung(maximize: bool, **values: float) -> Rung:
    rung = Rung(maximize)
    for name, value in values.items():
        rung.enter(int(name[1:]), value)
    return rung


def test_the_first_at_a_rung_goes_on_without_waiting() -> None:
    rung = _rung(True, t4=0.5)
    verdict = rung.judge(4, 0.5)
    assert verdict.goes_on
    assert (verdict.rank, verdict.cutoff, rung.others(4)) == (1, 0.5, ())


@pytest.mark.parametrize(("maximize", "goes_on", "place"), [(True, False, 3), (False, True, 2)])
def test_the_goal_decides_what_is_better(maximize: bool, goes_on: bool, place: int) -> None:
    rung = _rung(maximize, t1=0.9, t2=0.8, t3=0.7, t4=0.75)
    verdict = rung.judge(4, 0.75)
    assert (verdict.goes_on, verdict.rank) == (goes_on, place)
    assert verdict.cutoff == (0.8 if maximize else 0.75)
    assert rung.others(4) == ((1, 0.9), (2, 0.8), (3, 0.7))


@given(
    st.booleans(),
    st.lists(st.sampled_from([-2.0, -1.0, 0.0, 1.0, 2.0, nan, inf]), min_size=1, max_size=20),
    st.sampled_from([None, -2.0, 0.0, 1.5, nan]),
    st.randoms(use_true_random=False),
)
def test_a_judgement_is_the_place_among_all_put_in_order(
    maximize: bool, values: list[float], improved: float | None, order: Random
) -> None:
    trials = list(range(1, len(values) + 1))
    order.shuffle(trials)
    rung = _rung(maximize, **{f"t{trial}": value for trial, value in zip(trials, values, strict=True)})
    trial = trials[-1]
    value = values[-1] if improved is None else improved
    sign = -1 if maximize else 1
    others = sorted((sign * other, number) for number, other in rung.others(trial))
    everyone = sorted([*others, (sign * value, trial)]) if usable(value) else others
    rank = 1 + everyone.index((sign * value, trial)) if usable(value) else len(others) + 1
    cutoff = sign * everyone[places_kept(len(everyone)) - 1][0] if everyone else None

    verdict = rung.judge(trial, value)

    assert verdict.rank == rank
    assert verdict.goes_on == (usable(value) and rank <= places_kept(len(everyone)))
    assert verdict.cutoff == cutoff


@pytest.mark.parametrize("maximize", [True, False])
def test_of_equals_the_earlier_trial_is_better_whoever_came_first(maximize: bool) -> None:
    later_comes_last = _rung(maximize, t1=0.5, t2=0.5)
    assert later_comes_last.judge(2, 0.5).rank == 2
    earlier_comes_last = _rung(maximize, t2=0.5, t1=0.5)
    assert earlier_comes_last.judge(1, 0.5).goes_on


@pytest.mark.parametrize("bad", [nan, inf, -inf, -3.4028234663852886e38])
@pytest.mark.parametrize("maximize", [True, False])
def test_a_value_that_is_not_finite_is_placed_last_and_moves_nobody(bad: float, maximize: bool) -> None:
    rung = _rung(maximize, t1=0.5, t2=bad, t3=0.6)
    verdict = rung.judge(2, bad)
    assert not verdict.goes_on
    assert (verdict.rank, rung.others(2)) == (3, ((1, 0.5), (3, 0.6)))
    assert verdict.cutoff == (0.6 if maximize else 0.5)
    assert rung.others(3) == ((1, 0.5),)


def test_a_value_that_is_not_finite_goes_on_nowhere_even_alone() -> None:
    verdict = Rung(True).judge(1, nan)
    assert (verdict.goes_on, verdict.rank, verdict.cutoff) == (False, 1, None)


@pytest.mark.parametrize(("maximize", "better"), [(True, 0.7), (False, 0.5)])
def test_the_better_of_two_objectives_is_the_one_nearer_to_the_goal(maximize: bool, better: float) -> None:
    rung = Rung(maximize)
    assert rung.better(0.5, 0.7) == rung.better(0.7, 0.5) == better
    assert rung.better(0.5, nan) == 0.5
