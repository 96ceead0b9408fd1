"""Ranges: every place in the unit interval is a value of the range, as text."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bandstand.request import CategoricalRange, ContinuousRange, IntegerRange

UNITS = st.floats(0, 1, exclude_max=True)
WHOLE = st.integers(-(2**63), 2**63 - 1)
FINITE = st.floats(allow_nan=False, allow_infinity=False)


@given(low=WHOLE, high=WHOLE, unit=UNITS)
def test_an_integer_range_gives_whole_numbers_within_its_bounds(low: int, high: int, unit: float) -> None:
    low, high = sorted((low, high))
    text = IntegerRange("a", low, high).at(unit)
    assert str(int(text)) == text
    assert low <= int(text) <= high


@given(low=st.integers(1, 2**63 - 1), high=st.integers(1, 2**63 - 1), unit=UNITS)
def test_a_logarithmic_integer_range_stays_within_its_bounds(low: int, high: int, unit: float) -> None:
    low, high = sorted((low, high))
    assert low <= int(IntegerRange("a", low, high, "Logarithmic").at(unit)) <= high


@given(low=FINITE, high=FINITE, unit=UNITS)
def test_a_continuous_range_gives_numbers_that_read_back_within_its_bounds(
    low: float, high: float, unit: float
) -> None:
    low, high = sorted((low, high))
    text = ContinuousRange("a", low, high).at(unit)
    assert low <= float(text) <= high
    assert repr(float(text)) == text


@given(
    low=st.floats(5e-324, 1.7e308),
    high=st.floats(5e-324, 1.7e308),
    unit=UNITS,
)
def test_a_logarithmic_continuous_range_stays_within_its_bounds(low: float, high: float, unit: float) -> None:
    low, high = sorted((low, high))
    assert low <= float(ContinuousRange("a", low, high, "Logarithmic").at(unit)) <= high


@given(low=st.floats(0, 1, exclude_max=True), high=st.floats(0, 1, exclude_max=True), unit=UNITS)
def test_a_reverse_logarithmic_range_stays_within_its_bounds(low: float, high: float, unit: float) -> None:
    low, high = sorted((low, high))
    assert low <= float(ContinuousRange("a", low, high, "ReverseLogarithmic").at(unit)) <= high


@given(values=st.lists(st.text(), min_size=1, unique=True), unit=UNITS)
def test_a_categorical_range_gives_its_words(values: list[str], unit: float) -> None:
    assert CategoricalRange("a", tuple(values)).at(unit) in values


def test_every_whole_number_and_every_word_has_an_equal_share() -> None:
    dice = IntegerRange("a", 1, 6)
    rolls = [dice.at((k + 0.5) / 600) for k in range(600)]
    assert {face: rolls.count(face) for face in set(rolls)} == {str(face): 100 for face in range(1, 7)}
    coin = CategoricalRange("a", ("heads", "tails"))
    assert [coin.at(k / 10) for k in range(10)].count("heads") == 5


def test_a_logarithmic_scale_gives_every_power_of_ten_an_equal_share() -> None:
    spread = ContinuousRange("eta", 1e-4, 1.0, "Logarithmic")
    values = [float(spread.at(k / 400)) for k in range(400)]
    assert sum(value < 1e-2 for value in values) == pytest.approx(200, abs=1)
    whole = IntegerRange("depth", 1, 1000, "Logarithmic")
    assert 0.28 < sum(int(whole.at(k / 1000)) <= 5 for k in range(1000)) / 1000 < 0.34


def test_a_reverse_logarithmic_scale_looks_closely_at_the_values_near_one() -> None:
    spread = ContinuousRange("momentum", 0.0, 0.999, "ReverseLogarithmic")
    values = [float(spread.at(k / 300)) for k in range(300)]
    assert sum(value > 0.99 for value in values) == pytest.approx(100, abs=2)


def test_the_ends_of_a_range_can_be_reached() -> None:
    last = math.nextafter(1.0, 0.0)
    assert IntegerRange("a", 3, 5).at(0.0) == "3"
    assert IntegerRange("a", 3, 5).at(last) == "5"
    assert ContinuousRange("a", 0.0, 1.0).at(0.0) == "0.0"
    assert CategoricalRange("a", ("x", "y")).at(last) == "y"


@pytest.mark.parametrize("unit", [-0.1, 1.0, math.nan])
def test_a_place_outside_the_unit_interval_is_refused(unit: float) -> None:
    for spread in (IntegerRange("a", 1, 2), ContinuousRange("a", 1, 2), CategoricalRange("a", ("x",))):
        with pytest.raises(ValueError, match="up to, but not including, 1"):
            spread.at(unit)


@given(
    spread=st.sampled_from(
        [
            IntegerRange("n", 1, 7),
            IntegerRange("n", -(2**63), 2**63 - 1),
            IntegerRange("n", 1, 10_000, "Logarithmic"),
            IntegerRange("n", 3, 3),
            CategoricalRange("n", ("a", "b", "c")),
        ]
    ),
    unit=st.floats(0, 1, exclude_max=True),
)
def test_the_place_of_a_value_of_a_list_leads_back_to_it(
    spread: IntegerRange | CategoricalRange, unit: float
) -> None:
    text = spread.at(unit)
    place = spread.place(text)
    assert place is not None
    if spread != IntegerRange("n", -(2**63), 2**63 - 1):
        assert spread.at(place) == text
    else:
        assert abs(int(spread.at(place)) - int(text)) <= 2**12


@given(
    spread=st.sampled_from(
        [
            ContinuousRange("x", -3.0, 5.0),
            ContinuousRange("x", -1.7e308, 1.7e308),
            ContinuousRange("x", 1e-6, 10.0, "Logarithmic"),
            ContinuousRange("x", 0.0, 0.999, "ReverseLogarithmic"),
        ]
    ),
    unit=st.floats(0, 1, exclude_max=True),
)
def test_the_place_of_a_number_is_where_it_came_from(spread: ContinuousRange, unit: float) -> None:
    assert spread.place(spread.at(unit)) == pytest.approx(unit, abs=1e-9)


def test_what_is_not_in_a_range_has_no_place_in_it() -> None:
    assert ContinuousRange("x", 0.25, 0.25).place("0.25") == 0.5
    for spread, texts in (
        (IntegerRange("n", 1, 7), ("0", "8", "1.5", "x", "")),
        (ContinuousRange("x", 1.0, 2.0), ("0.99", "2.01", "nan", "inf", "two")),
        (CategoricalRange("w", ("a",)), ("b", "")),
    ):
        assert [spread.place(text) for text in texts] == [None] * len(texts)
