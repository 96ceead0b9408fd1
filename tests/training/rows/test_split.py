"""Every row once, in order, whatever the files and however many workers."""

from __future__ import annotations

import gzip
import math
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bandstand.errors import InputError
from bandstand.training.rows import ByteRange, Columns, DataFile, read_rows, read_share, share_of, split
from bandstand.training.rows.csv_parsing import parse
from bandstand.training.rows.ranges import count_lines
from bandstand.training.rows.shares import deal

ENDS = st.sampled_from([b"\n", b"\r\n", b"\n\n", b"\n \t\n", b"\r\n\r\n"])
NUMBERS = st.one_of(
    st.integers(-9999, 9999).map(str),
    st.floats(-1e6, 1e6, allow_nan=False, width=32).map(repr),
    st.sampled_from(["", "nan", "1e-05", ".5", "7.", " 3", '"4"']),
)

FIELDS = (
    *("nan", "-nan", "NaN", "nan(1)", "nan(", "inf", "-Inf", "infinity", "NULL", "NA", "#N/A", "TRUE"),
    *("1.", ".5", "-", ".", "e5", "1e", "1d5", "1f", "+1", "-.5", "00012", "1E+5", "1e400", "1e-400"),
    *("0x10", "0x1p3", "1_0", "1\x002", "1.5.5", "1-5", "½", "١", "123456789012345678901234567890"),
)


@st.composite
def csv_files(draw: st.DrawFn) -> list[tuple[bytes, list[list[str]]]]:
    """Files as bytes, each with the rows that it holds; all rows have the same width."""
    width = draw(st.integers(2, 4))
    files = []
    for _ in range(draw(st.integers(1, 5))):
        rows = []
        text = b"\xef\xbb\xbf" if draw(st.booleans()) else b""
        if draw(st.booleans()):
            text += draw(ENDS)
        for _ in range(draw(st.integers(0, 8))):
            row = [str(draw(st.integers(0, 1000))), *(draw(NUMBERS) for _ in range(width - 1))]
            rows.append(row)
            text += ",".join(row).encode() + draw(ENDS)
        if rows and draw(st.booleans()):
            text = text.rstrip(b"\r\n\t ") if not rows[-1][-1].endswith(" ") else text
        files.append((text if rows or draw(st.booleans()) else b"", rows))
    return files


def number(field: str) -> float:
    return float(field.strip().strip('"') or "nan")


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(files=csv_files(), parts=st.integers(1, 9), block=st.integers(1, 64))
def test_the_workers_shares_are_all_rows_once_and_in_order(
    tmp_path: Path, files: list[tuple[bytes, list[list[str]]]], parts: int, block: int
) -> None:
    data = []
    for number_, (content, _) in enumerate(files):
        path = tmp_path / f"{number_}.csv"
        path.write_bytes(content)
        data.append(DataFile(path.name, path, len(content)))
    expected = [[number(field) for field in row] for _, rows in files for row in rows]

    readings = [read_rows(split(data, part, parts), block=block) for part in range(parts)]

    assert [fault for reading in readings for fault in reading.faults] == []
    found = [
        [float(label), *map(float, features)]
        for reading in readings
        for label, features in zip(reading.rows.labels, reading.rows.features, strict=True)
    ]
    assert len(found) == len(expected)
    if expected:
        np.testing.assert_array_equal(np.array(found, np.float32), np.array(expected, np.float32))


@given(sizes=st.lists(st.integers(0, 50), max_size=6), parts=st.integers(1, 20))
def test_the_shares_of_a_split_cover_every_byte_once_and_differ_by_one_byte_at_most(
    sizes: list[int], parts: int
) -> None:
    files = [DataFile(f"{n}.csv", Path(f"/{n}.csv"), size) for n, size in enumerate(sizes)]
    shares = [split(files, part, parts) for part in range(parts)]
    covered = [
        (part.file.name, byte) for share in shares for part in share for byte in range(part.start, part.stop)
    ]
    assert covered == [(file.name, byte) for file in files for byte in range(file.size)]
    lengths = [sum(part.stop - part.start for part in share) for share in shares]
    assert max(lengths) - min(lengths) <= 1


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """First byte and the one after the last of everything that is read from files."""
    found: list[tuple[int, int]] = []
    real = Path.open

    class Watched:
        def __init__(self, raw: object) -> None:
            self.raw = raw

        def __enter__(self) -> Watched:
            return self

        def __exit__(self, *details: object) -> None:
            self.raw.close()  # type: ignore[attr-defined]

        def seek(self, place: int) -> int:
            return self.raw.seek(place)  # type: ignore[attr-defined,no-any-return]

        def read(self, size: int) -> bytes:
            place = self.raw.tell()  # type: ignore[attr-defined]
            data: bytes = self.raw.read(size)  # type: ignore[attr-defined]
            found.append((place, place + len(data)))
            return data

    def watched(path: Path, mode: str = "r", *rest: object, **more: object) -> object:
        raw = real(path, mode, *rest, **more)  # type: ignore[call-overload]
        return Watched(raw) if mode == "rb" else raw

    monkeypatch.setattr(Path, "open", watched)
    return found


def test_a_worker_reads_its_range_the_byte_before_it_and_the_rest_of_its_last_line_only(
    tmp_path: Path, spans: list[tuple[int, int]]
) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"".join(b"%04d%s\n" % (n, b",7" * 40) for n in range(5000)))
    file = DataFile("a.csv", path, path.stat().st_size)
    part = split([file], 1, 3)[0]
    reading = read_share([file], 1, 3, "csv", Columns(), 1 << 16)
    assert len(reading.rows) in (1666, 1667)
    assert min(start for start, _ in spans) == part.start - 1
    assert max(stop for _, stop in spans) <= part.stop + 4096
    assert sum(stop - start for start, stop in spans) <= part.stop - part.start + 1 + 4096


def test_a_row_longer_than_several_shares_belongs_to_one_worker(tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    path.write_bytes(b"1," + b"0" * 10_000 + b"2\n3,4")
    file = DataFile("long.csv", path, path.stat().st_size)
    found = [read_rows(split([file], part, 7)).rows.labels.tolist() for part in range(7)]
    assert found == [[1.0], [], [], [], [], [], [3.0]]


def test_line_ends_of_old_macs_are_read_too(tmp_path: Path) -> None:
    path = tmp_path / "mac.csv"
    path.write_bytes(b"1,2\r3,4\r5,6")
    file = DataFile("mac.csv", path, path.stat().st_size)
    found = [read_rows(split([file], part, 2)).rows.labels.tolist() for part in range(2)]
    assert [label for labels in found for label in labels] == [1.0, 3.0, 5.0]
    assert count_lines(file, file.size) == 2


def test_a_file_that_shrinks_while_it_is_read_is_an_error_that_says_so(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"1,2\n")
    with pytest.raises(InputError, match="has shrunk from 400 to 4 bytes"):
        read_rows([ByteRange(DataFile("a.csv", path, 400), 0, 400)])


def test_rows_are_kept_in_single_precision_in_one_block_of_memory(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"".join(b"%d,%d,0.1\n" % (n % 2, n) for n in range(30_000)))
    rows = read_rows(split([DataFile("a.csv", path, path.stat().st_size)], 0, 1), block=5000).rows
    assert rows.features.dtype == np.float32
    assert rows.features.flags["C_CONTIGUOUS"]
    assert rows.features.shape == (30_000, 2)
    assert rows.features[:, 0].tolist() == list(range(30_000))
    assert math.isclose(float(rows.features[7, 1]), 0.1, rel_tol=1e-7)


def test_a_row_can_be_located_in_its_file(tmp_path: Path) -> None:
    first, second = tmp_path / "a.csv", tmp_path / "b.csv"
    first.write_bytes(b"\r\n1,2\r\n\r\n3,4\r\n5,6")
    second.write_bytes(b"7,8\n9,10\n")
    files = [DataFile(path.name, path, path.stat().st_size) for path in (first, second)]
    rows = [read_rows(split(files, part, 2)).rows for part in range(2)]
    assert [share.labels.tolist() for share in rows] == [[1.0, 3.0], [5.0, 7.0, 9.0]]
    assert [rows[0].locate(row) for row in range(2)] == [(str(first), 2, "line"), (str(first), 4, "line")]
    assert [rows[1].locate(row) for row in range(3)] == [
        (str(first), 5, "line"),
        (str(second), 1, "line"),
        (str(second), 2, "line"),
    ]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    sizes=st.lists(st.lists(st.integers(1, 4), max_size=6), min_size=1, max_size=5),
    parts=st.integers(1, 6),
    block=st.integers(1, 64),
    header=st.booleans(),
    packed=st.sets(st.integers(0, 4)),
)
def test_headers_queries_weights_and_packed_files_leave_every_row_once_and_queries_whole(
    tmp_path: Path, sizes: list[list[int]], parts: int, block: int, header: bool, packed: set[int]
) -> None:
    files, weights, expected = [], [], []
    for number_, groups in enumerate(sizes):
        text = "w,q,y,x\n" if header else ""
        for query, size in enumerate(groups):
            expected.append(size)
            for _ in range(size):
                text += f"{query + 1},{query},{len(weights)},0.5\n"
                weights.append(query + 1)
        name = f"{number_}.csv.gz" if number_ in packed else f"{number_}.csv"
        content = gzip.compress(text.encode()) if number_ in packed else text.encode()
        (tmp_path / name).write_bytes(content)
        files.append(DataFile(name, tmp_path / name, len(content)))
    columns = Columns(label="y" if header else "-2", weight="1", query="2", header=header)

    readings = [
        read_rows(share_of(files, part, parts, "csv", columns), "csv", columns, block)
        for part in range(parts)
    ]

    assert [fault for reading in readings for fault in reading.faults] == []
    labels = [int(label) for reading in readings for label in reading.rows.labels]
    assert sorted(labels) == list(range(len(weights)))
    found = [weight for reading in readings if len(reading.rows) for weight in reading.rows.weights]
    assert found == [weights[label] for label in labels]
    groups_of = [reading.rows.groups for reading in readings if reading.rows.groups is not None]
    assert sorted(size for groups in groups_of for size in groups) == sorted(expected)


def test_packed_files_go_to_the_worker_with_the_fewest_bytes_the_largest_first() -> None:
    sizes = {"a.csv.gz": 5, "b.csv.gz": 9, "c.csv.gz": 4, "d.csv.gz": 4, "e.csv.gz": 3}
    files = [DataFile(name, Path("/", name), size) for name, size in sizes.items()]
    shares = [[file.name[0] for file in deal(files, part, 2)] for part in range(2)]
    assert shares == [["b", "d"], ["a", "c", "e"]]


def test_a_packed_file_that_is_cut_or_none_is_an_error_that_says_so(tmp_path: Path) -> None:
    path = tmp_path / "a.csv.gz"
    for content in (gzip.compress(b"1,2\n" * 100)[:-20], b"1,2\n3,4\n5,6\n7,8\n"):
        path.write_bytes(content)
        with pytest.raises(InputError, match=r"a\.csv\.gz cannot be unpacked .*Pack it anew"):
            read_share([DataFile("a.csv.gz", path, len(content))], 0, 1, "csv", Columns())


def test_pyarrow_and_numpy_read_the_same_numbers() -> None:
    rng = np.random.default_rng(1)
    values = rng.normal(size=(200, 3)) * 10.0 ** rng.integers(-30, 30, (200, 3))
    text = b"".join(f"{n % 2},{float(a)!r},,{b:.6f},{c:.3e}\n".encode() for n, (a, b, c) in enumerate(values))
    text = text.replace(b",,", b",nan,", 20) + b"\n\n1,.5,NaN,7.,-0\n"
    quick, slow = parse(text, quick=True), parse(text)
    np.testing.assert_array_equal(quick, slow)
    for wrong in (b"1,2\n3\n", b'1,"2\n'):
        with pytest.raises(ValueError):
            parse(wrong, quick=True)


@pytest.mark.parametrize("field", FIELDS)
def test_pyarrow_takes_no_field_for_a_number_that_numpy_refuses(field: str) -> None:
    text = f"5,{field},7\n".encode()
    found: list[list[list[float]] | str] = []
    for quick in (True, False):
        try:
            found.append(parse(text, quick=quick).tolist())
        except ValueError:
            found.append("no number")
    assert str(found[0]) == str(found[1])


def test_without_pyarrow_numpy_reads_large_files_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert parse(b"1,2\n,3\n", quick=True).shape == (2, 2)
