from __future__ import annotations

import os
from pathlib import Path

import pytest

from bandstand.backends.backend import HostState
from bandstand.backends.reasons import failure_reason, read_failure, signal_name


def test_the_hosts_own_words_come_first(tmp_path: Path) -> None:
    (tmp_path / "failure").write_text("  own words\n")
    host = HostState("algo-1", 137, "SIGKILL", 1 << 30)
    assert failure_reason(host, tmp_path / "failure", ["log"]) == "own words"


@pytest.mark.parametrize("content", [b"", b" \n\t "])
def test_an_empty_failure_file_says_nothing(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "failure").write_bytes(content)
    reason = failure_reason(HostState("algo-2", 7), tmp_path / "failure", ())
    assert reason == "algo-2: process 1 ended with exit code 7 and left no /opt/ml/output/failure."


def test_a_kill_is_told_with_peak_memory_and_a_hint(tmp_path: Path) -> None:
    reason = failure_reason(HostState("algo-2", 137, "SIGKILL", 3 << 30), tmp_path / "failure", ["a ", " b"])
    assert reason == (
        "algo-2: process 1 was ended by SIGKILL (often: the machine ran out of memory), "
        "peak memory of one process 3,072 MiB. Last lines: a | b"
    )


def test_a_reason_is_never_longer_than_the_service_allows(tmp_path: Path) -> None:
    (tmp_path / "failure").write_text("ü" * 3000)
    assert read_failure(tmp_path / "failure") == "ü" * 1024
    assert len(failure_reason(HostState("algo-1", 1), tmp_path / "none", ["x" * 5000])) == 1024


def test_broken_bytes_and_odd_things_in_place_of_a_failure_file_do_no_harm(tmp_path: Path) -> None:
    (tmp_path / "broken").write_bytes(b"b\xffd")
    assert read_failure(tmp_path / "broken") == "b\ufffdd"
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "folder").mkdir()
    for name in ("fifo", "folder", "nothing"):
        assert read_failure(tmp_path / name) == ""


def test_every_signal_has_a_name() -> None:
    assert signal_name(9) == "SIGKILL"
    assert signal_name(40) == "signal 40"
