"""The files that a job reads are there, and it does not write among them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bandstand.errors import Problem
from bandstand.request import Plan

Change = Callable[..., dict[str, Any]]
Problems = Callable[..., list[Problem]]

URI = "InputDataConfig.0.DataSource.S3DataSource.S3Uri"


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("data/tarin", "Did you mean {folder}/data/train?"),
        ("data/zzzzzz", "which does not exist"),
        ("nowhere/train", "Mend the path."),
        ("data/train/*.csv", "patterns are not expanded"),
        ("empty", "which has no files"),
        ("x" * 300, "File name too long"),
        ("a%00b", "a folder or file of this machine"),
    ],
)
def test_a_channel_that_cannot_be_read_is_told(
    training: dict[str, Any], change: Change, problems: Problems, folder: Path, path: str, words: str
) -> None:
    (folder / "empty" / "inner").mkdir(parents=True)
    found = problems(change(training, {URI: f"file://{folder}/{path}"}))
    assert [problem.number for problem in found] == [423]
    assert words.format(folder=folder) in str(found[0])


def test_a_channel_may_be_a_file_or_have_its_files_deep_below(
    training: dict[str, Any], change: Change, plan_of: Callable[..., Plan], folder: Path
) -> None:
    for path in ("data/train/part-0.csv", "data"):
        assert plan_of(change(training, {URI: f"file://{folder}/{path}"})).channels[0].path == folder / path


@pytest.mark.parametrize(
    ("changes", "where"),
    [
        ({"OutputDataConfig.S3OutputPath": "data/train"}, "OutputDataConfig.S3OutputPath"),
        ({"OutputDataConfig.S3OutputPath": "data/train/out"}, "OutputDataConfig.S3OutputPath"),
        ({"CheckpointConfig": {"S3Uri": "data/x/../train"}}, "CheckpointConfig.S3Uri"),
    ],
)
def test_a_job_does_not_write_into_its_channels(
    training: dict[str, Any],
    change: Change,
    problems: Problems,
    folder: Path,
    changes: dict[str, Any],
    where: str,
) -> None:
    (folder / "data" / "x").mkdir()
    told = {
        key: {"S3Uri": f"file://{folder}/{value['S3Uri']}"}
        if isinstance(value, dict)
        else f"file://{folder}/{value}"
        for key, value in changes.items()
    }
    found = problems(change(training, told))
    assert [(problem.number, problem.where) for problem in found] == [(425, where)]
