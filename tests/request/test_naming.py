"""Names of jobs: legal, short, and different where the jobs are."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bandstand.request.naming import TRAINING_NAME, TUNING_NAME, legal_name


@pytest.mark.parametrize("name", ["a", "direct-marketing", "Tune-1", "a--b", "7", "a" * 32])
def test_a_legal_name_stays_as_it_is(name: str) -> None:
    assert legal_name(name, TUNING_NAME) == name


@pytest.mark.parametrize(
    ("name", "legal"),
    [("my_job", "my-job"), ("-a-", "a"), ("a b.c", "a-b-c"), ("größe", "gr-e"), ("a\n", "a")],
)
def test_other_characters_become_hyphens(name: str, legal: str) -> None:
    assert legal_name(name, TUNING_NAME) == legal


def test_a_long_name_keeps_its_beginning_and_its_time() -> None:
    name = "direct-marketing-with-all-the-features-20240131-235959"
    short = legal_name(name, TUNING_NAME)
    assert re.fullmatch(r"direct-ma-[0-9a-f]{6}-20240131-235959", short)
    assert len(short) == TUNING_NAME


def test_long_names_that_differ_in_the_middle_stay_different() -> None:
    names = {legal_name(f"{'a' * 30}{k}{'b' * 30}-20240131", TUNING_NAME) for k in range(100)}
    assert len(names) == 100


@given(name=st.text(), limit=st.sampled_from([TUNING_NAME, TRAINING_NAME]))
def test_every_name_becomes_a_legal_one(name: str, limit: int) -> None:
    legal = legal_name(name, limit)
    assert re.fullmatch(r"[a-zA-Z0-9](-*[a-zA-Z0-9])*", legal)
    assert len(legal) <= limit
    assert legal_name(legal, limit) == legal
