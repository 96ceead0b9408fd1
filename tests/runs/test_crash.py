"""A launcher that is killed hard, at any moment: nothing acknowledged is lost or doubled, nothing runs on."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest

from bandstand.backends.job_folder import JobFolder
from bandstand.metrics import MetricParser
from bandstand.runs.followed import NO_FOLDER
from bandstand.runs.ledger import history
from bandstand.runs.reconcile import reconcile
from bandstand.runs.record import Record
from bandstand.runs.stopping import request_stop
from bandstand.runs.stored import training_jobs
from bandstand.runs.views import jobs, log_lines, show
from bandstand.study import StudySpec, replay

LAUNCH = Path(__file__).parent / "launch.py"
DEADLINE_SECONDS = 60.0

ENDLESS = """
import sys, time
rate = float(sys.argv[sys.argv.index("--rate") + 1])
iteration = 0
while True:
    iteration += 1
    print(f"iteration={iteration} score={rate * iteration} loss={1 / iteration}", flush=True)
    time.sleep(0.002)
"""

STUBBORN = "import signal\nsignal.signal(15, signal.SIG_IGN)\nsignal.signal(2, signal.SIG_IGN)\n" + ENDLESS

READ = """
import pathlib, sys
from bandstand.runs.record import Record
from bandstand.runs.views import show
with Record.open(pathlib.Path(sys.argv[1])) as record:
    while show(record, "tuning")["status"] == "InProgress":
        pass
"""


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.01)


@pytest.fixture
def launch(tmp_path):
    started = []

    def start(plan) -> subprocess.Popen[str]:
        words = [sys.executable, str(LAUNCH), str(tmp_path / "home"), json.dumps(plan.to_dict()), "5"]
        started.append(subprocess.Popen(words, stdout=subprocess.PIPE, text=True))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()


def count(record: Record) -> int:
    return record.read("SELECT COUNT(*) FROM points")[0][0]


def running(mark: str) -> list[int]:
    """Processes whose environment has a mark, the hosts of a test's jobs and all they started."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and mark.encode() in (entry / "environ").read_bytes():
                found.append(int(entry.name))
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue
    return found


def assert_every_point_once(record: Record) -> None:
    """What the record has is what the logs have, in the same order, once."""
    for job in training_jobs(record):
        parser = MetricParser(job.plan.metrics)
        expected = [
            (point.name, point.iteration, point.value, point.host)
            for line in log_lines(record, job.name)
            for point in parser.feed(line.host, line.time, line.text)
        ]
        stored = [
            (point["name"], point["iteration"], point["value"], point["host"])
            for point in show(record, job.name)["metrics"]
        ]
        assert stored == expected


@pytest.mark.parametrize("seed", range(4))
def test_a_launcher_killed_at_any_moment_loses_and_doubles_nothing(record, tuning, launch, seed):
    mark = f"BANDSTAND_TEST_MARK={uuid.uuid4().hex}"
    name, value = mark.split("=")
    endless = {"min_resource": 5_000, "max_resource": 10_000} if seed > 1 else {}
    script = STUBBORN if seed % 2 else ENDLESS
    plan = tuning(script, jobs=30, parallel=2, environment={name: value}, **endless)
    launcher = launch(plan)
    goal = random.Random(seed).randrange(1, 60)
    until(lambda: count(record) >= goal)
    launcher.kill()
    launcher.wait()

    until(lambda: show(record, "tuning")["status"] == "Failed")
    assert running(mark) == []
    document = show(record, "tuning")
    assert "ended before the job did" in document["failure_reason"]
    assert f"process {launcher.pid} " in document["failure_reason"]
    assert "bandstand tune --resume tuning" in document["failure_reason"]
    assert document["resumable"]
    assert {row["status"] for row in document["training_jobs"]} <= {"Stopped", "Failed"}
    if endless:
        assert {row["stop"]["kind"] for row in document["training_jobs"] if row["stop"]} == {"owner"}
    assert jobs(record)[0]["status"] == "Failed"
    assert_every_point_once(record)
    again = replay(StudySpec.from_plan(plan, 7), history(record, "tuning"))
    assert again.differences == ()
    best = again.study.best()
    assert (document["best"] or {}).get("number") == (best[0] if best else None)


def test_readers_that_reconcile_at_once_write_each_point_once(record, tuning, launch):
    launcher = launch(tuning(ENDLESS, jobs=2))
    until(lambda: count(record) >= 4)
    launcher.kill()
    launcher.wait()
    readers = [subprocess.Popen([sys.executable, "-c", READ, str(record.home)]) for _ in range(3)]
    assert [reader.wait(DEADLINE_SECONDS) for reader in readers] == [0, 0, 0]
    assert_every_point_once(record)


def test_stop_from_another_terminal_while_the_launcher_runs(record, tuning, launch):
    launcher = launch(tuning(ENDLESS, jobs=30, max_resource=10_000, min_resource=5_000))
    until(lambda: count(record) >= 4)
    assert "was asked to stop (2 training jobs" in request_stop(record, "tuning")
    said = launcher.communicate(timeout=DEADLINE_SECONDS)[0]
    assert said.splitlines()[-1] == "Stopped"
    document = show(record, "tuning")
    assert document["status"] == "Stopped"
    assert {row["stop"]["kind"] for row in document["training_jobs"]} == {"user"}
    assert request_stop(record, "tuning") == "tuning is over already: Stopped."


def test_stop_of_one_training_job_lets_the_tuning_job_go_on(record, tuning, launch):
    launcher = launch(tuning(ENDLESS, jobs=2, parallel=1, max_resource=10_000, min_resource=5_000))
    until(lambda: count(record) >= 4)
    (first,) = training_jobs(record)
    request_stop(record, first.name, grace=1.0)
    until(lambda: len(training_jobs(record)) == 2)
    row = show(record, "tuning")["training_jobs"][0]
    assert row["status"] == "Stopped"
    assert row["stop"]["reason"] == "Stopped on request."
    request_stop(record, "tuning", grace=1.0)
    assert launcher.wait(DEADLINE_SECONDS) == 0


def test_stop_works_when_the_launcher_is_dead(record, tuning, launch):
    launcher = launch(tuning(ENDLESS, jobs=30, max_resource=10_000, min_resource=5_000))
    until(lambda: count(record) >= 4)
    launcher.kill()
    launcher.wait()
    assert "has no launcher any more" in request_stop(record, "tuning")
    until(lambda: show(record, "tuning")["status"] == "Stopped")
    assert {row["stop"]["kind"] for row in show(record, "tuning")["training_jobs"]} == {"user"}


def test_a_supervisor_that_dies_ends_its_job_as_failed(record, tuning, launch, supervisors):
    launcher = launch(tuning(ENDLESS, jobs=1, max_resource=10_000, min_resource=5_000))
    until(lambda: count(record) >= 4)
    (job,) = training_jobs(record)
    (supervisor,) = supervisors(job.folder)
    os.kill(supervisor, signal.SIGKILL)
    assert launcher.wait(DEADLINE_SECONDS) == 0
    row = show(record, "tuning")["training_jobs"][0]
    assert row["status"] == "Failed"
    assert "supervisor" in row["failure_reason"]
    assert_every_point_once(record)


def test_a_job_written_down_but_never_submitted_is_told_as_failed(record, training, tuning):
    from bandstand.runs.jobs import TrainingJob
    from bandstand.runs.stored import add_training_job

    plan = training("")
    job = TrainingJob("job", None, 1, "nobody", "processes", record.folder("job"), plan, {}, 1.0, 0.0)
    with record.transaction() as connection:
        add_training_job(connection, job)
    reconcile(record)
    document = show(record, "job")
    advice = "It goes on with: bandstand train --resume job"
    assert (document["status"], document["failure_reason"]) == ("Failed", f"{NO_FOLDER} {advice}")
    assert document["resumable"]
    assert list(log_lines(record, "job")) == []
    assert not JobFolder(record.folder("job")).is_supervised()
