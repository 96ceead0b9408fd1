import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bandstand.errors import InputError
from bandstand.log_lines import MAX_LINE_BYTES, LineSplitter
from bandstand.metric_line import LARGEST, format_line, metric_definitions, name_problem
from bandstand.metric_patterns import LONGEST_SEARCH
from bandstand.metrics import MetricParser, Point

NAMES = st.text(st.characters(codec="utf-8"), min_size=1, max_size=30).filter(lambda n: not name_problem(n))
VALUES = st.floats(min_value=-LARGEST, max_value=LARGEST)
NUMBER = r"([-+]?[0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?)"


def shipped(*names: str) -> list[tuple[str, str]]:
    return [(entry["Name"], entry["Regex"]) for entry in metric_definitions(names)]


def values(parser: MetricParser, *lines: str, host: str = "algo-1") -> list[tuple[str, int, float]]:
    points = [point for line in lines for point in parser.feed(host, 0.0, line)]
    return [(point.name, point.iteration, point.value) for point in points]


def test_a_metric_line_becomes_points() -> None:
    parser = MetricParser(shipped("validation:auc"))
    assert parser.feed("algo-2", 12.5, "iteration=3 train:auc=0.8132 validation:auc=0.77") == [
        Point("validation:auc", 3, 0.77, "algo-2", 12.5),
        Point("train:auc", 3, 0.8132, "algo-2", 12.5),
    ]


@given(st.integers(1, 999_999_999), st.dictionaries(NAMES, VALUES, min_size=1, max_size=6), st.booleans())
def test_every_printed_value_comes_back_bit_equal_with_and_without_definitions(
    iteration: int, printed: dict[str, float], defined: bool
) -> None:
    parser = MetricParser(shipped(*printed) if defined else [])
    points = parser.feed("algo-1", 0.0, format_line(iteration, printed))
    assert [point.name for point in points] == list(printed)
    assert {point.iteration for point in points} == {iteration}
    for point in points:
        assert struct.pack("d", point.value) == struct.pack("d", printed[point.name])


@given(
    st.dictionaries(NAMES, VALUES, min_size=1, max_size=3),
    st.sampled_from(
        ["", "[1,mpirank:0,algo-1]<stdout>:", "algo-1-x7k2p  | ", "2026-01-01 INFO root:", "\x1b[32m", "'"]
    ),
    st.sampled_from(["", "\x1b[0m", " ", " and more", "\t"]),
)
def test_tags_and_colours_around_a_metric_line_change_nothing(
    printed: dict[str, float], before: str, after: str
) -> None:
    line = before + format_line(3, printed) + after
    for definitions in (shipped(*printed), []):
        found = MetricParser(definitions).feed("algo-1", 0.0, line)
        assert {point.name: point.value for point in found} == printed
        assert {point.iteration for point in found} == {3}


def test_loss_never_matches_inside_train_loss() -> None:
    parser = MetricParser(shipped("loss"))
    assert values(parser, "iteration=1 train:loss=0.25 val_loss=0.5") == [
        ("train:loss", 1, 0.25),
        ("val_loss", 1, 0.5),
    ]
    assert values(parser, "iteration=2 train:loss=0.25 loss=0.125")[0] == ("loss", 2, 0.125)


def test_a_worst_value_keeps_what_was_printed_and_the_mark_is_no_metric() -> None:
    line = format_line(2, {"validation:auc": math.nan})
    assert values(MetricParser([]), line) == [("validation:auc", 2, -LARGEST)]


def test_lines_of_a_plain_script_are_counted_per_name_and_host() -> None:
    parser = MetricParser([("acc", f"accuracy={NUMBER}"), ("loss", f"loss={NUMBER}")])
    assert values(parser, "epoch 0: accuracy=0.5", "epoch 1: accuracy=0.6 loss=3") == [
        ("acc", 1, 0.5),
        ("acc", 2, 0.6),
        ("loss", 1, 3.0),
    ]
    assert values(parser, "accuracy=0.7", host="algo-2") == [("acc", 1, 0.7)]
    assert parser.seen == {("acc", "algo-1"): 2, ("loss", "algo-1"): 1, ("acc", "algo-2"): 1}


def test_ordinals_go_on_after_a_restart() -> None:
    parser = MetricParser([("acc", f"accuracy={NUMBER}")], {("acc", "algo-1"): 7})
    assert values(parser, "accuracy=0.5") == [("acc", 8, 0.5)]


def test_the_first_of_several_matches_on_a_line_counts() -> None:
    parser = MetricParser([("loss", f"loss: {NUMBER}")])
    assert values(parser, "loss: 0.5 - val_loss: 0.75") == [("loss", 1, 0.5)]


def test_several_definitions_read_the_same_line() -> None:
    parser = MetricParser([("a", "GAN_loss=(.*?);"), ("b", "Scaled_batch=(.*?),")])
    line = "2026 INFO GAN_loss=0.138318;  Scaled_batch=7e-05, disc=1"
    assert values(parser, line) == [("a", 1, 0.138318), ("b", 1, 7e-05)]


def test_two_patterns_for_one_name_give_one_point_a_line() -> None:
    parser = MetricParser([("m", f"a={NUMBER}"), ("m", f"b={NUMBER}")])
    assert values(parser, "a=1 b=2", "b=3") == [("m", 1, 1.0), ("m", 2, 3.0)]


def test_a_tab_is_seen_as_amt_sees_it() -> None:
    parser = MetricParser([("validation:auc", r".*\[[0-9]+\].*#011validation-auc:(\S+)")])
    assert values(parser, "[0]\ttrain-auc:0.5\tvalidation-auc:0.75") == [("validation:auc", 1, 0.75)]
    assert values(MetricParser([("m", "m\t(.)")]), "m\t1") == []


def test_colours_are_taken_out_only_when_the_raw_line_does_not_match() -> None:
    assert values(MetricParser([("m", r"loss=(\S+)")]), "\x1b[1mloss\x1b[0m=\x1b[31m0.5\x1b[0m") == [
        ("m", 1, 0.5)
    ]
    assert values(MetricParser([("m", "\x1b\\[31m([0-9]+)")]), "\x1b[31m7\x1b[0m") == [("m", 1, 7.0)]


@pytest.mark.parametrize("text", ["high", "1,234.5", "1_000", "0x10", "١٢", "None", "1.2.3", "--5"])
def test_captured_text_that_is_no_number_is_dropped_with_one_warning(text: str) -> None:
    parser = MetricParser([("loss", r"loss=(\S+)")])
    assert values(parser, f"loss={text}", f"loss={text}") == []
    (warning,) = parser.warnings
    assert f"'loss' captured {text!r}, which is no number" in warning


def test_an_empty_capture_is_dropped_with_a_warning() -> None:
    parser = MetricParser([("loss", r"loss=([0-9]*)")])
    assert values(parser, "loss=nan") == []
    assert "captured an empty text" in parser.warnings[0]


def test_values_that_are_not_finite_come_through_from_scripts_that_print_them() -> None:
    parser = MetricParser([("loss", r"loss=(\S+)")])
    (_, _, nan), inf, minus = values(parser, "loss=nan", "loss=inf", "loss=-Infinity")
    assert math.isnan(nan)
    assert (inf, minus) == (("loss", 2, math.inf), ("loss", 3, -math.inf))


def test_a_second_writer_is_warned_of_once_with_metric_iteration_and_hosts() -> None:
    parser = MetricParser(shipped("validation:auc"))
    for iteration in (1, 2, 3):
        for host in ("algo-1", "algo-3"):
            parser.feed(host, 0.0, f"iteration={iteration} validation:auc=0.5")
    (warning,) = parser.warnings
    assert "'validation:auc' at iteration 1 was printed by two hosts, algo-1 and algo-3" in warning


def test_a_second_writer_of_a_plain_script_is_found_by_its_ordinals() -> None:
    parser = MetricParser([("acc", f"accuracy={NUMBER}")])
    values(parser, "accuracy=0.5", "accuracy=0.6")
    assert parser.warnings == ()
    values(parser, "accuracy=0.5", host="algo-2")
    assert "algo-1 and algo-2" in parser.warnings[0]


def test_a_second_writer_is_found_after_a_restart_too() -> None:
    parser = MetricParser(shipped("loss"), {("loss", "algo-1"): 5})
    parser.feed("algo-2", 0.0, "iteration=5 loss=0.5")
    assert "algo-1 and algo-2" in parser.warnings[0]


def test_different_metrics_may_come_from_different_hosts() -> None:
    parser = MetricParser([])
    parser.feed("algo-1", 0.0, "iteration=1 loss=0.5")
    parser.feed("algo-2", 0.0, "iteration=1 rows_per_second=12")
    parser.feed("algo-1", 0.0, "iteration=2 loss=0.5")
    assert parser.warnings == ()


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("my_iteration=3 loss=0.5", []),
        ("iteration=x loss=0.5", []),
        ("iteration=3  loss=0.5", []),
        ("iteration=3", []),
        ("iteration=3 ", []),
        ("iteration=3 loss=0.5x auc=1", []),
        ("iteration=3 loss=abc", []),
        ("iteration=3 loss=nan", []),
        ("iteration=3 nonfinite=1", []),
        ("iteration=-3 loss=0.5", []),
        ("iteration=3 auc=1 then text loss=0.5", [("auc", 3, 1.0)]),
        ("iteration=3 auc=1 auc=2", [("auc", 3, 1.0)]),
        ("iteration=3 iteration=4 loss=0.5", [("loss", 4, 0.5)]),
        ("iteration=3 lo iteration=4 loss=0.5", [("loss", 4, 0.5)]),
        ("iteration=0 loss=0.5", [("loss", 0, 0.5)]),
    ],
)
def test_what_is_and_what_is_not_a_metric_line(line: str, found: list[tuple[str, int, float]]) -> None:
    assert values(MetricParser([]), line) == found


def test_a_script_that_prints_its_iteration_the_same_way_keeps_it() -> None:
    parser = MetricParser([("loss", f"loss={NUMBER}")])
    assert values(parser, "iteration=10 loss=0.5", "iteration=20 loss=0.25") == [
        ("loss", 10, 0.5),
        ("loss", 20, 0.25),
    ]


@pytest.mark.parametrize("length", [LONGEST_SEARCH - 20, LONGEST_SEARCH, 100_000, MAX_LINE_BYTES - 20])
@pytest.mark.parametrize(
    "regex", [f" loss={NUMBER}", f".*loss={NUMBER}", rf"\S+ loss={NUMBER}", r"loss=(\S+)"]
)
def test_a_metric_behind_a_very_long_line_is_read_whole(length: int, regex: str) -> None:
    line = ("tick " * (length // 5)) + "x loss=7.25e-05"
    assert values(MetricParser([("loss", regex)]), line) == [("loss", 1, 7.25e-05)]


@given(st.integers(-30, 30), st.sampled_from([1, 2, 3]), VALUES)
def test_no_window_cuts_a_number(shift: int, windows: int, value: float) -> None:
    place = LONGEST_SEARCH + (windows - 1) * LONGEST_SEARCH // 2 + shift
    line = "." * (place - 6) + f" loss={value!r} " + "." * LONGEST_SEARCH
    assert values(MetricParser(shipped("loss")), line) == [("loss", 1, value)]


def test_a_windows_end_does_not_pass_for_the_end_of_the_line() -> None:
    line = "x=1 " * LONGEST_SEARCH + "x=2"
    assert values(MetricParser([("x", r"x=([0-9]+)$")]), line) == [("x", 1, 2.0)]
    assert values(MetricParser([("x", r"x=([0-9]+)$")]), line + ";") == []


def test_an_undefined_metric_is_read_from_a_metric_line_of_any_length() -> None:
    printed = {f"metric{number}": float(number) for number in range(5000)}
    points = MetricParser([]).feed("algo-1", 0.0, "x" * 10_000 + " " + format_line(9, printed))
    assert {point.name: point.value for point in points} == printed


def test_a_slow_pattern_ends_on_the_longest_line() -> None:
    parser = MetricParser([("m", r".*[=] (\d+)"), ("n", r"\S+[=](\d+)")])
    assert values(parser, "a" * MAX_LINE_BYTES) == []


def test_a_dirty_log_gives_what_a_clean_one_gives() -> None:
    log = (
        b"\x1b[2K\r 10%|#     |\r100%|######|\r"
        b"epoch 1: validation accuracy=0.5\r\n"
        b"\xff\xfe broken \xc3\n"
        b"WARNING:root:epoch 2: \x1b[1mvalidation accuracy\x1b[0m=\x1b[32m6e-1\x1b[0m\n"
        + b"x"
        * 300_000
        + b" epoch 3: validation accuracy=0.7\n"
        b"[1,mpirank:0,algo-1]<stderr>:epoch 4: validation accuracy=.8\r"
        b"epoch 5: validation accuracy=0.9"
    )
    parser = MetricParser([("validation:accuracy", f"validation accuracy={NUMBER}")])
    for size in (1, 7, 4096, len(log)):
        splitter = LineSplitter()
        lines = [line for at in range(0, len(log), size) for line in splitter.feed(log[at : at + size])]
        found = values(MetricParser([("a", f"validation accuracy={NUMBER}")]), *lines, *splitter.flush())
        assert found == [("a", number, value) for number, value in enumerate([0.5, 0.6, 0.7, 0.8, 0.9], 1)]
    assert parser.warnings == ()


def test_all_bad_definitions_are_told_at_once() -> None:
    with pytest.raises(InputError) as caught:
        MetricParser([("a", "(("), ("b", "no group"), ("c", "(.)")])
    assert "'a'" in str(caught.value)
    assert "'b', 'no group', has no group" in str(caught.value)
    assert "'c'" not in str(caught.value)


@given(st.text(max_size=300))
def test_no_line_crashes_the_parser(line: str) -> None:
    parser = MetricParser([("m", r"(\S+)"), *shipped("loss", "train:loss")])
    for point in parser.feed("algo-1", 0.0, line):
        assert isinstance(point.value, float)
