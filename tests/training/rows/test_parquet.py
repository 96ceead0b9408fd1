"""Rows of Parquet files: whole row groups, each read by one worker only."""

from __future__ import annotations

import builtins
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bandstand.errors import InputError
from bandstand.training.rows import Columns, DataFile, Reading, read_share
from bandstand.training.rows.arrow_numbers import numbers
from bandstand.training.rows.parquet_shares import split_row_groups


def write(path: Path, table: dict[str, Any], rows: int = 1000) -> DataFile:
    pq.write_table(pa.table(table), path, row_group_size=rows)
    return DataFile(path.name, path, path.stat().st_size)


def read(files: list[DataFile], parts: int = 1, **columns: Any) -> list[Reading]:
    return [read_share(files, part, parts, "parquet", Columns(**columns)) for part in range(parts)]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    sizes=st.lists(st.lists(st.integers(1, 5), max_size=6), min_size=1, max_size=3),
    rows=st.integers(1, 6),
    parts=st.integers(1, 5),
    grouped=st.booleans(),
)
def test_the_workers_shares_are_all_rows_once_in_order_and_in_whole_groups(
    tmp_path: Path, sizes: list[list[int]], rows: int, parts: int, grouped: bool
) -> None:
    files, expected = [], 0
    for number, groups in enumerate(sizes):
        queries = np.repeat(np.arange(len(groups)), groups)
        labels = expected + np.arange(len(queries))
        expected += len(queries)
        table = {"y": labels, "q": queries, "x": labels / 2}
        files.append(write(tmp_path / f"{number}.parquet", table, rows))
    readings = read(files, parts, query="q" if grouped else None)
    assert [reading.faults for reading in readings] == [()] * parts
    found = [label for reading in readings for label in reading.rows.labels]
    assert found == list(range(expected))
    if grouped:
        counted = [int(size) for one in readings if one.rows.groups is not None for size in one.rows.groups]
        assert counted == [size for groups in sizes for size in groups]


@given(groups=st.lists(st.integers(0, 9), max_size=12), parts=st.integers(1, 9))
def test_row_groups_are_shared_out_each_once_and_within_one_group_of_the_even_share(
    groups: list[int], parts: int
) -> None:
    shares = [split_row_groups(groups, part, parts) for part in range(parts)]
    filled = [place for first, stop in shares for place in range(first, stop) if groups[place]]
    assert filled == [place for place, rows in enumerate(groups) if rows]
    for first, stop in shares:
        assert sum(groups[first:stop]) <= sum(groups) / parts + max(groups, default=0)


def test_columns_of_every_kind_of_number_are_read_and_missing_ones_are_nan(tmp_path: Path) -> None:
    table = {
        "a": pa.array([1, None], pa.int64()),
        "y": pa.array([True, False]),
        "b": pa.array([0.5, float("nan")], pa.float32()),
        "c": pa.array([None, True]),
        "d": pa.array([7, 9], pa.int8()).dictionary_encode(),
        "e": pa.array([Decimal("1.25"), None]),
        "w": pa.array([2, 3], pa.uint8()),
        "f": pa.nulls(2),
    }
    rows = read([write(tmp_path / "a.parquet", table)], label="y", weight="w")[0].rows
    assert rows.labels.tolist() == [1.0, 0.0]
    assert rows.weights is not None
    assert rows.weights.tolist() == [2.0, 3.0]
    nan = float("nan")
    expected = [[1, 0.5, nan, 7, 1.25, nan], [nan, nan, 1, 9, nan, nan]]
    np.testing.assert_array_equal(rows.features, np.array(expected, np.float32))
    assert rows.locate(1) == (str(tmp_path / "a.parquet"), 2, "row")


def test_only_the_workers_own_row_groups_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = write(tmp_path / "a.parquet", {"y": np.arange(100), "x": np.arange(100)}, 10)
    seen: list[int] = []
    real = pq.ParquetFile.iter_batches

    def watched(source: Any, batch: int, groups: list[int], **more: Any) -> Any:
        seen.extend(groups)
        return real(source, batch, groups, **more)

    monkeypatch.setattr(pq.ParquetFile, "iter_batches", watched)
    assert read_share([file], 1, 3, "parquet", Columns()).rows.labels.tolist() == list(range(40, 70))
    assert seen == [4, 5, 6]


def test_columns_that_are_no_numbers_are_all_told(tmp_path: Path) -> None:
    table = {"y": [1, 0], "who": ["a", "b"], "kind": pa.array(["u", "v"]).dictionary_encode(), "x": [1, 2]}
    faults = read([write(tmp_path / "a.parquet", table)])[0].faults
    assert [fault.text.partition(",")[0] for fault in faults] == [
        "its column 2 (who) holds string",
        "its column 3 (kind) holds dictionary<values=string",
    ]
    assert "Encode it as numbers, or leave the column out." in faults[0].text


def test_faults_tell_file_row_and_column(tmp_path: Path) -> None:
    files = [
        write(tmp_path / "a.parquet", {"y": [1.0, None, 1.0], "x": [1.0, 2.0, 1e39]}, 2),
        write(tmp_path / "b.parquet", {"y": [1.0, float("inf")], "x": [1.0, 2.0]}),
    ]
    faults = read(files)[0].faults
    assert [(fault.file, fault.line, fault.unit) for fault in faults] == [
        (str(tmp_path / "a.parquet"), 2, "row"),
        (str(tmp_path / "a.parquet"), 3, "row"),
        (str(tmp_path / "b.parquet"), 2, "row"),
    ]
    assert [fault.text.partition(",")[0] for fault in faults] == [
        "column 1 (y) holds nothing",
        "column 2 (x) holds inf",
        "column 1 (y) holds inf",
    ]


def test_files_with_other_columns_and_files_that_are_no_parquet_are_refused(tmp_path: Path) -> None:
    files = [
        write(tmp_path / "a.parquet", {"y": [1], "x": [1]}),
        write(tmp_path / "b.parquet", {"x": [1], "y": [1]}),
        write(tmp_path / "c.parquet", {"y": [1]}),
    ]
    texts = [fault.text for fault in read(files)[0].faults]
    assert texts[0].startswith("its column 1 is named 'x', but that of ")
    assert texts[1].startswith("its rows have 1 columns, but those of ")
    (tmp_path / "d.parquet").write_bytes(b"1,2,3\n")
    with pytest.raises(InputError, match=r"d\.parquet is no Parquet file, or is damaged"):
        read([DataFile("d.parquet", tmp_path / "d.parquet", 6)])


def test_without_pyarrow_the_error_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write(tmp_path / "a.parquet", {"y": [1], "x": [1]})
    real = builtins.__import__

    def missing(name: str, *rest: Any) -> Any:
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(InputError, match=r"pip install 'bandstand\[parquet\]'"):
        read([file])


def test_numbers_of_arrays_are_those_that_arrow_finds_itself() -> None:
    arrays = [
        pa.array([1, None, 3, 4], kind)
        for kind in (pa.int8(), pa.uint16(), pa.int64(), pa.float32(), pa.float16())
    ]
    arrays += [pa.array([True, None, False, True] * 5), pa.array([5, None, 5, 7]).dictionary_encode()]
    for array in arrays:
        for part in (array, array.slice(1, 2), array.slice(3), array.slice(0, 0)):
            expected = [np.nan if value is None else float(value) for value in part.to_pylist()]
            np.testing.assert_array_equal(numbers(part), expected)
