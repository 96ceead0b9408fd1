"""The exception that ended a program, read from what Python really prints."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from bandstand.training.host.tracebacks import last_exception


def exception_of(tmp_path: Path, code: str) -> tuple[str, list[int]]:
    """Text of the last exception, and the lines of the script that led to it."""
    script = tmp_path / "train.py"
    script.write_text(code)
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True)
    found = last_exception(done.stderr.splitlines())
    assert found is not None, done.stderr
    text, frames = found
    return text, [line for file, line in frames if Path(file).name == "train.py"]


GROUP = """
def f():
    raise ExceptionGroup("several", [ValueError("a"), KeyError("b"), ExceptionGroup("inner", [OSError("c")])])

f()
"""

TASKS = """
import asyncio

async def bad():
    raise ValueError("first line\\nsecond line")

async def main():
    async with asyncio.TaskGroup() as group:
        group.create_task(bad())

asyncio.run(main())
"""


def test_a_group_tells_all_its_members(tmp_path: Path) -> None:
    text, lines = exception_of(tmp_path, GROUP)
    assert text == "ExceptionGroup: several (3 sub-exceptions): ValueError: a; KeyError: 'b'; OSError: c"
    assert lines == [5, 3]


def test_a_group_of_tasks_leads_to_the_line_of_the_task(tmp_path: Path) -> None:
    text, lines = exception_of(tmp_path, TASKS)
    assert text == "ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception): ValueError: first line"
    assert lines[-1] == 5


def test_an_exception_that_a_group_has_caused_counts(tmp_path: Path) -> None:
    indented = "".join(f"    {line}\n" for line in GROUP.splitlines())
    code = f"try:\n{indented}except ExceptionGroup as error:\n    raise RuntimeError('outer') from error\n"
    text, _ = exception_of(tmp_path, code)
    assert text == "RuntimeError: outer"


@pytest.mark.parametrize("end", ["", "\\n  indented", "\\nflush"])
def test_a_message_that_looks_like_a_traceback_is_a_message(tmp_path: Path, end: str) -> None:
    header = "Traceback (most recent call last):"
    text, lines = exception_of(tmp_path, f"raise ValueError('said:\\n  {header}\\n  no place{end}')")
    assert text.startswith("ValueError: said:")
    assert lines == [1]


def test_a_group_that_a_program_has_survived_is_not_what_ended_it(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(GROUP)
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True)
    assert last_exception([*done.stderr.splitlines(), *["going on"] * 100]) is None
