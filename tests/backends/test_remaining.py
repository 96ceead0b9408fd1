from __future__ import annotations

import subprocess
import sys
import threading

from bandstand.backends.remaining import wait_until_gone, write_down

WAITS = [sys.executable, "-c", "import sys; sys.stdin.read()"]


def test_a_process_that_was_written_down_is_waited_for_until_it_has_ended(tmp_path):
    with subprocess.Popen(WAITS, stdin=subprocess.PIPE) as process:
        write_down(tmp_path / "process", process.pid)
        assert wait_until_gone([tmp_path / "process"], 0.0) == [process.pid]
        found: list[list[int]] = []
        waiting = threading.Thread(target=lambda: found.append(wait_until_gone([tmp_path / "process"], 60.0)))
        waiting.start()
        process.stdin.close()
        waiting.join()  # the process has ended, and nobody has asked for its status: it counts as gone
    assert found == [[]]


def test_another_process_of_the_same_number_is_not_waited_for(tmp_path):
    with subprocess.Popen(WAITS, stdin=subprocess.PIPE) as process:
        write_down(tmp_path / "process", process.pid)
        number, begin = (tmp_path / "process").read_text().split()
        (tmp_path / "process").write_text(f"{number} {int(begin) - 1}")
        assert wait_until_gone([tmp_path / "process"], 0.0) == []


def test_what_says_nothing_of_a_process_is_passed_over(tmp_path):
    for name, text in (("empty", ""), ("half", "12"), ("words", "no number"), ("ended", "12 ")):
        (tmp_path / name).write_text(text)
    assert wait_until_gone([*tmp_path.iterdir(), tmp_path / "missing"], 0.0) == []
