"""Going on with what a killed command has left, as a user does it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

SCRIPT = """
import json, os, pathlib, signal, time
settings = json.load(open(os.environ["SM_INPUT_CONFIG_DIR"] + "/hyperparameters.json"))
go, stopped = pathlib.Path(settings["go"]), []
signal.signal(signal.SIGTERM, lambda *_: stopped.append(1))
for step in range(1, 4):
    print(f"epoch {step} loss={1 / step}", flush=True)
first = "-001-" in os.environ["TRAINING_JOB_NAME"]
while not stopped and not go.exists() and not first:
    time.sleep(0.02)
pathlib.Path(os.environ["SM_MODEL_DIR"], "model").write_text("trained")
"""

JOB = """
name = "{name}"
program = "train.py"
code = "src"
output = "out"
[hyperparameters]
go = "{go}"
[metrics]
loss = " loss=([-+0-9.eE]+)"
"""

TUNING = """
[tuning]
metric = "loss"
goal = "minimize"
strategy = "random"
jobs = 3
parallel = 2
seed = 3
[ranges]
x = { continuous = [0, 1] }
"""


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "train.py").write_text(SCRIPT)
    (tmp_path / "one.toml").write_text(JOB.format(name="one", go=tmp_path / "go"))
    (tmp_path / "tune.toml").write_text(JOB.format(name="digits", go=tmp_path / "go") + TUNING)
    yield tmp_path
    (tmp_path / "go").touch()


def killed(env: dict[str, str], folder: Path, seen: str, *words: str) -> None:
    """Run the command until it has said something, and kill it hard."""
    with subprocess.Popen(
        [sys.executable, "-m", "bandstand.cli", *words],
        env=env,
        cwd=folder,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if seen in line:
                break
        process.send_signal(signal.SIGKILL)


def test_a_killed_tuning_job_goes_on_with_its_finished_jobs_in_the_table(
    env: dict[str, str], folder: Path, terminal: Any, bandstand: Any
) -> None:
    killed(env, folder, "-003-", "tune", "tune.toml", "--grace", "7")
    before = json.loads(bandstand("show", "digits", "--json").stdout)
    assert before["status"] == "InProgress"
    shell = terminal("-m", "bandstand.cli", "tune", "--resume", "digits", width=110)
    shell.wait_for(lambda screen: "1 of 3 jobs ended, 2 running" in screen.text)
    assert any(line.split()[:1] == ["1"] and "Completed" in line for line in shell.screen.lines)
    said = "digits goes on: 1 of 3 training jobs have ended, 2 still run"
    assert said in "\n".join(shell.screen.everything)
    (folder / "go").touch()
    assert shell.end() == 0
    assert "digits  Completed  3 jobs: 3 completed" in "\n".join(shell.screen.everything)
    after = json.loads(bandstand("show", "digits", "--json").stdout)
    assert after["training_jobs"][0] == before["training_jobs"][0]


def test_a_killed_training_job_goes_on_and_tells_its_facts_as_json(
    env: dict[str, str], folder: Path, bandstand: Any
) -> None:
    killed(env, folder, "epoch 3", "train", "one.toml")
    (folder / "go").touch()
    done = bandstand("train", "--resume", "one", "--json")
    assert done.returncode == 0
    document = json.loads(done.stdout)
    assert (document["status"], document["final_objective"]) == ("Completed", pytest.approx(1 / 3))
    again = bandstand("train", "--resume", "one")
    assert again.returncode == 2
    assert "one is over already: Completed." in again.stderr


def test_a_job_that_a_living_command_runs_is_left_to_it(
    env: dict[str, str], folder: Path, bandstand: Any
) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "bandstand.cli", "train", "one.toml"],
        env=env,
        cwd=folder,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert any("epoch 3" in line for line in iter(process.stdout.readline, ""))
        refused = bandstand("train", "--resume", "one")
        assert refused.returncode == 2
        assert f"process {process.pid} on " in refused.stderr
        assert "lives and runs it" in refused.stderr
        (folder / "go").touch()
    assert process.returncode == 0


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("tune",), "Missing argument 'JOB'"),
        (("tune", "tune.toml", "--resume", "digits"), "leave out tune.toml."),
        (("tune", "--resume", "digits", "--seed", "3", "--grace", "5"), "leave out --seed, --grace."),
        (("train", "--resume", "one", "--on", "processes"), "leave out --on."),
        (("tune", "--resume", "nobody"), "There is no job 'nobody'"),
    ],
)
def test_a_wrong_request_to_go_on_is_told_in_words(
    bandstand: Any, folder: Path, words: tuple[str, ...], told: str
) -> None:
    done = bandstand(*words)
    assert done.returncode == 2
    assert told in " ".join(done.stderr.split())
