import math
import re
import struct
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bandstand.errors import InputError, JobError
from bandstand.metric_line import (
    LARGEST,
    MAX_NAME,
    MAX_PATTERN,
    NUMBER,
    format_line,
    known_goal,
    metric_definitions,
    name_problem,
)

NAMES = st.text(st.characters(codec="utf-8"), min_size=1, max_size=40).filter(lambda n: not name_problem(n))


def test_a_metric_line_reads_as_documented() -> None:
    values = {"train:auc": 0.8132, "validation:auc": 0.77}
    assert format_line(12, values) == "iteration=12 train:auc=0.8132 validation:auc=0.77"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (7e-05, "7e-05"),
        (-0.0, "-0.0"),
        (1, "1.0"),
        (True, "1.0"),
        (1e22, "1e+22"),
        (5e-324, "5e-324"),
        (0.1 + 0.2, "0.30000000000000004"),
        (np.float32(0.1), "0.10000000149011612"),
        (np.float64(0.1), "0.1"),
        (np.int64(3), "3.0"),
        (np.array(0.25), "0.25"),
        (Decimal("0.5"), "0.5"),
    ],
)
def test_numbers_are_printed_in_shortest_round_trip_form(value: float, text: str) -> None:
    assert format_line(1, {"loss": value}) == f"iteration=1 loss={text}"


@given(st.floats(min_value=-LARGEST, max_value=LARGEST))
def test_a_printed_number_is_matched_whole_and_comes_back_bit_equal(value: float) -> None:
    text = format_line(1, {"loss": value}).partition(" loss=")[2]
    assert re.fullmatch(NUMBER, text)
    assert struct.pack("d", float(text)) == struct.pack("d", value)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, np.float32("nan")])
def test_a_value_that_is_not_finite_becomes_the_worst_for_its_goal_and_is_marked(value: float) -> None:
    assert format_line(2, {"auc": value}) == "iteration=2 auc=-3.4028235e+38 nonfinite=1"
    assert format_line(2, {"loss": value}) == "iteration=2 loss=3.4028235e+38 nonfinite=1"


def test_a_declared_goal_comes_before_the_one_that_the_name_tells() -> None:
    assert format_line(1, {"loss": math.nan}, {"loss": "maximize"}).startswith("iteration=1 loss=-3.4")
    assert format_line(1, {"x": math.inf}, {"x": "minimize"}).startswith("iteration=1 x=3.4")


def test_a_value_that_is_not_finite_with_no_known_goal_fails_the_job_and_says_how_to_mend_it() -> None:
    with pytest.raises(JobError, match=r"'weirdness' is nan at iteration 4.*Declare the goal"):
        format_line(4, {"loss": 0.5, "weirdness": math.nan})


def test_the_mark_stands_once_and_last_and_finite_neighbours_keep_their_values() -> None:
    line = format_line(1, {"a:loss": math.nan, "b:loss": math.inf, "auc": 0.5})
    assert line == "iteration=1 a:loss=3.4028235e+38 b:loss=3.4028235e+38 auc=0.5 nonfinite=1"


def test_the_worst_value_is_the_largest_finite_float32() -> None:
    assert struct.unpack("f", struct.pack("f", LARGEST))[0] == np.finfo(np.float32).max


@given(st.one_of(st.floats(allow_nan=False, allow_infinity=False), st.integers(-(10**400), 10**400)))
def test_finite_values_beyond_float32_keep_their_order_and_stay_finite(value: float) -> None:
    text = format_line(1, {"x": value})
    printed = float(text.partition(" x=")[2])
    assert math.isfinite(np.float32(printed))
    assert printed == float(max(-LARGEST, min(LARGEST, value)))


@pytest.mark.parametrize("value", [None, "0.5", "nan", [0.5], np.array([0.5, 0.6]), 1j, {}])
def test_a_value_that_is_no_number_is_refused_by_name(value: object) -> None:
    with pytest.raises(JobError, match="'loss' at iteration 3 is no number"):
        format_line(3, {"loss": value})  # type: ignore[dict-item]


@pytest.mark.parametrize("iteration", [0, -1, 1.5, "1", None, True, 10**9])
def test_iterations_are_whole_numbers_from_one(iteration: object) -> None:
    with pytest.raises(JobError, match="from 1"):
        format_line(iteration, {"loss": 0.5})  # type: ignore[arg-type]


def test_an_iteration_that_python_cannot_write_is_refused_without_it() -> None:
    for iteration in (10**5000, -(10**5000)):
        with pytest.raises(JobError, match="found one of int that is too long to show"):
            format_line(iteration, {"loss": 0.5})


def test_an_iteration_may_be_an_integer_of_numpy() -> None:
    assert format_line(np.int32(7), {"loss": 0.5}) == "iteration=7 loss=0.5"  # type: ignore[arg-type]


def test_an_iteration_without_metrics_is_refused() -> None:
    with pytest.raises(JobError, match="no metric"):
        format_line(1, {})


@pytest.mark.parametrize(
    "name",
    ["", "a b", "a\tb", "a=b", "iteration", "nonfinite", "x" * 256, "a\n", "a\x1b[1m", "a\xa0b", "\u200b"],
)
def test_names_that_a_metric_line_cannot_hold_are_refused(name: str) -> None:
    with pytest.raises(JobError, match="cannot be the name of a metric"):
        format_line(1, {name: 0.5})
    with pytest.raises(InputError, match="cannot be the name of a metric"):
        metric_definitions([name])


@pytest.mark.parametrize(
    ("name", "goal"),
    [
        ("validation:auc", "maximize"),
        ("auc", "maximize"),
        ("validation:aucpr", "maximize"),
        ("validation:ndcg@10", "maximize"),
        ("validation:ndcg@10-", "maximize"),
        ("validation:map@5", "maximize"),
        ("validation:ndcg-", "maximize"),
        ("validation:pre@3", "maximize"),
        ("val_accuracy", "maximize"),
        ("valid/accuracy", "maximize"),
        ("a:b:R2", "maximize"),
        ("interval-regression-accuracy", "maximize"),
        ("train:loss", "minimize"),
        ("eval_val_loss", "minimize"),
        ("validation:logloss", "minimize"),
        ("validation:mlogloss", "minimize"),
        ("validation:error@0.7", "minimize"),
        ("validation:merror", "minimize"),
        ("validation:rmse", "minimize"),
        ("validation:mae", "minimize"),
        ("validation:poisson-nloglik", "minimize"),
        ("validation:tweedie-nloglik@1.5", "minimize"),
        ("auc:something", None),
        ("my_auc_like", None),
        ("lossless", None),
        ("", None),
        ("train_", None),
        ("@10", None),
    ],
)
def test_the_goal_of_a_metric_is_known_by_the_last_part_of_its_name(name: str, goal: str | None) -> None:
    assert known_goal(name) == goal


def test_definitions_come_in_order_once_each_and_start_with_a_space() -> None:
    found = metric_definitions(["validation:auc", "loss", "validation:auc"])
    assert [entry["Name"] for entry in found] == ["validation:auc", "loss"]
    assert found[1]["Regex"] == f" loss=({NUMBER})"


@given(NAMES, st.floats(-1e38, 1e38), st.floats(-1e38, 1e38))
def test_a_pattern_reads_its_own_name_only(name: str, value: float, other: float) -> None:
    regex = metric_definitions([name])[0]["Regex"]
    line = format_line(3, {f"train:{name}": other, f"{name}x": other, name: value, f"x{name}": other})
    assert re.findall(regex, line) == [repr(value)]
    assert not re.search(regex, format_line(3, {f"train:{name}": other, f"{name}_2": other}))


@given(NAMES)
def test_a_pattern_has_one_group_and_is_not_anchored(name: str) -> None:
    regex = metric_definitions([name])[0]["Regex"]
    assert re.compile(regex).groups == 1
    assert re.search(regex, "[1,mpirank:0,algo-1]<stdout>:" + format_line(1, {name: 0.5}))


def test_a_name_whose_pattern_would_be_too_long_is_refused_with_all_the_others() -> None:
    with pytest.raises(InputError) as caught:
        metric_definitions(["." * MAX_NAME, "fine", "a b"])
    assert f"{MAX_PATTERN} are allowed" in str(caught.value)
    assert "'a b'" in str(caught.value)
    assert len(metric_definitions(["x" * MAX_NAME])[0]["Regex"]) <= MAX_PATTERN


@pytest.mark.parametrize("values", [0.5, [("loss", 0.5)], "loss=0.5", None])
def test_metrics_without_names_are_told_as_such(values: Any) -> None:
    with pytest.raises(JobError, match="give metrics by name, such as"):
        format_line(1, values)


def test_a_name_that_is_no_text_is_told_as_such() -> None:
    with pytest.raises(JobError, match="7 cannot be the name of a metric: it is no text"):
        format_line(1, {7: 0.5})  # type: ignore[dict-item]
    with pytest.raises(InputError, match="None cannot be the name of a metric: it is no text"):
        metric_definitions([None])  # type: ignore[list-item]


def test_one_text_is_no_list_of_names() -> None:
    with pytest.raises(InputError, match=r"found the text 'loss'. Write \['loss'\]"):
        metric_definitions("loss")
