"""Data that cannot be used is refused with file and line, everything at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from bandstand.errors import InputError
from bandstand.training.rows import Columns, DataFile, Reading, read_rows, read_share, split
from bandstand.training.rows.places import MAX_FAULTS


def read(tmp_path: Path, *contents: bytes, parts: int = 1, part: int = 0, block: int = 1 << 20) -> Reading:
    files = []
    for number, content in enumerate(contents):
        path = tmp_path / f"{chr(97 + number)}.csv"
        path.write_bytes(content)
        files.append(DataFile(path.name, path, len(content)))
    return read_rows(split(files, part, parts), block=block)


@pytest.mark.parametrize(
    ("content", "line", "words"),
    [
        (b"y,age,job\n1,2,3\n0,3,4\n", 1, "header line (y, age, job)"),
        (b"\xef\xbb\xbfy,age,job\r\n1,2,3\r\n", 1, "header line (y, age, job)"),
        (b'"y","age","job"\n1,2,3\n', 1, "header line (y, age, job)"),
        (b"y,0,1\n1,2,3\n0,3,4\n", 1, "header line (y, 0, 1)"),
        (b"1,2,3\n0,2\n1,2,3\n", 2, "it has 2 columns; expected 3"),
        (b"1,2,3\n\n0,2,3,4\n1,2,3\n", 3, "it has 4 columns; expected 3"),
        (b"1,2,3\n,2,3\n", 2, "the label (column 1) is empty"),
        (b"1,2,3\nnan,2,3\n", 2, "the label (column 1) is nan"),
        (b"1,2,3\n-inf,2,3\n", 2, "the label (column 1) is -inf"),
        (b"1,2,3\n1,2,inf\n", 2, "column 3 holds inf, which is infinite or beyond single precision"),
        (b"1,2,3\n1,1e39,3\n", 2, "column 2 holds 1e39"),
        (b"1,2,3\n1,blue,3\n", 2, "column 2 holds 'blue', which is no number"),
        (b"1,2,3\n1,NA,?\n", 2, "column 2 holds 'NA', which is no number (and 1 more"),
        (b"1,2,3\n1,1_000,3\n", 2, "'1_000'"),
        (b"1,2,3\n1,0x10,3\n", 2, "'0x10'"),
        (b"1,2,3\n1,\xff,3\n", 2, "which is no number"),
        (b"1,2,3\n1,2\x00,3\n", 2, "which is no number"),
        (b'1,2,3\n1,"2,3\n', 2, "which is no number"),
        (b"yes,2,3\nno,3,4\nno,5,6\n", 1, "column 1 holds 'yes', which is no number"),
        (b"1;2;3\n0;3;4\n", 1, "separated by ';'; expected commas"),
        (b"1;2.5;3\n0,3,4\n1,2,3\n", 1, "separated by ';'; expected commas"),
        (b"all of it\n0,3,4\n1,2,3\n", 1, "it is a header line (all of it)"),
        (b"1\t2\t3\n0\t3\t4\n", 1, "expected commas"),
        (b"1 2:1 5:1\n0 3:1\n", 1, "expected commas"),
        (b"1\n0\n", 1, "one column; expected the label and at least one feature"),
        (b"\x1f\x8b\x08\x00rest", 0, "it is a gzip file"),
        (b"PAR1rest", 0, "it is a Parquet file"),
        ("1,2\n0,1\n".encode("utf-16"), 0, "it is a UTF-16 file"),
    ],
)
def test_a_fault_tells_its_line_what_was_found_and_what_to_do(
    tmp_path: Path, content: bytes, line: int, words: str
) -> None:
    fault = read(tmp_path, content).faults[0]
    assert fault.file == str(tmp_path / "a.csv")
    assert fault.line == line
    assert words in fault.text


def test_missing_features_are_no_fault(tmp_path: Path) -> None:
    reading = read(tmp_path, b"1,,nan\n0, ,NaN\n1,3,\n")
    assert reading.faults == ()
    assert reading.rows.features.shape == (3, 2)


def test_all_faults_of_all_files_are_found_in_one_reading(tmp_path: Path) -> None:
    reading = read(tmp_path, b"y,a\n1,2\n", b"1,2\n1,x\n3,4\nnan,1\n", b"1,2,3\n4,5,6\n", block=8)
    assert [(Path(fault.file).name, fault.line) for fault in reading.faults] == [
        ("a.csv", 1),
        ("b.csv", 2),
        ("b.csv", 4),
        ("c.csv", 1),
    ]
    assert "its rows have 3 columns, but those of" in reading.faults[3].text
    assert "a.csv, line 1 have 2" in reading.faults[3].text


def test_the_line_of_a_fault_counts_from_the_start_of_the_file_for_every_worker(tmp_path: Path) -> None:
    rows = [b"%d,%d\r\n" % (n % 2, n) for n in range(900)]
    rows[777] = b"1,oops\r\n"
    found = [read(tmp_path, b"".join(rows), parts=3, part=part, block=500) for part in range(3)]
    assert [[fault.line for fault in reading.faults] for reading in found] == [[], [], [778]]


def test_a_line_that_may_be_a_header_and_labels_that_may_be_row_numbers_are_doubts(tmp_path: Path) -> None:
    reading = read(tmp_path, b"0,1,2\n1,2,3\n", b"".join(b"%d,5,6\n" % n for n in range(40)))
    assert reading.faults == ()
    assert len(reading.rows) == 42
    assert [(doubt.line, doubt.text[:20]) for doubt in reading.doubts] == [(1, "it reads 0, 1, 2, ..")]
    reading = read(tmp_path, b"".join(b"%d,5,6\n" % n for n in range(40)))
    assert "counts up by one from row to row" in reading.doubts[0].text


def test_many_faults_are_counted_and_the_first_are_listed(tmp_path: Path) -> None:
    reading = read(tmp_path, b"1,2\n" * 10 + b"1,x\n" * 500, block=100)
    assert len(reading.faults) == MAX_FAULTS
    assert reading.more == 500 - MAX_FAULTS


def test_the_width_that_most_rows_have_is_the_expected_one(tmp_path: Path) -> None:
    reading = read(tmp_path, b"1,2,3\n" + b"1,2\n" * 5)
    assert [(fault.line, fault.text[:31]) for fault in reading.faults] == [
        (1, "it has 3 columns; expected 2, a")
    ]


@pytest.mark.parametrize(
    ("content", "line", "words"),
    [
        (b"2,1,1,5\n2,,1,5\n", 2, "the label (column 2) is empty"),
        (b"2,1,1,5\n-1,1,1,5\n", 2, "the weight (column 1) is -1; expected a finite number from 0 on"),
        (b"2,1,1,5\n,1,1,5\n", 2, "the weight (column 1) is empty"),
        (b"2,1,1,5\n2,1,1.5,5\n", 2, "the query (column 3) is 1.5; expected a whole number"),
        (b"2,1,1,5\n2,1,-1,5\n", 2, "the query (column 3) is -1"),
        (b"2,1,7,5\n2,0,8,5\n2,1,7,5\n", 3, "query 7 comes again after another one"),
        (b"2,1,7,5\n3,0,7,5\n", 2, "its weight is 3, but that of the first row of its query"),
        (b"1,2,3\n", 1, "it has 3 columns; expected the label and the weight and the query and at least"),
        (b"1\n", 1, "the label is column 2, but there is one column"),
    ],
)
def test_faults_of_weights_and_queries_tell_line_and_column(
    tmp_path: Path, content: bytes, line: int, words: str
) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(content)
    columns = Columns(label="2", weight="1", query="3")
    reading = read_share([DataFile("a.csv", path, len(content))], 0, 1, "csv", columns)
    assert [fault.line for fault in reading.faults] == [line]
    assert words in reading.faults[0].text


def test_a_header_that_is_declared_gives_names_and_files_with_other_names_are_refused(tmp_path: Path) -> None:
    contents = {"a.csv": b'\xef\xbb\xbf"age",y, rate\r\n30,1,5\r\n', "b.csv": b"age,rate,y\n1,2,3\n"}
    files = []
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
        files.append(DataFile(name, tmp_path / name, len(content)))
    columns = Columns(label="y", header=True)
    reading = read_share(files[:1], 0, 1, "csv", columns)
    assert reading.names == ("age", "y", "rate")
    assert reading.rows.labels.tolist() == [1.0]
    assert reading.rows.features.tolist() == [[30.0, 5.0]]
    assert reading.rows.locate(0) == (str(tmp_path / "a.csv"), 2, "line")
    faults = read_share(files, 0, 1, "csv", columns).faults
    assert [str(fault)[len(str(tmp_path)) :][:52] for fault in faults] == [
        "/b.csv, line 2: its column 2 is named 'rate', but th"
    ]
    faults = read_share(files[:1], 0, 1, "csv", Columns(label="z", header=True)).faults
    assert "the label is 'z', but the columns are age, y, rate." in faults[0].text


def test_a_declared_header_that_is_a_row_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"1,2.5,3\n0,1,2\n")
    with pytest.raises(InputError, match="line 1: it holds numbers only, but header=true says"):
        read_share([DataFile("a.csv", path, 14)], 0, 1, "csv", Columns(header=True))


def test_a_narrower_file_and_a_column_that_is_not_there_are_told_once(tmp_path: Path) -> None:
    files = []
    for name, content in (("a.csv", b"1,2,0\n3,,1\n"), ("b.csv", b"7\n8\n")):
        (tmp_path / name).write_bytes(content)
        files.append(DataFile(name, tmp_path / name, len(content)))
    faults = read_share(files, 0, 1, "csv", Columns(label="3")).faults
    assert [(Path(fault.file).name, fault.line, fault.text[:24]) for fault in faults] == [
        ("b.csv", 1, "its rows have 1 columns,")
    ]
    faults = read_share(files[:1], 0, 1, "csv", Columns(label="4")).faults
    assert [fault.text for fault in faults] == ["the label is column 4, but there are 3 columns."]
    faults = read_share(files[:1], 0, 1, "csv", Columns(label="2", query="-2")).faults
    assert "two of these are the same column: label: column 2, query: column 2." in faults[0].text
