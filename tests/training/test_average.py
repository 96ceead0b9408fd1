"""The mean over ranks equals the exact one, rounded once."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bandstand.errors import JobError
from bandstand.training.average import weighted_mean

FINITE = st.floats(allow_nan=False, allow_infinity=False)
WEIGHT = st.floats(min_value=0.0, allow_nan=False, allow_infinity=False)


@given(st.lists(st.tuples(FINITE, WEIGHT), min_size=1).filter(lambda pairs: any(w > 0 for _, w in pairs)))
def test_it_is_the_exact_mean_correctly_rounded(pairs):
    exact = sum(Fraction(v) * Fraction(w) for v, w in pairs) / sum(Fraction(w) for _, w in pairs)
    assert weighted_mean(pairs) == float(exact)


def test_ranks_without_rows_do_not_count_whatever_they_say():
    assert weighted_mean([(0.1, 30.0), (math.nan, 0.0), (math.inf, 0.0)]) == 0.1


def test_unequal_weights_are_the_mean_over_all_rows():
    assert weighted_mean([(0.5, 1), (0.25, 3)]) == 0.3125


def test_what_is_not_finite_stays_so():
    assert math.isnan(weighted_mean([(math.nan, 1.0), (1.0, 1.0)]))
    assert weighted_mean([(math.inf, 1.0), (1.0, 1.0)]) == math.inf
    assert math.isnan(weighted_mean([(math.inf, 1.0), (-math.inf, 1.0)]))


@pytest.mark.parametrize("weight", [-1.0, math.nan, math.inf])
def test_a_weight_that_is_none_is_refused_with_its_rank(weight: float):
    with pytest.raises(JobError, match="the weight of rank 1 is"):
        weighted_mean([(1.0, 1.0), (1.0, weight)])


def test_no_rows_at_all_is_an_error():
    with pytest.raises(JobError, match="all weights are 0"):
        weighted_mean([(1.0, 0.0)])
