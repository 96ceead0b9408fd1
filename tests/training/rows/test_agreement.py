"""What ranks find out together about a channel, and what the log says of its labels."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from bandstand.sagemaker_files import Channel, Distribution
from bandstand.training.rows import list_files, read_rows, split
from bandstand.training.rows.agreement import Facts, find_problems
from bandstand.training.rows.labels import describe_labels, summarize_labels


def facts(
    folder: Path,
    files: Mapping[str, bytes],
    kind: Distribution = "ShardedByS3Key",
    part: int = 0,
    parts: int = 1,
) -> Facts:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    channel = Channel("train", folder, "csv", kind)
    found = list_files(channel)
    return Facts.of(channel, found, read_rows(split(found.data, part, parts)))


def test_facts_survive_their_way_over_the_network(tmp_path: Path) -> None:
    for files in ({"a.csv": b"1,2\n0,x\n"}, {"a.csv": b"1,2\n0,3\n"}, {"_SUCCESS": b""}):
        found = facts(tmp_path / str(len(files)), files)
        assert Facts.from_json(json.loads(json.dumps(found.as_json()))) == found


def test_a_fault_that_several_ranks_find_is_told_once(tmp_path: Path) -> None:
    ranks = [facts(tmp_path, {"a.csv": b"1,2\n0,x\n"})] * 5
    for count, where in ((1, "a"), (3, "a, b, c"), (5, "a and 4 others")):
        problems, more = find_problems(list("abcde")[:count], {"train": ranks[:count]}, ["train"])
        assert (len(problems), more) == (1, 0)
        assert problems[0].startswith(f"{where}: {tmp_path}/a.csv, line 2: ")


def test_files_of_different_width_on_different_hosts_are_told_with_both_places(tmp_path: Path) -> None:
    ranks = [facts(tmp_path / "1", {"a.csv": b"1,2\n"}), facts(tmp_path / "2", {"b.csv": b"\n1,2,3\n"})]
    problems, more = find_problems(["algo-1", "algo-2"], {"train": ranks}, ["train"])
    assert more == 0
    assert len(problems) == 1
    assert problems[0].startswith(f"algo-2: {tmp_path}/2/b.csv, line 2: its rows have 3 columns, but those ")
    assert f"{tmp_path}/1/a.csv, line 1 (algo-1) have 2." in problems[0]


def test_validation_needs_the_columns_of_training(tmp_path: Path) -> None:
    ranks = {
        "train": [facts(tmp_path / "t", {"a.csv": b"1,2\n"})],
        "validation": [facts(tmp_path / "v", {"v.csv": b"1,2,3\n"})],
    }
    problems, _ = find_problems(["algo-1"], ranks, ["train"])
    assert "v.csv, line 1: its rows have 3 columns, but those of" in problems[0]


def test_equal_replicas_are_fine_and_different_ones_are_told(tmp_path: Path) -> None:
    same = {"a.csv": b"1,2\n0,3\n"}
    ranks = [facts(tmp_path / str(n), same, "FullyReplicated", n, 2) for n in range(2)]
    assert find_problems(["algo-1", "algo-2"], {"train": ranks}, ["train"]) == ([], 0)
    ranks[1] = facts(tmp_path / "other", {"b.csv": b"1,2\n0,3\n"}, "FullyReplicated")
    assert "rows would be lost or used twice" in find_problems(["a", "b"], {"train": ranks}, ["train"])[0][0]


def described(*ranks: list[float]) -> str:
    arrays = [np.array(labels, np.float32) for labels in ranks]
    return describe_labels(
        [summarize_labels(labels) for labels in arrays], [len(labels) for labels in arrays]
    )


def test_labels_are_described_over_all_ranks() -> None:
    assert described([0, 1, 0], [0], []) == "label 1 in 25.00 % of the rows"
    assert described([1, 1]) == "label 1 in 100.00 % of the rows"
    assert described([0, 1], [2, 2]) == "labels 0 (25.00 %), 1 (25.00 %), 2 (50.00 %)"
    assert described([n / 7 for n in range(100)], [20.0]) == "labels from 0 to 20, mean 7.19943"
