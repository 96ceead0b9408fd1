"""Spot jobs that are interrupted on purpose, and jobs that RetryStrategy begins again."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bandstand.backends.processes import ProcessBackend
from bandstand.backends.requests import Interruption
from bandstand.errors import InputError
from bandstand.request.plan import TrainingPlan, TuningPlan
from bandstand.runs.interrupting import again, interrupt
from bandstand.runs.live import StopFlag, train
from bandstand.runs.record import Record
from bandstand.runs.stopping import request_stop
from bandstand.runs.stored import training_job, training_jobs
from bandstand.runs.views import show

from .resuming.crashing import (
    DEADLINE_SECONDS,
    LAUNCH,
    STEPS,
    assert_decisions_replay,
    assert_each_point_once,
    begun,
    kill,
    until,
)

OWN_FOLDER = STEPS.replace(
    '"checkpoints")', '"checkpoints", os.environ["TRAINING_JOB_NAME"])\nfolder.mkdir(exist_ok=True)', 1
)
"""The training jobs of a tuning job share a checkpoint path, so each has a folder in it."""

SOON = Interruption(grace=5.0)


@pytest.fixture
def launch(tmp_path):
    started = []

    def start(plan: TrainingPlan | TuningPlan) -> subprocess.Popen[str]:
        words = [sys.executable, str(LAUNCH), str(tmp_path / "home"), json.dumps(plan.to_dict()), "5", "60"]
        started.append(subprocess.Popen(words, stdout=subprocess.PIPE, text=True))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.fixture
def spot(tmp_path):
    """Makes spot jobs of plans, with a checkpoint path."""

    def make(plan: TrainingPlan) -> TrainingPlan:
        return replace(plan, spot=True, max_wait=3600, checkpoints=(tmp_path / "kept").as_uri())

    return make


@pytest.fixture
def gate(tmp_path):
    """Hyperparameters with which a job waits after its 6th report until the file is there."""
    return tmp_path / "gate", {"gate": str(tmp_path / "gate"), "until": "6"}


def ends(launcher: subprocess.Popen[str]) -> list[str]:
    return launcher.communicate(timeout=DEADLINE_SECONDS)[0].splitlines()


def test_an_interrupted_job_goes_on_under_its_name_and_nothing_is_counted_twice(
    record, training, launch, spot, gate
):
    launcher = launch(spot(training(STEPS, hyperparameters=gate[1])))
    until(lambda: begun(record, 6))
    (job,) = interrupt(record, "job", SOON)
    until(lambda: again(record, job))
    assert "for attempt 2, from what is in its checkpoint path" in again(record, job)
    gate[0].touch()
    lines = ends(launcher)
    assert lines[-1] == "Completed"
    assert "job is started again, for attempt 2" in lines
    row = training_job(record, "job")
    assert (row.attempt, row.reports, row.stop) == (2, 20, None)
    assert_each_point_once(record)
    assert [status for status, _, _ in row.transitions] == [
        *("Starting", "Downloading", "Training", "Interrupted"),
        *("Starting", "Downloading", "Training", "Uploading", "Completed"),
    ]


class Noting(Record):
    """Looks after each transaction at what others see of the job."""

    @contextmanager
    def transaction(self, *, durable: bool = False) -> Iterator[sqlite3.Connection]:
        with super().transaction(durable=durable) as connection:
            yield connection
        seen.extend(tuple(row) for row in self.read("SELECT status, shown FROM training_jobs"))


seen: list[tuple[str, str]] = []


def test_who_reads_the_record_never_sees_an_interrupted_job_as_ended(
    record, training, backend, watcher, spot, gate
):
    def interrupt_once(snapshot):
        if snapshot.rows[0].reports == 6:
            watcher.on_changed = lambda snapshot: None
            interrupt(record, "job", SOON)
            gate[0].touch()

    watcher.on_changed = interrupt_once
    seen.clear()
    plan = spot(training(STEPS, hyperparameters=gate[1]))
    with Noting.open(record.home) as noting:
        assert train(plan, noting, backend, watcher, StopFlag()).status == "Completed"
    assert training_job(record, "job").attempt == 2
    assert seen[-1] == ("Completed", "Completed")
    assert set(seen[:-1]) == {("InProgress", "InProgress")}


def test_a_job_without_a_checkpoint_path_begins_again_from_nothing(record, training, launch, gate):
    launcher = launch(replace(training(STEPS, hyperparameters=gate[1]), spot=True, max_wait=3600))
    until(lambda: begun(record, 6))
    (job,) = interrupt(record, "job", SOON)
    until(lambda: again(record, job))
    assert "from nothing: it has no CheckpointConfig" in again(record, job)
    until(lambda: record.read("SELECT 1 FROM points WHERE iteration = 6 AND attempt = 2"))
    first = record.read("SELECT MIN(iteration) AS first FROM points WHERE attempt = 2")
    assert first[0]["first"] == 1
    gate[0].touch()
    assert ends(launcher)[-1] == "Completed"
    assert_each_point_once(record)


def test_hyperband_goes_on_with_its_record_when_all_of_its_jobs_are_interrupted_again_and_again(
    record, tuning, redefined, launch, spot, tmp_path
):
    gate = tmp_path / "gate"
    held = {"gate": str(gate), "until": "2"}  # 2 reports are no rung, so that none that waits is stopped
    plan = tuning(OWN_FOLDER, jobs=6, parallel=2, max_resource=9, hyperparameters=held)
    plan = redefined(plan, training=spot(plan.definitions[0].training))
    launcher = launch(plan)
    until(lambda: record.read("SELECT 1 FROM training_jobs WHERE reports = 2"))
    assert interrupt(record, "tuning", Interruption(grace=0.0))
    gate.touch()
    for number in range(2, 5):
        until(
            lambda number=number: (
                record.read("SELECT COUNT(*) AS number FROM points")[0]["number"] >= 6 * number
                or launcher.poll() is not None
            )
        )
        try:
            interrupt(record, "tuning", Interruption(grace=0.0))
        except InputError:
            continue  # none of its jobs trains in this very moment
    assert ends(launcher)[-1] == "Completed"
    rows = training_jobs(record)
    assert len(rows) == 6
    assert any(row.attempt > 1 for row in rows)
    assert {row.status for row in rows} <= {"Completed", "Stopped"}
    assert_each_point_once(record)
    assert_decisions_replay(record, plan)


def test_a_stop_while_a_job_is_interrupted_is_its_end(record, training, launch, spot, gate):
    deaf = "import signal\nsignal.signal(15, signal.SIG_IGN)\n" + STEPS
    launcher = launch(spot(training(deaf, hyperparameters=gate[1])))
    until(lambda: begun(record, 6))
    interrupt(record, "job", Interruption(grace=600.0))
    until(lambda: training_job(record, "job").secondary_status == "Interrupted")
    with pytest.raises(InputError, match="no hosts that could be interrupted now: job is Interrupted"):
        interrupt(record, "job", SOON)
    request_stop(record, "job", 0.1)
    assert ends(launcher)[-1] == "Stopped"
    row = training_job(record, "job")
    assert (row.attempt, row.stop["kind"]) == (1, "user")


class StoppedBetween(ProcessBackend):
    """Somebody asks for a job's stop when its hosts are gone and its next supervisor is not there yet."""

    record: Record

    def restart(self, plan: TrainingPlan, folder: Path, **words: Any) -> None:
        request_stop(self.record, plan.name, 5.0)
        super().restart(plan, folder, **words)


def test_a_stop_between_two_attempts_is_not_lost(record, training, watcher, spot, gate):
    def interrupt_once(snapshot):
        if snapshot.rows[0].reports == 6 and training_job(record, "job").attempt == 1:
            watcher.on_changed = lambda snapshot: None
            interrupt(record, "job", SOON)

    watcher.on_changed = interrupt_once
    with closing(StoppedBetween(lease_seconds=60.0)) as backend:
        backend.record = record
        plan = spot(training(STEPS, hyperparameters=gate[1]))
        assert train(plan, record, backend, watcher, StopFlag(), grace=5.0).status == "Stopped"
    assert training_job(record, "job").attempt == 2


def test_a_job_whose_longest_wait_is_over_has_stopped_and_says_why(record, training, launch, spot, gate):
    launcher = launch(replace(spot(training(STEPS, hyperparameters=gate[1])), max_wait=8))
    until(lambda: begun(record, 1))
    interrupt(record, "job", Interruption(grace=0.0, away=600.0))
    assert ends(launcher)[-1] == "Stopped"
    document = show(record, "job")
    assert (document["status"], document["secondary_status"]) == ("Stopped", "MaxWaitTimeExceeded")
    assert document["stop"]["reason"] == "Stopped because it waited and ran for 8 s (MaxWaitTimeInSeconds)."


def test_what_cannot_be_interrupted_is_refused_with_what_to_do(
    record, training, launch, spot, gate, supervisors
):
    with pytest.raises(InputError, match="There is no job 'nothing'"):
        interrupt(record, "nothing", SOON)
    launcher = launch(training(STEPS, hyperparameters=gate[1]))
    until(lambda: begun(record, 6))
    with pytest.raises(InputError, match=r"job is no spot job.*spot_seconds.*EnableManagedSpotTraining"):
        interrupt(record, "job", SOON)
    gate[0].touch()
    ends(launcher)
    launcher = launch(spot(training(STEPS, name="over")))
    assert ends(launcher)[-1] == "Completed"
    with pytest.raises(InputError, match="over is over already: Completed"):
        interrupt(record, "over", SOON)
    gate[0].unlink()
    launcher = launch(replace(spot(training(STEPS, name="alone", hyperparameters=gate[1])), checkpoints=None))
    until(lambda: record.read("SELECT 1 FROM training_jobs WHERE name = 'alone' AND reports >= 6"))
    kill([launcher.pid])
    launcher.wait()
    with pytest.raises(InputError, match="bandstand train --resume alone"):
        interrupt(record, "alone", SOON)
    kill(supervisors(record.folder("alone")))
    until(lambda: show(record, "alone")["status"] in ("Failed", "Stopped"))
    with pytest.raises(InputError, match=r"Nobody runs alone any more.*bandstand train --resume alone"):
        interrupt(record, "alone", SOON)
    gate[0].touch()


def test_a_job_that_loses_its_supervisor_begins_again_as_often_as_its_retry_strategy_says(
    record, training, launch, spot, gate, supervisors
):
    plan = replace(training(STEPS, hyperparameters=gate[1]), checkpoints=spot(training(STEPS)).checkpoints)
    launcher = launch(replace(plan, retries=2))
    for attempt in (1, 2, 3):
        until(
            lambda attempt=attempt: record.read(
                "SELECT 1 FROM points WHERE iteration = 6 AND attempt = ?", (attempt,)
            )
        )
        kill(supervisors(record.folder("job")))
    lines = ends(launcher)
    assert lines[-1] == "Failed"
    assert [line for line in lines if "is started again" in line] == [
        "job is started again, for attempt 2",
        "job is started again, for attempt 3",
    ]
    row = training_job(record, "job")
    assert row.attempt == 3
    assert "supervisor ended without a word" in row.failure_reason
    assert [status for status, _, _ in row.transitions] == [
        *("Starting", "Downloading", "Training") * 3,
        "Failed",
    ]
    assert_each_point_once(record)


def test_a_training_job_of_a_tuning_job_that_loses_its_supervisor_once_completes_with_a_retry(
    record, tuning, redefined, launch, gate, supervisors, tmp_path
):
    plan = tuning(OWN_FOLDER, jobs=2, parallel=2, max_resource=None, hyperparameters=gate[1])
    kept = (tmp_path / "kept").as_uri()
    training = replace(plan.definitions[0].training, retries=1, checkpoints=kept)
    launcher = launch(redefined(plan, training=training))
    until(lambda: [row.reports for row in training_jobs(record)] == [6, 6])
    kill(supervisors(training_jobs(record)[0].folder))
    until(lambda: training_jobs(record)[0].attempt == 2)
    gate[0].touch()
    assert ends(launcher)[-1] == "Completed"
    assert [(row.status, row.attempt, row.reports) for row in training_jobs(record)] == [
        ("Completed", 2, 20),
        ("Completed", 1, 20),
    ]
    assert_each_point_once(record)


def test_a_host_that_is_killed_is_not_tried_again(record, training, launch):
    script = "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)"
    launcher = launch(replace(training(script), retries=3))
    assert ends(launcher)[-1] == "Failed"
    assert training_job(record, "job").attempt == 1
