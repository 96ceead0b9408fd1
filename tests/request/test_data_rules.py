"""The files that a job reads are there, and it does not write among them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bandstand.problem import Problem
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


@pytest.mark.parametrize("member", ["OutputDataConfig.S3OutputPath", "CheckpointConfig"])
@pytest.mark.parametrize("path", ["src/train.py", "src/train.py/deep/below"])
def test_a_job_writes_into_folders_not_over_files(
    training: dict[str, Any], change: Change, problems: Problems, folder: Path, member: str, path: str
) -> None:
    uri = f"file://{folder}/{path}"
    found = problems(change(training, {member: {"S3Uri": uri} if member == "CheckpointConfig" else uri}))
    assert [problem.number for problem in found] == [426]
    assert f"{folder}/src/train.py, which is no folder" in str(found[0])


def test_a_folder_to_write_into_may_be_missing_with_all_above_it(
    training: dict[str, Any], change: Change, plan_of: Callable[..., Plan], folder: Path
) -> None:
    plan_of(change(training, {"OutputDataConfig.S3OutputPath": f"file://{folder}/not/there/yet"}))
    assert not (folder / "not").exists()
