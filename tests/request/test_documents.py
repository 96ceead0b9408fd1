"""Documents as JSON: what cannot be read, and which request a document is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bandstand.problem import Problem
from bandstand.request.documents import operation_of
from bandstand.request.service_model import TRAINING, TUNING

Write = Callable[..., Path]
Problems = Callable[..., list[Problem]]


@pytest.mark.parametrize(
    ("text", "where", "words"),
    [
        ('{"TrainingJobName": "a",\n}', "line", "Take the last comma out."),
        ('{"Tags": [1,\n]}', "column", "Take the last comma out."),
        ('{"TrainingJobName": "a"', "line 1, column 24", "an end of the file in the middle"),
        ("{'TrainingJobName': 'a'}", "line 1, column 2", "Mend the syntax at that place."),
        ('{"TrainingJobName": "a"} x', "line 1, column 26", "Extra data"),
        ('{"a": {"b": 1, "b": 2}}', "request.json", '"b" more than once'),
        ('{"a": NaN}', "request.json", "NaN"),
        ('{"a": -Infinity}', "request.json", "-Infinity"),
        ("[1]", "request.json", "an object"),
        ("name = 3", "line 1, column 1", "give the file the suffix .toml"),
        ("", "line 1, column 1", "an end of the file in the middle"),
        ("[" * 100_000, "request.json", "too deep to read"),
        ('{"TrainingJobName": 1' + "0" * 5000 + "}", "request.json", "a whole number of thousands of digits"),
    ],
)
def test_what_is_no_json_is_told_with_its_place(
    write_json: Write, problems: Problems, text: str, where: str, words: str
) -> None:
    found = problems(write_json(text))
    assert [problem.number for problem in found] == [104 if words == "an object" else 103]
    assert where in found[0].where
    assert words in str(found[0])


def test_json_that_is_no_request_is_told_so(write_json: Write, problems: Problems) -> None:
    found = problems(write_json({"name": "a", "tuning": {}}))
    assert (found[0].number, found[0].found) == (104, "name, tuning")
    assert "A job file is TOML" in found[0].fix
    assert problems(write_json({}))[0].found == "no members"


@pytest.mark.parametrize(
    ("document", "operation"),
    [
        ({"HyperParameterTuningJobName": "a"}, TUNING),
        ({"TrainingJobName": "a"}, TRAINING),
        ({"TrainingJobName": "a", "HyperParameterTuningJobName": "b"}, TUNING),
        ({"TrainingJobDefinition": {}}, TUNING),
        ({"HyperParameterTuningJobConfig": {}}, TUNING),
        ({"AlgorithmSpecification": {}}, TRAINING),
        ({"name": "a"}, None),
    ],
)
def test_a_document_is_known_by_its_members(document: dict[str, Any], operation: str | None) -> None:
    assert operation_of(document) == operation


def test_a_request_without_its_name_is_asked_for_it(
    tuning: dict[str, Any], write_json: Write, problems: Problems
) -> None:
    del tuning["HyperParameterTuningJobName"]
    found = problems(write_json(tuning))
    assert [(problem.number, problem.where) for problem in found] == [(202, "HyperParameterTuningJobName")]
