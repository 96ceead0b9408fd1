from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from bandstand.backends.backend import LogLine
from bandstand.backends.log_reader import CHUNK, left_behind, read_lines
from bandstand.backends.log_writer import LogWriter


def test_what_is_written_can_be_read(tmp_path: Path) -> None:
    writer = LogWriter(tmp_path / "log")
    writer.write(1.5, ["one", "", "  two  ", "ünï \u2028 x\x0by"])
    writer.write(2.0, [])
    writer.close()
    lines, offsets = read_lines([("algo-1", tmp_path / "log")], {})
    assert [line.text for line in lines] == ["one", "", "  two  ", "ünï \u2028 x\x0by"]
    assert {line.time for line in lines} == {1.5}
    assert offsets == {"algo-1": (tmp_path / "log").stat().st_size}


def test_a_log_has_one_writer(tmp_path: Path) -> None:
    writer = LogWriter(tmp_path / "log")
    with pytest.raises(BlockingIOError):
        LogWriter(tmp_path / "log")
    writer.close()
    LogWriter(tmp_path / "log").close()


def test_a_writer_keeps_the_hosts_last_lines_but_not_its_own_notes(tmp_path: Path) -> None:
    writer = LogWriter(tmp_path / "log")
    writer.write(0.0, [str(number) for number in range(9)])
    writer.note(0.0, ["a note"])
    assert list(writer.tail) == ["4", "5", "6", "7", "8"]
    writer.close()


def test_after_a_fault_nothing_more_is_written(tmp_path: Path) -> None:
    writer = LogWriter(tmp_path / "log")
    reader, full = os.pipe()
    os.set_blocking(full, False)
    os.dup2(full, writer._descriptor)
    os.close(full)
    while writer.fault is None:
        writer.write(0.0, ["x" * 5000])
    assert writer.fault.errno == errno.EAGAIN
    os.read(reader, 1 << 20)
    writer.write(0.0, ["later"])
    os.set_blocking(reader, False)
    with pytest.raises(BlockingIOError):
        os.read(reader, 1)
    os.close(reader)
    writer.close()


def test_half_a_line_at_the_end_is_left_for_later(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"1.000000 whole\n2.000000 ha")
    lines, offsets = read_lines([("algo-1", log)], {})
    assert lines == [LogLine("algo-1", 1.0, "whole")]
    with log.open("ab") as file:
        file.write(b"lf\n")
    assert read_lines([("algo-1", log)], offsets)[0] == [LogLine("algo-1", 2.0, "half")]


def test_the_lines_of_several_hosts_come_in_order_of_time(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"1.0 a1\n3.0 a3\n")
    (tmp_path / "b").write_bytes(b"1.0 b1\n2.0 b2\n")
    logs = [("algo-1", tmp_path / "a"), ("algo-2", tmp_path / "b"), ("algo-3", tmp_path / "none yet")]
    lines, offsets = read_lines(logs, {})
    assert [line.text for line in lines] == ["a1", "b1", "b2", "a3"]
    assert set(offsets) == {"algo-1", "algo-2"}


def test_a_long_log_is_read_in_parts_that_lose_and_repeat_nothing(tmp_path: Path) -> None:
    log = tmp_path / "log"
    written = [f"{number} {'x' * 1000}" for number in range(3000)]
    log.write_text("".join(f"1.0 {text}\n" for text in written))
    read: list[str] = []
    offsets: dict[str, int] = {}
    calls = 0
    while True:
        lines, offsets = read_lines([("algo-1", log)], offsets)
        if not lines:
            break
        calls += 1
        read += [line.text for line in lines]
    assert read == written
    assert calls == -(-log.stat().st_size // CHUNK)


def test_a_line_that_the_supervisor_did_not_write_is_shown_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(b"somebody else\n")
    assert read_lines([("algo-1", tmp_path / "log")], {})[0] == [LogLine("algo-1", 0.0, "somebody else")]


def test_a_log_that_is_longer_than_one_call_reads_is_known_to_have_more(tmp_path: Path) -> None:
    log = [("algo-1", tmp_path / "log")]
    writer = LogWriter(log[0][1])
    writer.write(0.0, ["x" * 1000] * (CHUNK // 1000 + 10))
    writer.close()
    _, first = read_lines(log, {})
    assert left_behind({}, first)
    _, last = read_lines(log, first)
    assert last["algo-1"] == log[0][1].stat().st_size
    assert not left_behind(first, last)
