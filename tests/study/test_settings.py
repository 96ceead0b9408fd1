from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bandstand.request.ranges import CategoricalRange, ContinuousRange, IntegerRange
from bandstand.study.settings import Grid, random_settings

ROUNDS = IntegerRange("num_round", 100, 200)
ETA = ContinuousRange("eta", 0.001, 1.0, "Logarithmic")
BOOSTER = CategoricalRange("booster", ("gbtree", "dart"))


def test_settings_are_the_same_for_the_same_seed_and_trial_in_every_release() -> None:
    settings = dict(random_settings(7, 1, (ROUNDS, ETA, BOOSTER)))
    assert (settings["num_round"], settings["booster"]) == ("153", "gbtree")
    assert float(settings["eta"]) == pytest.approx(0.0027416543203311046, rel=1e-12)


@given(st.integers(0, 2**32), st.integers(1, 10_000))
def test_a_hyperparameter_keeps_its_value_when_others_come_go_or_change_place(seed: int, trial: int) -> None:
    everything = dict(random_settings(seed, trial, (ROUNDS, ETA, BOOSTER)))
    assert dict(random_settings(seed, trial, (BOOSTER, ETA))) == {
        name: everything[name] for name in ("booster", "eta")
    }


def test_settings_are_listed_in_the_order_of_the_ranges() -> None:
    assert [name for name, _ in random_settings(1, 1, (BOOSTER, ROUNDS, ETA))] == [
        "booster",
        "num_round",
        "eta",
    ]


def test_trials_and_seeds_differ() -> None:
    drawn = {random_settings(seed, trial, (ETA,)) for seed in range(20) for trial in range(1, 21)}
    assert len(drawn) == 400


def test_draws_spread_evenly_over_the_unit_interval() -> None:
    unit = ContinuousRange("x", 0.0, 1.0)
    drawn = sorted(float(random_settings(3, trial, (unit,))[0][1]) for trial in range(1, 2001))
    assert max(abs(value - place / 2000) for place, value in enumerate(drawn)) < 0.04


@pytest.mark.parametrize("trial", [1, 500])
def test_a_space_of_one_setting_gives_it_every_time(trial: int) -> None:
    assert random_settings(0, trial, (CategoricalRange("booster", ("gbtree",)),)) == (("booster", "gbtree"),)


WORDS = (CategoricalRange("a", ("x", "y", "z")), BOOSTER, CategoricalRange("one", ("only",)))


def test_a_grid_has_every_combination_once() -> None:
    grid = Grid(7, [WORDS])
    dealt = [grid.settings(trial)[1] for trial in range(1, 7)]
    assert sorted(dealt) == [
        (("a", a), ("booster", booster), ("one", "only")) for a in "xyz" for booster in ("dart", "gbtree")
    ]


def test_the_grids_of_several_definitions_are_one_in_a_mixed_order() -> None:
    grid = Grid(7, [WORDS, (BOOSTER,)])
    dealt = [grid.settings(trial) for trial in range(1, 9)]
    assert sorted(settings for at, settings in dealt if at == 0) == sorted(
        Grid(7, [WORDS]).settings(trial)[1] for trial in range(1, 7)
    )
    assert sorted(settings for at, settings in dealt if at == 1) == [
        (("booster", booster),) for booster in ("dart", "gbtree")
    ]
    orders = {
        tuple(Grid(seed, [WORDS, (BOOSTER,)]).settings(trial)[0] for trial in range(1, 9))
        for seed in range(9)
    }
    assert len(orders) > 3


def test_a_grids_order_depends_on_the_seed_alone_and_stays_in_every_release() -> None:
    def first(seed: int) -> list[str]:
        return [Grid(seed, [WORDS]).settings(trial)[1][0][1] for trial in range(1, 7)]

    assert first(7) == first(7)
    assert len({tuple(first(seed)) for seed in range(20)}) > 10
    assert "".join(first(7)) == "xxyyzz"
