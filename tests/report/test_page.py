from __future__ import annotations

import pytest

from bandstand.report import Page, plain
from bandstand.report.page import bar, sparkline
from bandstand.report.quantities import count, duration, metric, moment, share


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, "-"),
        (0, "0 s"),
        (0.2, "under 1 s"),
        (59.9, "59 s"),
        (60, "1 min"),
        (125, "2 min 5 s"),
        (3600, "1 h"),
        (12000, "3 h 20 min"),
        (187200, "2 d 4 h"),
    ],
)
def test_a_duration_is_written_in_the_two_units_that_matter(seconds: float | None, text: str) -> None:
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(7e-05, "7e-05"), (0.123456789, "0.123457"), (None, "-"), (float("nan"), "-"), (-3.0, "-3")],
)
def test_a_metric_keeps_its_exponent_and_what_is_not_finite_is_a_dash(value: float | None, text: str) -> None:
    assert metric(value) == text


def test_counts_shares_and_moments_are_written_for_people() -> None:
    assert (count(1, "job"), count(1200, "job"), count(0, "job")) == ("1 job", "1,200 jobs", "0 jobs")
    assert (share(1, 0), share(1, 1000), share(1, 4)) == ("", "under 1 %", "25 %")
    assert moment("2026-11-30T14:03:22.123Z") == "2026-11-30 14:03:22 UTC"
    assert moment(None) == ""


def test_a_curve_goes_from_the_lowest_to_the_highest_block() -> None:
    assert sparkline([0.0, 0.5, 1.0], Page()) == "▁▅█"
    assert sparkline([0.0, 0.5, 1.0], Page(unicode=False)) == "_=#"
    assert sparkline([], Page()) == ""


def test_a_flat_curve_and_one_of_the_greatest_finite_numbers_are_drawn() -> None:
    assert len(set(sparkline([3.0] * 5, Page()))) == 1
    assert sparkline([-1.7e308, 1.7e308], Page()) == "▁█"


def test_a_long_curve_is_drawn_in_few_characters_and_ends_with_its_last_value() -> None:
    curve = sparkline([0.0] * 999 + [1.0], Page(), width=20)
    assert len(curve) == 20
    assert curve[-1] == "█"


def test_what_a_job_printed_can_move_no_cursor() -> None:
    dirty = "\x1b[31mred\x1b[0m\rback\x1b[2Kgone\x1b]0;title\x07 tab\tend\x07\x9b"
    assert plain(dirty) == "redbackgone tab end"
    assert plain("Grüße 東京") == "Grüße 東京"


def test_colours_are_given_only_on_a_page_that_has_them() -> None:
    assert Page().status("Failed") == "Failed"
    assert Page(colour=True).status("Failed  ") == "\x1b[31mFailed  \x1b[0m"


def test_cut_text_fits_and_shows_that_it_was_cut() -> None:
    assert Page().cut("abcdef", 4) == "abc…"
    assert Page(unicode=False).cut("abcdef", 4) == "a..."
    assert Page(unicode=False).cut("abcdef", 2) == ".."
    assert Page().cut("abc", 3) == "abc"


def test_a_bar_is_as_full_as_the_work_is_done() -> None:
    assert bar(1, 4, Page(), 8) == "██░░░░░░"
    assert bar(1, 4, Page(unicode=False), 8) == "##......"
    assert bar(9, 4, Page(), 8) == "█" * 8
    assert bar(0, 0, Page(), 8) == "░" * 8
