"""The quick way to read numbers gives what the slow way gives, to the bit, or nothing."""

from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bandstand.training.rows.decimals import read_decimals

PLAIN = st.one_of(
    st.integers(-(10**9), 10**9).map(str),
    st.decimals(-(10**6), 10**6, allow_nan=False, allow_infinity=False, places=6).map(lambda d: f"{d:f}"),
    st.floats(-1e9, 1e9, allow_nan=False).map(repr),
    st.sampled_from(["0", "1", "-0", "5.", ".5", "-.5", "007", "0.1", "123456789012345", "9007199254740993"]),
)
ODD = st.one_of(PLAIN, st.text("0123456789.-+eEnax \t", max_size=6))


def tables(fields: st.SearchStrategy[str]) -> st.SearchStrategy[list[list[str]]]:
    return st.integers(1, 5).flatmap(
        lambda width: st.lists(st.lists(fields, min_size=width, max_size=width), min_size=1, max_size=6)
    )


def slowly(text: str) -> np.ndarray:
    return np.loadtxt(io.StringIO(text), np.float32, delimiter=",", comments=None, ndmin=2)


@given(tables(PLAIN))
def test_plain_decimals_are_read_to_the_bit(table: list[list[str]]) -> None:
    text = "".join(",".join(row) + "\n" for row in table)
    found = read_decimals(text.encode())
    if found is not None:
        assert found.tobytes() == slowly(text).tobytes()
    else:
        assert any(
            len(field) > 17 or "e" in field or len(field.strip("-.")) > 15 for row in table for field in row
        )


@given(tables(ODD))
def test_whatever_is_read_is_read_as_the_slow_way_does(table: list[list[str]]) -> None:
    text = "".join(",".join(row) + "\n" for row in table)
    found = read_decimals(text.encode())
    if found is not None:
        filled = "".join(",".join(field or "nan" for field in row) + "\n" for row in table)
        np.testing.assert_array_equal(found, slowly(filled))


@pytest.mark.parametrize(
    "text",
    ["1,-", "1,.", "1,-.", "1,1.2.3", "1,1-2", "1,+2", "1,1e5", "1,nan", "1, 2", "1,2\r", "x,1", "-,1"],
)
def test_anything_else_is_left_to_the_slow_way(text: str) -> None:
    assert read_decimals(f"{text}\n".encode()) is None


@pytest.mark.parametrize("text", [b"", b"1,2", b"1,2\n3\n", b"1,2\n\n3,4\n", b"1,123456789012345678\n"])
def test_unfinished_or_uneven_lines_and_long_numbers_are_left_to_the_slow_way(text: bytes) -> None:
    assert read_decimals(text) is None


def test_empty_fields_are_missing_values() -> None:
    found = read_decimals(b",1,\n2,,3\n")
    assert found is not None
    np.testing.assert_array_equal(found, np.array([[np.nan, 1, np.nan], [2, np.nan, 3]], np.float32))
