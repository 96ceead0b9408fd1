"""Failure reasons out of how a process ended and what it last wrote."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from bandstand.training.host.failure import failure_reason, is_consequence
from bandstand.training.host.ranks import Ended

WHERE = "algo-2, rank 1"
EXITED = Ended(exit_code=1, signal=None, peak_bytes=1 << 20)


def reason_of(tmp_path: Path, code: str) -> str:
    """The reason for what Python really prints for a script."""
    (tmp_path / "train.py").write_text(code)
    done = subprocess.run([sys.executable, "train.py"], cwd=tmp_path, capture_output=True, text=True)
    return failure_reason("train.py", Ended(done.returncode, None, 0), done.stderr, WHERE, tmp_path)


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("raise ValueError('bad: 3')", "ValueError: bad: 3 (train.py, line 1) on algo-2, rank 1"),
        ("\nraise KeyError", "KeyError (train.py, line 2) on algo-2, rank 1"),
        ("import json\njson.loads('{')", "JSONDecodeError: Expecting property name"),
        ("raise ValueError('two\\nlines')", "ValueError: two\nlines (train.py, line 1)"),
        ("x = = 1", "SyntaxError: invalid syntax (train.py, line 1) on algo-2, rank 1"),
        (
            "import nothing_like_it",
            "ModuleNotFoundError: No module named 'nothing_like_it' (train.py, line 1)",
        ),
        (
            "try:\n  1/0\nexcept ZeroDivisionError as e:\n  raise OSError('x') from e",
            "OSError: x (train.py, line 4)",
        ),
        ("try:\n  1/0\nexcept ZeroDivisionError:\n  raise OSError('y')", "OSError: y (train.py, line 4)"),
        (
            "from bandstand import JobError\nraise JobError('3 faults')",
            "3 faults (train.py, line 2) on algo-2, rank 1",
        ),
        (
            "import sys\nsys.exit('the file is missing')",
            "the file is missing (train.py, exit code 1) on algo-2",
        ),
        (
            "import logging, sys\ntry:\n  1/0\nexcept Exception:\n  logging.exception('c')\n  sys.exit(5)",
            "ZeroDivisionError: division by zero (train.py, line 3; exit code 5) on algo-2, rank 1",
        ),
        (
            "import atexit, os\natexit.register(os.write, 2, b'bandstand: bye')\nraise ValueError('v')",
            "ValueError: v (train.py, line 3) on algo-2, rank 1",
        ),
    ],
)
def test_what_python_prints_becomes_one_line_with_the_place(tmp_path: Path, code: str, reason: str):
    assert reason_of(tmp_path, code).startswith(reason)


def test_a_traceback_that_a_program_has_survived_is_not_its_reason():
    stderr = "Traceback (most recent call last):\nValueError: old\n" + "going on\n" * 100 + "no space left\n"
    reason = failure_reason("t.py", EXITED, stderr, WHERE, None)
    assert reason.endswith("going on | no space left (t.py, exit code 1) on algo-2, rank 1")


def test_the_users_own_line_is_told_rather_than_a_librarys(tmp_path: Path):
    assert "(train.py, line 2)" in reason_of(tmp_path, "import json\njson.loads('{')")


def test_a_failure_outside_the_users_code_tells_the_last_line():
    stderr = 'Traceback (most recent call last):\n  File "/lib/a.py", line 3, in f\n    g()\nValueError: x\n'
    assert (
        failure_reason("xgboost", EXITED, stderr, WHERE, None)
        == "ValueError: x (a.py, line 3) on algo-2, rank 1"
    )


def test_a_program_in_another_language_is_told_by_its_last_lines():
    stderr = "starting\n\nError: no such column: age\nsee --help\n"
    reason = failure_reason("fit.R", Ended(2, None, 0), stderr, WHERE, None)
    assert (
        reason == "starting | Error: no such column: age | see --help (fit.R, exit code 2) on algo-2, rank 1"
    )


def test_a_rank_that_left_for_a_lost_leader_says_so_and_is_a_consequence():
    stderr = (
        "bandstand: rank 0 of 2 runs as process 7.\n"
        "bandstand: this rank leaves: The connection to the leader ended.\n"
    )
    reason = failure_reason("t.py", EXITED, stderr, WHERE, None)
    assert reason.startswith("this rank leaves: The connection to the leader ended. (t.py, exit code 1)")
    assert is_consequence(reason)


def test_an_exit_code_that_stands_for_a_signal_says_so():
    reason = failure_reason("train.sh", Ended(137, None, 0), "", WHERE, None)
    assert (
        reason
        == "train.sh ended with exit code 137, as after SIGKILL and wrote nothing on stderr (algo-2, rank 1)"
    )


@pytest.mark.parametrize("text", ["x" * 5000, "é" * 5000, ("word " * 60 + "\n") * 20])
def test_a_long_reason_is_cut_but_keeps_its_place(text: str):
    stderr = f'Traceback (most recent call last):\n  File "/c/t.py", line 3, in f\nValueError: {text}'
    reason = failure_reason("t.py", EXITED, stderr, WHERE, Path("/c"))
    assert len(reason) <= 1024
    assert reason.endswith("(t.py, line 3) on algo-2, rank 1")
    plain = failure_reason("t.py", EXITED, text, WHERE, Path("/c"))
    assert len(plain) <= 1024
    assert plain.endswith("(t.py, exit code 1) on algo-2, rank 1")


def test_a_signal_tells_memory_and_rows_and_the_last_line():
    stderr = "bandstand: rank 1 on algo-2 has 77 rows.\nallocating\n"
    reason = failure_reason("t.py", Ended(None, signal.SIGKILL, 300 << 20), stderr, WHERE, None)
    assert reason.startswith("t.py was ended by SIGKILL; peak memory 300 MiB, 77 rows; ")
    assert reason.endswith("Its last line: allocating (algo-2, rank 1)")


def test_an_unknown_signal_is_told_by_its_number():
    assert "signal 63" in failure_reason("t.py", Ended(None, 63, 0), "", WHERE, None)


@pytest.mark.parametrize(
    ("reason", "consequence"),
    [
        ("ConnectionResetError: [Errno 104] Connection reset by peer (train.py, line 1)", True),
        ("XGBoostError: socket.h: Failed to recv: Connection closed", True),
        ("RuntimeError: [gloo/transport/tcp/pair.cc:534] Connection closed by peer", True),
        ("HorovodInternalError: Horovod has been shut down. This was caused by an exception", True),
        ("BrokenPipeError: [Errno 32] Broken pipe", True),
        ("ValueError: no good", False),
        ("train.py was ended by SIGKILL; peak memory 3 MiB", False),
        ("algo-2 was lost: the connection to it ended without a word.", False),
    ],
)
def test_a_broken_connection_reads_like_a_consequence(reason: str, consequence: bool):
    assert is_consequence(reason) == consequence
