import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bandstand.metric_line import NUMBER, metric_definitions, name_problem
from bandstand.metric_patterns import pattern_problems, pattern_warnings
from bandstand.metric_samples import fitting_sample, required_text

NAMES = st.text(st.characters(codec="utf-8"), min_size=1, max_size=30).filter(lambda n: not name_problem(n))

GOOD = [
    f"loss=({NUMBER})",
    r"loss=([-+]?[0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?)",
    r"GAN_loss=(.*?);",
    r"Validation-accuracy=(.*?)\s",
    r".*\[[0-9]+\].*#011validation-auc:(\S+)",
    r"epoch [0-9]+: validation accuracy=([-+.0-9eE]+)",
    r"(?<=loss=)([-+0-9.eE]+)(?=;)",
    r"[Ll]oss[:=] ?(?P<value>[\d.eE+-]+)",
    r'"loss": ([^,}]+)',
    r"(?i)validation LOSS (\S+)",
    r"loss=(?:nan|([0-9.eE+-]+))",
    r"(?>loss)=(?>([-+0-9.eE]++))",
    r"(?:train|test) loss: (\S+)",
    r"\bloss\b *= *(\S+)",
    r"[^a-z]loss=(\S+)",
    r"loss=([-+0-9.eE]+) again \1",
    r"loss=([-+0-9.eE]+)(?(1);|,)",
    r"[^\S]loss[^\W]*(?=:):(\S+)",
]


@pytest.mark.parametrize("regex", GOOD)
def test_patterns_that_read_every_number_have_no_problem(regex: str) -> None:
    assert pattern_problems("m", regex) == []


@given(st.lists(NAMES, min_size=1, max_size=4, unique=True))
def test_shipped_patterns_have_neither_problems_nor_warnings(names: list[str]) -> None:
    definitions = [(entry["Name"], entry["Regex"]) for entry in metric_definitions(names)]
    for name, regex in definitions:
        assert pattern_problems(name, regex) == []
        assert pattern_warnings(name, regex, definitions) == []


@pytest.mark.parametrize(
    ("regex", "read"),
    [
        (r"loss=([0-9.]+)", "7e-05 as 7"),
        (r"loss=([0-9\.]*)", "7e-05 as 7"),
        (r"loss.*?([0-9.]+(?:e-?\d+)?)", "-0.5 as 0.5"),
        (r"loss=(-?[0-9.]+(?:e[-+]?[0-9]+)?)", "1E+10 as 1"),
        (r"loss=[^0-9]*([0-9][-+.0-9eE]*)", ".5 as 5"),
        (r"accuracy: (\d)", "12 as 1"),
        (r"loss\W+([-+.\deE]+)", "-0.5 as 0.5"),
        (r"loss=(.+?)", "0.8132 as 0"),
    ],
)
def test_a_pattern_that_cuts_numbers_is_found_out(regex: str, read: str) -> None:
    (problem,) = pattern_problems("validation:loss", regex)
    assert "'validation:loss' cuts numbers" in problem
    assert read in problem
    assert NUMBER in problem


@pytest.mark.parametrize(
    "regex", [r"loss=([0-9.]+)", r"loss=(-?[0-9.]+(?:e[-+]?[0-9]+)?)", r"loss=([0-9]+(.|e\-)[0-9]+),?"]
)
def test_what_sagemaker_takes_and_ordinary_numbers_bear_may_pass_with_a_warning(regex: str) -> None:
    problems = pattern_problems("m", regex)
    assert problems
    assert pattern_problems("m", regex, lenient=True) == []
    assert set(problems) <= set(pattern_warnings("m", regex, lenient=True))
    assert not set(problems) & set(pattern_warnings("m", regex))


@pytest.mark.parametrize("regex", [r"accuracy: (\d)", r"loss=(.+?)", r"loss=[0-9.]+"])
def test_a_pattern_that_cuts_ordinary_numbers_never_passes(regex: str) -> None:
    assert pattern_problems("m", regex, lenient=True)


@pytest.mark.parametrize("regex", [r"loss=(.*?)", r"loss=(\s*)", r"loss=([0-9]*?)", r"()loss"])
def test_a_pattern_that_captures_nothing_is_found_out(regex: str) -> None:
    (problem,) = pattern_problems("m", regex)
    assert "captures the empty text" in problem


def test_a_pattern_that_captures_words_is_found_out() -> None:
    (problem,) = pattern_problems("m", r"(loss=\d+)")
    assert "no number, such as 'loss=0" in problem


@pytest.mark.parametrize(
    ("regex", "told"),
    [
        (r"loss=[0-9]+", "has 0 groups"),
        (r"(epoch) loss=(\S+)", "has 2 groups"),
        (r"loss=((", "is not a regular expression"),
        (r"loss=(?P<1>x)", "is not a regular expression"),
        (r"[9-0](x)", "is not a regular expression"),
        ("x" * 498 + r"(.)", "has 501 characters; 500 are allowed"),
        ("loss\t(\\S+)", "#011"),
        (r"loss\t(\S+)", "#011"),
        (r"loss\n(\S+)", "line break"),
    ],
)
def test_unusable_patterns_are_refused_with_the_reason(regex: str, told: str) -> None:
    assert any(told in problem for problem in pattern_problems("m", regex))


def test_all_problems_of_a_pattern_are_told_at_once() -> None:
    first, second = pattern_problems("m", r"(l)oss=([0-9.]+)")
    assert "2 groups" in first
    assert "no number" in second


def test_white_space_classes_do_not_count_as_tabs_or_line_breaks() -> None:
    assert pattern_problems("m", r"loss\s+(\S+)") == []
    assert pattern_problems("m", r"loss[\t ](\S+)") == []


@pytest.mark.parametrize(
    "regex",
    [
        r"(?:a+)+=(\S+)",
        r"(?:\w+\s?)+: (\S+)",
        r"(?:a|a)*=(\S+)",
        r"(?:x|xy|y)*=(\S+)",
        r"(?:[a-z]+)*(\d)",
        r".*.*.*=(\S+)",
        r"(?:\d+\.?)*x(\S+)",
    ],
)
def test_patterns_that_would_stall_on_a_long_line_are_refused(regex: str) -> None:
    (problem,) = pattern_problems("m", regex)
    assert "take for ever on a long line" in problem


@pytest.mark.parametrize(
    "regex",
    [r"(?:(?:a{1000}){1000}){1000}(\d)", "(?:" * 100 + r"(\d)" + ")" * 100, r"(\d)(?<!\d)x", r"(?!)(\d)"],
)
def test_odd_patterns_are_told_about_in_some_way_but_never_crash(regex: str) -> None:
    assert isinstance(pattern_problems("m", regex) + pattern_warnings("m", regex), list)


@given(st.text(alphabet="ab01()[]{}?*+|^$.\\dsSwbn:<=!,-P#\t", max_size=25))
def test_no_text_given_as_a_pattern_crashes(regex: str) -> None:
    problems = pattern_problems("m", regex)
    if not problems:
        assert re.compile(regex).groups == 1
    pattern_warnings("m", regex, [("n", regex)])


def test_a_pattern_that_drops_numbers_is_warned_of() -> None:
    assert pattern_problems("m", r"loss=([0-9.]+);") == []
    (warning,) = pattern_warnings("m", r"loss=([0-9.]+);")
    assert "reads nothing from 7e-05, -0.5, 1E+10" in warning


def test_a_pattern_that_takes_the_rest_of_the_line_is_warned_of() -> None:
    (warning,) = pattern_warnings("m", r"loss=(.*)")
    assert "takes all that follows" in warning
    assert pattern_warnings("m", r"loss=(\S+)") == []


def test_an_anchored_pattern_is_warned_of() -> None:
    (warning,) = pattern_warnings("m", r"^loss=(\S+)")
    assert "do not anchor it" in warning


def test_a_pattern_that_reads_another_metrics_number_is_warned_of() -> None:
    others = [("loss", r"loss: (\S+)"), ("val_loss", r"val_loss: (\S+)")]
    (warning,) = pattern_warnings("loss", r"loss: (\S+)", others)
    assert "also reads the number of 'val_loss'" in warning
    assert pattern_warnings("val_loss", r"val_loss: (\S+)", others) == []
    assert pattern_warnings("loss", r" loss: (\S+)", others) == []


def test_a_pattern_for_which_no_line_can_be_made_up_is_told_as_not_tried() -> None:
    (warning,) = pattern_warnings("m", r"(?!)(\d)")
    assert "not tried" in warning


@pytest.mark.parametrize("regex", GOOD)
def test_a_made_up_line_is_matched_and_gives_its_number_back(regex: str) -> None:
    pattern = re.compile(regex)
    sample = fitting_sample(pattern)
    assert sample is not None
    match = pattern.search(sample.line("0.5"))
    assert match is not None
    assert match[1] == "0.5"


@pytest.mark.parametrize(
    ("regex", "text"),
    [
        (r".*\[[0-9]+\].*#011validation-auc:(\S+)", "#011validation-auc:"),
        (r"loss=(\S+)", "loss="),
        (r"^loss$(x)", "loss"),
        (r"(?:loss)?=(\S+)", "="),
        (r"loss|lost(\S+)", "los"),
        (r"(?i)loss=(\S+)", ""),
        (r"(?i:loss)=(\S+)", "="),
        (r"a(?!b)cd(\S)", "cd"),
        (r"(\d+)", ""),
    ],
)
def test_the_text_that_every_match_holds_is_known(regex: str, text: str) -> None:
    assert required_text(re.compile(regex)) == text
