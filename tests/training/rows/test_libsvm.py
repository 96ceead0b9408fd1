"""Rows of libsvm files: sparse, each once, in whole query groups, with one index base for all shards."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bandstand.sagemaker_files import Channel
from bandstand.training.rows import Columns, DataFile, Reading, Rows, list_files, read_share
from bandstand.training.rows.agreement import Facts, Indices, settle_indices
from bandstand.training.rows.libsvm_reading import settle_features

NAN = float("nan")


def read(folder: Path, *contents: bytes, parts: int = 1, **more: object) -> list[Reading]:
    """The readings of all workers."""
    files = []
    for number, content in enumerate(contents):
        path = folder / f"{number}.libsvm"
        path.write_bytes(content)
        files.append(DataFile(path.name, path, len(content)))
    block = int(more.pop("block", 1 << 20))  # type: ignore[call-overload]
    columns = Columns(**more)  # type: ignore[arg-type]
    return [read_share(files, part, parts, "libsvm", columns, block) for part in range(parts)]


def dense(rows: Rows, width: int) -> list[list[float]]:
    """Rows as lists, with nan for what is not stored."""
    if not len(rows):
        return []
    sparse = rows.features
    table = np.full((len(rows), width), np.nan)
    for row in range(len(rows)):
        stored = slice(sparse.indptr[row], sparse.indptr[row + 1])
        table[row, sparse.indices[stored]] = sparse.data[stored]
    found: list[list[float]] = table.tolist()
    return found


@st.composite
def libsvm_files(draw: st.DrawFn) -> tuple[list[bytes], list[tuple[float, float, int, dict[int, float]]]]:
    """Files as bytes, and the rows they hold: label, weight, number of the query group, features."""
    grouped, weighted = draw(st.booleans()), draw(st.booleans())
    files, rows, group = [], [], -1
    for _ in range(draw(st.integers(1, 4))):
        text = draw(st.sampled_from([b"", b"\xef\xbb\xbf", b"# a comment\n", b"\n"]))
        query = 0
        for place in range(draw(st.integers(0, 8))):
            if not place or draw(st.booleans()):
                query += 1
                group += 1
            features = draw(st.dictionaries(st.integers(0, 30), st.integers(-99, 99).map(lambda n: n / 8)))
            label, weight = draw(st.integers(-5, 5)), 1 + query % 3 if weighted else 1
            rows.append((label, weight, group, features))
            fields = [f"{label}:{weight}" if weighted else str(label)]
            fields += [f"qid:{query}"] if grouped else []
            fields += [f"{index}:{value}" for index, value in features.items()]
            blank = draw(st.sampled_from([" ", "\t", "  "]))
            end = draw(st.sampled_from(["\n", "\r\n", " \n", "\n\n", " # 1:2 qid:3\n"]))
            text += (blank.join(fields) + end).encode()
        files.append(text.rstrip(b"\r\n") if draw(st.booleans()) else text)
    return files, rows if grouped else [(label, weight, -1, found) for label, weight, _, found in rows]


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(made=libsvm_files(), parts=st.integers(1, 6), block=st.integers(1, 80))
def test_the_workers_shares_are_all_rows_once_in_order_and_in_whole_groups(
    tmp_path: Path,
    made: tuple[list[bytes], list[tuple[float, float, int, dict[int, float]]]],
    parts: int,
    block: int,
) -> None:
    contents, rows = made
    readings = read(tmp_path, *contents, parts=parts, block=block)
    assert [fault for reading in readings for fault in reading.faults] == []
    assert [label for reading in readings for label in reading.rows.labels] == [row[0] for row in rows]
    found = [line for reading in readings for line in dense(reading.rows, 31)]
    expected = [[row[3].get(index, NAN) for index in range(31)] for row in rows]
    np.testing.assert_array_equal(np.array(found), np.array(expected))
    weights = [
        weight
        for reading in readings
        for weight in (np.ones(len(reading.rows)) if reading.rows.weights is None else reading.rows.weights)
    ]
    assert weights == [row[1] for row in rows]
    if rows and rows[0][2] >= 0:
        sizes = [
            int(size)
            for reading in readings
            if reading.rows.groups is not None
            for size in reading.rows.groups
        ]
        groups = [row[2] for row in rows]
        assert sizes == [groups.count(group) for group in dict.fromkeys(groups)]


@pytest.mark.parametrize(
    ("content", "line", "words"),
    [
        (b"1 1:2\nyes 1:2\n", 2, "the label is 'yes'; expected a finite number"),
        (b"1 1:2\nnan 1:2\n", 2, "the label is 'nan'"),
        (b"1:2 1:2\n1:-2 1:2\n", 2, "the weight is '-2'; expected a finite number from 0 on"),
        (b"# x\n1 1:2\n\n1 3 4:1\n", 4, "'3' is no feature; expected index:value"),
        (b"1 1:2\n1 a:2\n", 2, "the index 'a' is no whole number from 0"),
        (b"1 1:2\n1 -3:2\n", 2, "the index '-3' is no whole number"),
        (b"1 1:2\n1 2.5:2\n", 2, "the index '2.5' is no whole number"),
        (b"1 1:2\n1 3000000000:2\n", 2, "from 0 to 2147483647"),
        (b"1 1:2\n1 3:1 2:1 3:4\n", 2, "it has the index 3 twice"),
        (b"1 1:2\n1 3:x\n", 2, "the value of feature 3 is 'x', which is no number"),
        (b"1 1:2\n1 3:1.5.5 4:\n", 2, "the value of feature 3 is '1.5.5'"),
        (b"1 1:2\n1 3:1-5\n1 2:\n", 2, "the value of feature 3 is '1-5'"),
        (b"1 1:2\n1 3:nan(1)\n", 2, "the value of feature 3 is 'nan(1)'"),
        (b"1 1:2\n1 3:0x5\n", 2, "the value of feature 3 is '0x5'"),
        (b"1 1:2\n1 3:\n", 2, "the value of feature 3 is ''"),
        (b"1 1:2\n1 3:1:2\n", 2, "the value of feature 3 is '1:2'"),
        (b"1 1:2\n1 3:1e39\n", 2, "infinite or beyond single precision"),
        (b"1 qid:1 1:2\n1 1:2\n0 qid:1 1:1\n", 2, "it has no qid, but other rows have one"),
        (b"1 1:2\n1 qid:1 1:2\n0 1:1\n", 2, "it has a qid, but other rows have none"),
        (b"1 qid:1 1:2\n1 qid:x 1:2\n", 2, "its qid is no whole number"),
        (b"1 qid:1 1:2\n1 qid:2 1:2\n1 qid:1 1:2\n", 3, "query 1 comes again after another one"),
        (b"1 qid:1 1:2\n1 qid:2 1:2\n1 1:2 qid:3\n", 3, "it has no qid"),
        (b"1,2,3\n0,1,2\n", 1, "it looks like CSV"),
        (b"\x1f\x8b\x08rest", 0, "it is a gzip file, not libsvm text; let its name end in .gz"),
    ],
)
def test_a_fault_tells_its_line_what_was_found_and_what_to_do(
    tmp_path: Path, content: bytes, line: int, words: str
) -> None:
    fault = read(tmp_path, content)[0].faults[0]
    assert (fault.file, fault.line) == (str(tmp_path / "0.libsvm"), line)
    assert words in fault.text


def test_an_index_below_the_declared_base_is_a_fault(tmp_path: Path) -> None:
    faults = read(tmp_path, b"1 1:2\n1 0:2\n", index_base=1)[0].faults
    assert [(fault.line, fault.text) for fault in faults] == [
        (2, "it has the index 0, but indices start at 1. Check index_base.")
    ]


def test_labels_with_a_sign_and_values_that_are_missing_are_read(tmp_path: Path) -> None:
    rows = read(tmp_path, b"+1 2:-1.5 1:+2\n-1 1:nan\n0\n")[0].rows
    assert rows.labels.tolist() == [1.0, -1.0, 0.0]
    np.testing.assert_array_equal(rows.features.data, np.array([2, -1.5, NAN], np.float32))
    assert rows.features.indptr.tolist() == [0, 2, 3, 3]


def facts_of(folder: Path, content: bytes) -> Facts:
    folder.mkdir()
    (folder / "a.libsvm").write_bytes(content)
    channel = Channel("train", folder, None, "ShardedByS3Key")
    files = list_files(channel)
    return Facts.of(channel, files, read_share(files.data, 0, 1, "libsvm", Columns()))


def test_the_index_base_and_the_width_are_settled_over_all_shards(tmp_path: Path) -> None:
    high = facts_of(tmp_path / "a", b"1 5:1 9:1\n")
    low = facts_of(tmp_path / "b", b"1 0:1 3:1\n")
    empty = facts_of(tmp_path / "c", b"1\n0\n")
    assert settle_indices([high, empty], None) == Indices(1, 9)
    assert settle_indices([high, low, empty], None) == Indices(0, 10)
    assert settle_indices([high], 0) == Indices(0, 10)
    assert settle_indices([], None) is None


def test_settled_rows_share_their_memory_and_are_located_in_their_files(tmp_path: Path) -> None:
    rows = read(tmp_path, b"# from somewhere\n1 1:5 3:7\n\n0 2:6\n")[0].rows
    data = rows.features.data
    settled = settle_features(rows, 1, 4)
    assert np.shares_memory(settled.features.data, data)
    assert settled.features.shape == (2, 4)
    np.testing.assert_array_equal(dense(settled, 4), [[5, NAN, 7, NAN], [NAN, 6, NAN, NAN]])
    assert [settled.locate(row).number for row in range(2)] == [2, 4]


def test_packed_files_are_dealt_out_whole_and_the_rest_is_split(tmp_path: Path) -> None:
    (tmp_path / "a.libsvm.gz").write_bytes(gzip.compress(b"1 qid:1 1:2\n0 qid:1 2:3\n" * 1))
    (tmp_path / "b.libsvm").write_bytes(b"".join(b"2 qid:%d 1:1\n" % (n // 7) for n in range(100)))
    files = list_files(Channel("train", tmp_path)).data
    readings = [read_share(files, part, 3, "libsvm", Columns()) for part in range(3)]
    assert [reading.faults for reading in readings] == [()] * 3
    labels = [reading.rows.labels.tolist() for reading in readings]
    assert labels[0][:2] == [1.0, 0.0]
    assert sum(map(len, labels)) == 102
    assert (
        sum(int(reading.rows.groups.sum()) for reading in readings if reading.rows.groups is not None) == 102
    )
