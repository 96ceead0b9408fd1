"""Interrupting a job from the command line, as a user does it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

SCRIPT = """
import pathlib, time
import bandstand
run = bandstand.start()
go = pathlib.Path(run.hyperparameters["go"])
for iteration in run.iterations(6):
    run.report(iteration, {"score": iteration})
    run.checkpoint(iteration, lambda path: path.write_text("x"))
    while iteration >= 3 and not go.exists() and not run.stopping:
        time.sleep(0.01)
"""

JOB = """
name = "spot"
program = "train.py"
code = "src"
checkpoints = "kept"
hyperparameters.go = "{go}"
metrics.score = " score=([-+0-9.eE]+)"
stopping = {{ job_seconds = 600, spot_seconds = 900 }}
"""


@pytest.fixture
def running(env: dict[str, str], tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """`bandstand train` of a spot job, which has reported something and waits."""
    (tmp_path / "src").mkdir()  # a job sees its code as it was at the start, so it waits for a file elsewhere
    (tmp_path / "src" / "train.py").write_text(SCRIPT)
    (tmp_path / "job.toml").write_text(JOB.format(go=tmp_path / "go"))
    with subprocess.Popen(
        [sys.executable, "-m", "bandstand.cli", "train", "job.toml"],
        env=env,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert any("score=3" in line for line in iter(process.stdout.readline, ""))
        yield process
        (tmp_path / "go").touch()


def test_an_interrupted_job_is_started_again_and_the_command_says_from_what(
    running: subprocess.Popen[str], bandstand: Any, tmp_path: Path
) -> None:
    done = bandstand("interrupt", "spot", "--grace", "30")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "spot is interrupted; its hosts have 30 s to end by themselves.",
        "spot: Starting the training job again, for attempt 2, from what is in its checkpoint path.",
    ]
    done = bandstand("interrupt", "spot", "--grace", "0", "--json")
    (told,) = json.loads(done.stdout)["interrupted"]
    assert told["name"] == "spot"
    assert "for attempt 3" in told["said"]
    (tmp_path / "go").touch()
    assert running.wait(60) == 0
    assert json.loads(bandstand("show", "spot", "--json").stdout)["attempts"] == 3
    done = bandstand("interrupt", "spot")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "spot is over already: Completed. There is nothing to interrupt.\n"


def test_a_job_for_which_there_is_no_capacity_says_that_it_starts_and_can_be_stopped(
    running: subprocess.Popen[str], bandstand: Any
) -> None:
    first = bandstand("interrupt", "spot", "--away", "600")
    assert "its hosts have 120 s to end by themselves" in first.stdout
    assert re.search(
        r"in its checkpoint path\. There is no capacity for the next ([56]\d\d) s\.", first.stdout
    )
    assert json.loads(bandstand("show", "spot", "--json").stdout)["secondary_status"] == "Starting"
    second = bandstand("interrupt", "spot", "--away", "500")
    assert "it waits for capacity and has no hosts; the wait is 500 s from now on" in second.stdout
    assert re.search(r"There is no capacity for the next (500|4\d\d) s\.", second.stdout)
    assert bandstand("stop", "spot").stdout.splitlines()[-1] == "spot: Stopped"
    assert running.wait(60) == 3


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("nobody",), "There is no job 'nobody'"),
        ((), "Missing argument 'JOB'"),
        (("spot", "--grace", "-1"), "'--grace': '-1' is no number of seconds"),
        (("spot", "--away", "soon"), "'--away': 'soon' is no number of seconds"),
    ],
)
def test_a_wrong_request_to_interrupt_is_told_in_words(
    bandstand: Any, words: tuple[str, ...], told: str
) -> None:
    done = bandstand("interrupt", *words)
    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr
