"""The service model's patterns, which are Java's, as Python's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from bandstand.request.service_model import TRAINING, TUNING, compiled, request_shape


def _patterns(shape: Any) -> Iterator[str]:
    if shape.type_name == "structure":
        for member in shape.members.values():
            yield from _patterns(member)
    elif shape.type_name == "list":
        yield from _patterns(shape.member)
    elif shape.type_name == "map":
        yield from _patterns(shape.key)
        yield from _patterns(shape.value)
    elif "pattern" in shape.metadata:
        yield shape.metadata["pattern"]


@pytest.mark.parametrize("operation", [TUNING, TRAINING])
def test_every_pattern_of_a_request_compiles(operation: str) -> None:
    found = set(_patterns(request_shape(operation)))
    assert len(found) > 10
    for pattern in found:
        compiled(pattern)


@pytest.mark.parametrize("end", ["\n", "\r", "\x85", "\u2028", "\u2029"])
def test_a_dot_stops_at_every_line_end_of_java(end: str) -> None:
    assert compiled(".*").fullmatch("one line") is not None
    assert compiled(".*").fullmatch(f"two{end}lines") is None
    assert compiled(r"[\S\s]*").fullmatch(f"two{end}lines") is not None


def test_digits_and_words_are_ascii() -> None:
    assert compiled(r"\d{2}").fullmatch("12") is not None
    assert compiled(r"\d{2}").fullmatch("١٢") is None
    assert compiled(r"\w+").fullmatch("größe") is None


def test_a_dot_in_a_class_is_a_dot() -> None:
    assert compiled(r"[A-Za-z0-9\.\-_.]+").fullmatch("a.b") is not None
    assert compiled(r"[.]").fullmatch("a") is None


def test_classes_of_letters_are_known() -> None:
    tag = r"([\p{L}\p{Z}\p{N}_.:/=+\-@]*)"
    assert compiled(tag).fullmatch("Größe 1") is not None
    assert compiled(tag).fullmatch("a#b") is None
    assert compiled(r"arn:[\p{Alnum}\-]+").fullmatch("arn:aws-x1") is not None
    assert compiled(r"\p{Alnum}").fullmatch("é") is None
