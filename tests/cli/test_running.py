"""Jobs while they run: from the terminal that started them, and from another one."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

import pytest

SCRIPT = """
import json, os, pathlib, signal, sys, time
settings = json.load(open(os.environ["SM_INPUT_CONFIG_DIR"] + "/hyperparameters.json"))
go, stopped = pathlib.Path(settings["go"]), []
if settings.get("deaf"):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
else:
    signal.signal(signal.SIGTERM, lambda *_: stopped.append(1))
step = 0
while not stopped and not go.exists():
    step += 1
    print(f"epoch {step} loss={1 / step}", flush=True)
    time.sleep(0.05)
open(os.environ["SM_MODEL_DIR"] + "/model.txt", "w").write(str(step))
"""

JOB = """
name = "{name}"
program = "train.py"
code = "src"
output = "out"
role = "arn:aws:iam::111122223333:role/Training"
image = "bandstand:latest"
[hyperparameters]
go = "{go}"
{settings}
[metrics]
loss = " loss=([-+0-9.eE]+)"
"""

TUNING = """
[tuning]
metric = "loss"
goal = "minimize"
strategy = "hyperband"
min_resource = 1000
max_resource = 20000
jobs = 6
parallel = 2
seed = 3
[ranges]
x = { continuous = [0, 1] }
"""


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "train.py").write_text(SCRIPT)
    words = {"go": tmp_path / "go", "settings": ""}
    (tmp_path / "one.toml").write_text(JOB.format(name="one", **words))
    (tmp_path / "deaf.toml").write_text(JOB.format(name="deaf", **{**words, "settings": 'deaf = "yes"'}))
    (tmp_path / "tune.toml").write_text(JOB.format(name="digits", **words) + TUNING)
    yield tmp_path
    (tmp_path / "go").touch()


Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start(env: dict[str, str], folder: Path) -> Iterator[Start]:
    """Start the command in a pipe and leave it running."""
    started: list[subprocess.Popen[str]] = []

    def run(*words: str) -> subprocess.Popen[str]:
        started.append(
            subprocess.Popen(
                [sys.executable, "-m", "bandstand.cli", *words],
                env=env,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        )
        return started[-1]

    yield run
    (folder / "go").touch()
    for process in started:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)


def read_until(process: subprocess.Popen[str], text: str, stream: IO[str] | None = None) -> list[str]:
    stream = stream or process.stdout
    assert stream is not None
    lines = []
    for line in stream:
        lines.append(line.rstrip("\n"))
        if text in line:
            return lines
    raise AssertionError(f"never said: {text}\n" + "\n".join(lines))


def rest(process: subprocess.Popen[str]) -> str:
    """What is still to come; `communicate` would leave out what `read_until` has read ahead."""
    assert process.stdout is not None
    assert process.stderr is not None
    errors = threading.Thread(target=process.stderr.read)
    errors.start()
    text = process.stdout.read()
    errors.join()
    process.wait(timeout=60)
    return text


def models(folder: Path) -> list[str]:
    return sorted(path.parts[-3] for path in (folder / "out").rglob("model.tar.gz"))


def test_jobs_are_listed_shown_and_stopped_from_another_terminal(
    start: Start, bandstand: Any, folder: Path
) -> None:
    train = start("train", "one.toml")
    read_until(train, "epoch 2 ")
    listed = json.loads(bandstand("list", "--json").stdout)
    assert [(job["name"], job["status"]) for job in listed] == [("one", "InProgress")]
    assert "InProgress, Training" in bandstand("show").stdout
    assert bandstand("clean", "one", "-y").returncode == 2
    assert "nothing to remove" in bandstand("clean", "--all", "-y").stderr
    done = bandstand("stop", "one", "--grace", "30")
    assert done.returncode == 0
    assert "30 s to end by themselves" in done.stdout
    assert done.stdout.splitlines()[-1] == "one: Stopped"
    assert "one  Stopped" in rest(train)
    assert train.returncode == 3
    assert models(folder) == ["one"]
    assert "stopped because" in bandstand("show", "one").stdout


def test_logs_are_followed_until_the_job_ends(start: Start, bandstand: Any, folder: Path) -> None:
    train = start("train", "one.toml")
    read_until(train, "epoch 1 ")
    logs = start("logs", "one", "--follow")
    seen = read_until(logs, "epoch 3 ")
    (folder / "go").touch()
    assert logs.stdout is not None
    seen += logs.stdout.read().splitlines()
    assert logs.wait(timeout=60) == 0
    rest(train)
    assert train.returncode == 0
    assert [line.split(" ")[1] for line in seen] == [str(epoch) for epoch in range(1, len(seen) + 1)]
    assert bandstand("logs", "one").stdout.splitlines()[0].startswith("epoch 1 ")


def test_logs_of_a_tuning_job_are_followed_to_its_end(start: Start, folder: Path) -> None:
    tune = start("tune", "tune.toml")
    read_until(tune, "started")
    logs = start("logs", "--follow")
    seen = [line.split(" ")[0] for line in read_until(logs, "-002-")]
    (folder / "go").touch()
    seen += [line.split(" ")[0] for line in rest(logs).splitlines()]
    rest(tune)
    assert (tune.returncode, logs.returncode) == (0, 0)
    assert {"-001-", "-002-"} <= {name[len("digits") : len("digits") + 5] for name in seen}


def test_ctrl_c_stops_every_job_cleanly_and_each_keeps_its_model(
    start: Start, bandstand: Any, folder: Path
) -> None:
    tune = start("tune", "tune.toml")
    read_until(tune, "-002-")
    running_for_a_while(bandstand, "digits", 2)
    tune.send_signal(signal.SIGINT)
    text = rest(tune)
    assert "Ctrl-C: stopping all jobs cleanly" in text
    assert tune.returncode == 3
    document = json.loads(bandstand("show", "digits", "--json").stdout)
    assert document["status"] == "Stopped"
    assert [job["status"] for job in document["training_jobs"]] == ["Stopped", "Stopped"]
    assert models(folder) == sorted(job["name"] for job in document["training_jobs"])


def running_for_a_while(bandstand: Any, name: str, number: int) -> None:
    """Wait until a tuning job has this many training jobs that have reported."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        jobs = json.loads(bandstand("show", name, "--json").stdout)["training_jobs"]
        if sum(job["iterations"] > 0 for job in jobs) >= number:
            return
    raise AssertionError("the jobs never reported")


def test_a_second_ctrl_c_kills_jobs_that_do_not_listen(start: Start, bandstand: Any) -> None:
    train = start("train", "deaf.toml", "--grace", "600")
    read_until(train, "epoch 2 ")
    train.send_signal(signal.SIGINT)
    read_until(train, "Ctrl-C: stopping")
    train.send_signal(signal.SIGINT)
    assert "Killing all jobs." in rest(train)
    assert train.returncode == 3
    assert json.loads(bandstand("show", "deaf", "--json").stdout)["status"] == "Stopped"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_sigterm_and_a_lost_terminal_stop_cleanly_too(
    start: Start, folder: Path, number: signal.Signals
) -> None:
    train = start("train", "one.toml", "--json")
    read_until(train, "epoch 2 ", train.stderr)
    train.send_signal(number)
    document = json.loads(rest(train))
    assert train.returncode == 3
    assert document["status"] == "Stopped"
    assert document["model"]


def test_the_run_goes_on_when_its_reader_leaves(start: Start, bandstand: Any, folder: Path) -> None:
    train = start("train", "one.toml")
    read_until(train, "epoch 2 ")
    assert train.stdout is not None
    train.stdout.close()
    train.stdout = None
    running = json.loads(bandstand("show", "one", "--json").stdout)
    assert running["status"] == "InProgress"
    (folder / "go").touch()
    assert train.wait(60) == 0
    assert json.loads(bandstand("show", "one", "--json").stdout)["status"] == "Completed"


def test_the_same_job_file_runs_twice_at_once_under_two_names(
    start: Start, bandstand: Any, folder: Path
) -> None:
    (folder / "go").touch()
    both = [start("train", "one.toml") for _ in range(2)]
    for process in both:
        rest(process)
        assert process.returncode == 0
    assert sorted(job["name"] for job in json.loads(bandstand("list", "--json").stdout)) == ["one", "one-2"]
    insisted = bandstand("train", "one.toml", "--name", "one")
    assert insisted.returncode == 2
    assert "taken" in insisted.stderr


def test_a_live_table_is_left_by_ctrl_c_with_the_result_on_the_screen(terminal: Any, folder: Path) -> None:
    shell = terminal("-m", "bandstand.cli", "tune", "tune.toml", "--grace", "30", width=100, height=24)
    shell.wait_for(lambda screen: "2 running" in screen.text and "Training" in screen.text)
    shell.type("typed\nkeys\n")
    shell.wait_for(lambda screen: any(line.split()[:1] == ["2"] and "0." in line for line in screen.lines))
    shell.type("\x03")
    shell.wait_for("stopping all jobs cleanly")
    assert shell.end() == 3
    text = "\n".join(shell.screen.everything)
    assert "typed" not in text
    assert "of 6 jobs ended" not in text
    assert "digits  Stopped  2 jobs: 2 stopped" in text
    assert shell.raw.count("\x1b[?25l") == shell.raw.count("\x1b[?25h")


def test_a_terminal_that_goes_away_stops_the_jobs_and_leaves_no_fault(
    terminal: Any, bandstand: Any, folder: Path, home: Path
) -> None:
    shell = terminal("-m", "bandstand.cli", "train", "one.toml", "--grace", "30")
    shell.wait_for("epoch 2 ")
    os.close(shell._terminal)
    shell._terminal = -1
    assert shell.process.wait(60) == 3
    assert json.loads(bandstand("show", "one", "--json").stdout)["status"] == "Stopped"
    assert not (home / "errors").exists()
