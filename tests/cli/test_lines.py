from __future__ import annotations

import io
import os
import subprocess
import sys

from bandstand.cli.lines import LineView, progress
from bandstand.cli.patient import PatientStream
from bandstand.runs.snapshot import JobRow, Snapshot

ROW = JobRow("digits-001-0a1b2c3d", 1, "InProgress", "Training", 3, reports=4, objective=0.5)


def picture(**changes: object) -> Snapshot:
    values: dict[str, object] = {
        "name": "digits",
        "kind": "tuning",
        "status": "InProgress",
        "rows": (ROW,),
        "total": 30,
        "ended": 12,
        "running": 4,
        "stopped": 7,
        "failed": 0,
        "best": ROW,
        "reports_run": 1210,
        "elapsed": 72.0,
    }
    return Snapshot(**{**values, **changes})  # type: ignore[arg-type]


def test_where_a_run_stands_fits_one_line() -> None:
    assert progress(picture()) == (
        "12 of 30 jobs ended, 4 running, 7 stopped, best 0.5 (job 1), 1,210 iterations, 1 min 12 s"
    )
    assert progress(picture(kind="training")) == "Training, iteration 4, 0.5, 1 min 12 s"
    assert progress(picture(kind="training", rows=())) == "InProgress, 1 min 12 s"


def test_where_a_run_stands_is_told_when_nothing_was_said_for_a_minute() -> None:
    now = [0.0]
    text = io.StringIO()
    view = LineView(PatientStream(text), clock=lambda: now[0])
    view.changed(picture())
    now[0] = 59.0
    view.said("job 1 started")
    now[0] = 118.0
    view.changed(picture())
    assert text.getvalue() == "job 1 started\n"
    now[0] = 119.0
    view.changed(picture())
    view.changed(picture())
    assert text.getvalue().splitlines()[1:] == [progress(picture())]


def test_nothing_is_told_of_a_run_that_is_over() -> None:
    now = [0.0]
    text = io.StringIO()
    view = LineView(PatientStream(text), clock=lambda: now[0])
    now[0] = 100.0
    view.changed(picture(running=0))
    assert text.getvalue() == ""


def test_a_run_goes_on_when_nobody_reads_its_lines_any_more() -> None:
    reading, writing = os.pipe()
    with os.fdopen(writing, "w") as stream:
        view = LineView(PatientStream(stream))
        view.said("one")
        assert os.read(reading, 100) == b"one\n"
        os.close(reading)
        view.said("two")
        view.said("three")
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def test_lines_reach_a_pipe_at_once_and_in_its_encoding() -> None:
    program = (
        "import sys\n"
        "from bandstand.cli.lines import LineView\n"
        "from bandstand.cli.patient import PatientStream\n"
        "sys.stdout.reconfigure(errors='replace')\n"
        "LineView(PatientStream(sys.stdout)).said('Gr\\u00fc\\u00dfe \\x1b[31m\\u6771\\x1b[0m')\n"
        "sys.stdin.read()"
    )
    env = {**os.environ, "PYTHONIOENCODING": "ascii"}
    with subprocess.Popen(
        [sys.executable, "-c", program], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == b"Gr??e ?\n"
        process.stdin.close()
