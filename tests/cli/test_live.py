"""The live table on a real terminal: a program shows pictures one after the other, as it is told to."""

from __future__ import annotations

from typing import Any

import pytest

PROGRAM = """
import os, sys, time
from dataclasses import replace
from bandstand.cli.launch import view
from bandstand.cli.patient import PatientStream
from bandstand.runs.snapshot import JobRow, Snapshot

def row(number, status="InProgress", reports=0, objective=None, note="", secondary="Training"):
    name = f"digits-{number:03d}-0a1b2c3d"
    return JobRow(name, number, status, secondary, 3, reports, f"{reports} of 30", 0, objective, note)

def picture(rows, best=None, total=30):
    over = [r for r in rows if r.status in ("Completed", "Failed", "Stopped")]
    return Snapshot("digits", "tuning", "InProgress", tuple(rows), total, len(over), len(rows) - len(over),
                    sum(r.status == "Stopped" for r in rows), sum(r.status == "Failed" for r in rows), best,
                    sum(r.reports for r in rows), 12.0)

sys.stdout.reconfigure(errors="replace")
why = "Stopped at rung 9: place 3 of 3 against a cut-off of 0.8."
stopped = [row(n, "Stopped", n, n / 100, why) for n in range(1, 21)]
running = [row(n, reports=3, objective=0.25) for n in range(21, 25)]
with view(PatientStream(sys.stdout), "digits: maximize validation:auc, Hyperband", "validation:auc") as shown:
    shown.said("begin \\x1b[2J\\x1b[31mof a run\\x1b[0m\\r\\tend")
    shown.changed(picture([row(1, secondary="Starting"), row(2)]))
    sys.stdin.readline()
    shown.changed(picture(stopped + running, best=stopped[6]))
    shown.said("long line " + "x" * 200)
    print("a stray print", file=sys.stderr)
    sys.stdin.readline()
    for number in range(100):
        shown.said(f"line {number}")
        shown.changed(picture(stopped + running, best=stopped[number % 20]))
    sys.stdin.readline()
print("the end")
"""


def squeezed(lines: list[str]) -> str:
    return "\n".join(" ".join(line.split()) for line in lines)


def test_a_table_is_drawn_in_place_and_what_is_said_stands_above_it(terminal: Any) -> None:
    shell = terminal("-c", PROGRAM, width=100, height=30)
    shell.wait_for("0 of 30 jobs ended, 2 running")
    assert "begin of a run end" in shell.screen.text
    table = squeezed(shell.screen.everything)
    assert "job hosts iteration rung validation:auc state" in table
    assert "1 3 0 0 of 30 - Starting" in table
    shell.type("\n")
    shell.wait_for("20 of 30 jobs ended, 4 running, 20 stopped")
    shell.type("\n")
    shell.wait_for("line 99")
    shell.type("\n")
    assert shell.end() == 0
    lines = [line for line in shell.screen.everything if line]
    said = [line for line in lines if line.startswith("line ")]
    assert said == [f"line {number}" for number in range(100)]
    assert "a stray print" in lines
    assert "x" * 200 in "".join(lines)
    assert lines[-1] == "the end"
    assert lines[-2] == "line 99"
    assert not any("of 30 jobs ended" in line for line in lines)
    assert shell.raw.count("\x1b[?25l") == shell.raw.count("\x1b[?25h")


@pytest.mark.parametrize("height", [8, 12, 20, 40])
def test_running_jobs_come_first_then_the_best_as_many_as_there_is_room_for(
    terminal: Any, height: int
) -> None:
    shell = terminal("-c", PROGRAM, width=90, height=height)
    shell.wait_for("0 of 30 jobs ended")
    shell.type("\n")
    shell.wait_for("20 of 30 jobs ended")
    lines = shell.screen.text.splitlines()
    start = next(i for i, line in enumerate(lines) if "iteration" in line and "state" in line)
    order = [
        int(line.split()[0])
        for line in lines[start + 1 :]
        if line.split()[0].isdigit() and "of 30 jobs" not in line
    ]
    room = height - 6
    assert order == [21, 22, 23, 24, 7, *range(1, 7), *range(8, 21)][:room] or order[:5] == [
        21,
        22,
        23,
        24,
        7,
    ]
    assert len(order) == min(24, room)
    assert ("more" in shell.screen.text) == (room < 24)


@pytest.mark.parametrize("width", [24, 40, 60, 79, 80, 81, 132])
def test_no_line_of_the_table_wraps_whatever_the_width(terminal: Any, width: int) -> None:
    shell = terminal(
        "-c", PROGRAM.replace('shown.said("long', '("').replace("a stray print", "stray"), width=width
    )
    shell.wait_for("0 of 30 jobs ended")
    shell.type("\n")
    shell.wait_for("20 of 30 jobs ended")
    assert shell.screen.wrapped == 0


def test_a_terminal_of_few_lines_has_the_bar_alone(terminal: Any) -> None:
    shell = terminal("-c", PROGRAM, width=80, height=5)
    shell.wait_for("0 of 30 jobs ended, 2 running")
    assert "iteration" not in shell.screen.text.replace("iterations", "")


@pytest.mark.parametrize(
    ("more", "coloured"),
    [({}, True), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": ""}, True)],
)
def test_no_color_is_heeded(terminal: Any, more: dict[str, str], coloured: bool) -> None:
    shell = terminal("-c", PROGRAM, **more)
    shell.wait_for("0 of 30 jobs ended")
    assert ("\x1b[36m" in shell.raw) == coloured


@pytest.mark.parametrize(
    "more",
    [
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"PYTHONIOENCODING": "latin-1"},
    ],
)
def test_a_terminal_without_utf_8_gets_ascii(terminal: Any, more: dict[str, str]) -> None:
    shell = terminal("-c", PROGRAM, height=12, **more)
    shell.wait_for("0 of 30 jobs ended")
    shell.type("\n")
    shell.wait_for("20 of 30 jobs ended")
    shell.type("\n\n")
    assert shell.end() == 0
    assert shell.raw.isascii()
    assert "... and 18 more" in shell.raw


def test_a_terminal_that_can_move_no_cursor_gets_plain_lines(terminal: Any) -> None:
    shell = terminal("-c", PROGRAM, TERM="dumb")
    shell.type("\n\n\n")
    assert shell.end() == 0
    assert "\x1b" not in shell.raw
    assert shell.screen.everything[-1] == "the end"
