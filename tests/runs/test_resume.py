"""A launcher that was killed hard, and one that takes up what it left: nothing lost, nothing twice."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
import uuid
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from bandstand.runs import schema
from bandstand.runs.ledger import history
from bandstand.runs.record import Record
from bandstand.runs.stopping import request_stop
from bandstand.runs.stored import training_jobs
from bandstand.runs.views import jobs, show
from bandstand.study import StudySpec, replay

LAUNCH = Path(__file__).parent / "launch.py"
DEADLINE_SECONDS = 120.0

STEPS = """
import fcntl, os, pathlib, sys, time

def setting(name, default):
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else default

rate, count, every = float(setting("--rate", 0.5)), int(setting("--count", 20)), int(setting("--every", 4))
folder = pathlib.Path(os.environ.get("SAGEMAKER_BASE_DIR", "/opt/ml"), "checkpoints")
lock = open(folder / "lock", "w")
fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # fails where the job runs already
saved = folder / "iteration"
begin = int(saved.read_text()) if every and saved.exists() else 0
for iteration in range(begin + 1, count + 1):
    print(f"iteration={iteration} score={rate * iteration} loss={1 / iteration}", flush=True)
    if every and iteration % every == 0:
        (folder / "fresh").write_text(str(iteration))
        (folder / "fresh").rename(saved)
    gate = setting("--gate", "")
    while gate and iteration >= int(setting("--until", 0)) and not pathlib.Path(gate).exists():
        time.sleep(0.01)
    time.sleep(0.01)
pathlib.Path(os.environ["SM_MODEL_DIR"], "model").write_text(f"{rate} {iteration}")
"""


def until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.005)


@pytest.fixture
def mark() -> tuple[str, str]:
    return "BANDSTAND_TEST_MARK", uuid.uuid4().hex


@pytest.fixture
def launch(tmp_path):
    started = []

    def start(plan, lease: float = 60.0) -> subprocess.Popen[str]:
        text = plan if isinstance(plan, str) else json.dumps(plan.to_dict())
        words = [sys.executable, str(LAUNCH), str(tmp_path / "home"), text, "5", str(lease)]
        started.append(subprocess.Popen(words, stdout=subprocess.PIPE, text=True))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()


def running(mark: tuple[str, str]) -> list[int]:
    """Processes whose environment has a mark, the hosts of a test's jobs and all they started."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and "=".join(mark).encode() in (entry / "environ").read_bytes():
                found.append(int(entry.name))
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue
    return found


def kill(processes: list[int]) -> None:
    for process in processes:
        try:
            os.kill(process, signal.SIGKILL)
        except ProcessLookupError:
            continue


@pytest.fixture
def crash(record, supervisors, mark):
    """Kills a launcher; with it the supervisors, or everything."""

    def all_at_once(launcher: subprocess.Popen[str], reach: str) -> None:
        folders = [row.folder for row in training_jobs(record)] if reach != "launcher" else []
        victims = [launcher.pid, *(process for folder in folders for process in supervisors(folder))]
        kill([*victims, *(running(mark) if reach == "everything" else [])])
        launcher.wait()

    return all_at_once


def points(record: Record, job: str = "%") -> list[tuple[str, str, int, float]]:
    rows = record.read("SELECT * FROM points WHERE job LIKE ? ORDER BY job, seq", (job,))
    return [(row["job"], row["name"], row["iteration"], row["value"]) for row in rows]


def count(record: Record, table: str = "points") -> int:
    return record.read(f"SELECT COUNT(*) FROM {table}")[0][0]  # noqa: S608 - a table of ours


def ended(record: Record) -> dict[str, tuple[dict, bytes]]:
    """What is known of every training job that is over for good, and its model."""
    found = {}
    for row in training_jobs(record):
        if row.over and not row.interrupted:
            model = Path(row.model).read_bytes() if row.model else b""
            found[row.name] = (show(record, row.name), model)
    return found


def assert_each_point_once(record: Record) -> None:
    for row in training_jobs(record):
        rate = float(row.settings.get("rate", 0.5))
        for metric, value in (("score", lambda n, rate=rate: rate * n), ("loss", lambda n: 1 / n)):
            of_it = [
                (iteration, found) for _, name, iteration, found in points(record, row.name) if name == metric
            ]
            assert of_it == [(n, value(n)) for n in range(1, len(of_it) + 1)], row.name


def assert_decisions_replay(record: Record, plan) -> None:
    again = replay(StudySpec.from_plan(plan, 7), history(record, "tuning"))
    assert again.differences == ()
    document = show(record, "tuning")
    best = again.study.best()
    assert (document["best"] or {}).get("number") == (best[0] if best else None)
    for row in document["training_jobs"]:
        assert again.study.reports(row["number"]) == row["iterations"]


@pytest.mark.parametrize("seed", range(15))
def test_a_tuning_job_killed_at_random_moments_goes_on_to_the_same_end(
    record, tuning, launch, crash, mark, seed
):
    choose = random.Random(seed)
    plan = tuning(STEPS, jobs=6, parallel=2, environment=dict([mark]))
    lease = choose.choice((1.0, 60.0))
    launcher = launch(plan, lease)
    kept: dict[str, tuple[dict, bytes]] = {}
    for _ in range(choose.randrange(1, 4)):
        goal = count(record, "events") + choose.randrange(1, 25)
        until(partial(reached, record, goal, launcher))
        crash(launcher, choose.choice(("launcher", "supervisors", "everything")))
        if lease == 1.0 and choose.random() < 0.5:
            until(lambda: show(record, "tuning")["status"] not in ("InProgress", "Stopping"))
        if show(record, "tuning")["status"] == "Completed":
            break
        kept = ended(record)
        launcher = launch("tuning", lease)
    else:
        assert launcher.communicate(timeout=DEADLINE_SECONDS)[0].splitlines()[-1] == "Completed"
    after = ended(record)
    assert {name: after[name] for name in kept} == kept
    document = show(record, "tuning")
    assert document["status"] == "Completed", document["failure_reason"]
    assert [row["number"] for row in document["training_jobs"]] == [1, 2, 3, 4, 5, 6]
    assert {row["status"] for row in document["training_jobs"]} <= {"Completed", "Stopped"}, document
    assert_each_point_once(record)
    assert_decisions_replay(record, plan)
    assert running(mark) == []


def reached(record: Record, goal: int, launcher: subprocess.Popen[str]) -> bool:
    return count(record, "events") >= goal or launcher.poll() is not None


def begun(record: Record, iteration: int) -> bool:
    return bool(record.read("SELECT 1 FROM points WHERE iteration >= ?", (iteration,)))


def test_a_job_that_still_runs_goes_on_and_is_not_begun_again(record, tuning, launch, crash, tmp_path, mark):
    gate = {"gate": str(tmp_path / "gate"), "until": "3"}
    plan = tuning(STEPS, jobs=1, max_resource=None, hyperparameters=gate, environment=dict([mark]))
    first = launch(plan)
    until(lambda: begun(record, 3))
    crash(first, "launcher")
    hosts = running(mark)
    second = launch("tuning")
    until(lambda: "goes on: 0 of 1 training jobs have ended, 1 still run" in second.stdout.readline())
    assert running(mark) == hosts
    (tmp_path / "gate").touch()
    assert second.communicate(timeout=DEADLINE_SECONDS)[0].splitlines()[-1] == "Completed"
    (row,) = training_jobs(record)
    assert (row.attempt, row.reports) == (1, 20)
    assert_each_point_once(record)


def test_a_lost_job_goes_on_from_its_checkpoint_and_the_study_hears_each_report_once(
    record, tuning, launch, crash, tmp_path, mark
):
    gate = {"gate": str(tmp_path / "gate"), "until": "10"}
    plan = tuning(STEPS, jobs=1, max_resource=None, hyperparameters=gate, environment=dict([mark]))
    launcher = launch(plan)
    until(lambda: begun(record, 10))
    crash(launcher, "everything")
    until(lambda: show(record, "tuning")["status"] == "Failed")
    interrupted = show(record, "tuning")
    assert interrupted["resumable"]
    assert interrupted["best"] is None
    assert "bandstand tune --resume tuning" in interrupted["failure_reason"]
    assert len(points(record)) == 20
    told = len(history(record, "tuning"))
    launcher = launch("tuning")
    until(lambda: "is started again, for attempt 2" in launcher.stdout.readline())
    until(lambda: show(record, "tuning")["training_jobs"][0]["secondary_status"] == "Training")
    until(lambda: record.read("SELECT 1 FROM points WHERE attempt = 2 AND iteration = 10"))
    assert len(history(record, "tuning")) == told  # iterations 9 and 10 came again
    assert sorted(row[2] for row in points(record) if row[1] == "score") == list(range(1, 11))
    assert_each_point_once(record)
    (tmp_path / "gate").touch()
    assert launcher.communicate(timeout=DEADLINE_SECONDS)[0].splitlines()[-1] == "Completed"
    (row,) = training_jobs(record)
    assert (row.attempt, row.reports, row.iterations) == (2, 20, 20)
    assert row.spent > 0
    document = show(record, row.name)
    assert document["attempts"] == 2
    assert document["billable_seconds"] >= row.spent + (row.ended - row.started)
    assert [step["status"] for step in document["transitions"]].count("Restarting") == 1
    assert_each_point_once(record)
    assert_decisions_replay(record, plan)


def test_a_lost_job_without_checkpoints_begins_anew_and_replaces_what_it_had_reported(
    record, training, launch, crash, tmp_path, mark
):
    settings = {"gate": str(tmp_path / "gate"), "until": "10", "every": "0"}
    script = STEPS.replace('lock = open(folder / "lock", "w")', 'lock = open("/dev/null", "w")').replace(
        "iteration={iteration} score", "epoch: score"
    )
    plan = training(script.replace("fcntl.flock", "#"), hyperparameters=settings, environment=dict([mark]))
    launcher = launch(plan)
    until(lambda: count(record) >= 10)
    crash(launcher, "everything")
    until(lambda: show(record, "job")["resumable"])
    (tmp_path / "gate").touch()
    assert launch("job").communicate(timeout=DEADLINE_SECONDS)[0].splitlines()[-1] == "Completed"
    assert [(name, iteration) for _, name, iteration, _ in points(record)] == [
        ("score", number) for number in range(1, 21)
    ]
    assert training_jobs(record)[0].reports == 20


def test_lines_without_numbers_go_on_where_the_library_says_that_the_job_does(
    record, training, launch, crash, tmp_path, mark
):
    script = """
import pathlib, time
import bandstand
run = bandstand.start()
gate = pathlib.Path(run.hyperparameters.text("gate"))
for iteration in run.iterations(12):
    print(f"epoch done, score={iteration / 2}", flush=True)
    run.checkpoint(iteration, lambda path: path.write_text("state"), every=3)
    while iteration == 8 and not gate.exists():
        time.sleep(0.01)
"""
    metrics = (("score", "score=([0-9.]+)"),)
    settings = {"gate": str(tmp_path / "gate")}
    plan = training(script, hyperparameters=settings, metrics=metrics, environment=dict([mark]))
    launcher = launch(plan)
    until(lambda: begun(record, 8))
    crash(launcher, "everything")
    (tmp_path / "gate").touch()
    assert launch("job").communicate(timeout=DEADLINE_SECONDS)[0].splitlines()[-1] == "Completed"
    assert [(iteration, value) for _, _, iteration, value in points(record)] == [
        (number, number / 2) for number in range(1, 13)
    ]
    assert training_jobs(record)[0].resume_point == 6
    assert training_jobs(record)[0].warnings == ()


AHEAD = """
import os, pathlib
import bandstand
run = bandstand.start()
gate = pathlib.Path(run.hyperparameters.text("gate"))
for iteration in run.iterations(12):
    run.report(iteration, {"score": iteration / 2})
    run.checkpoint(iteration, lambda path: path.write_text("state"))
    while iteration == 4 and not gate.exists():
        pass
"""


def test_reports_that_were_lost_and_do_not_come_again_are_told_of(
    record, training, launch, crash, tmp_path, mark
):
    gate = {"gate": str(tmp_path / "gate"), "until": "10"}
    launcher = launch(training(STEPS, hyperparameters=gate, environment=dict([mark])))
    until(lambda: begun(record, 10))
    crash(launcher, "everything")
    (saved,) = record.folder("job").rglob("checkpoints/iteration")
    saved.write_text("12")  # as if 11 and 12 had been trained, and nobody had read their lines any more
    (tmp_path / "gate").touch()
    assert launch("job").communicate(timeout=DEADLINE_SECONDS)[0].splitlines()[-1] == "Completed"
    (row,) = training_jobs(record)
    assert row.reports == 18
    assert "between iteration 10 and iteration 13 were lost" in row.warnings[0]


def test_reports_that_were_lost_on_their_way_come_again_from_the_checkpoint(
    record, training, launch, crash, tmp_path, mark
):
    plan = training(AHEAD, hyperparameters={"gate": str(tmp_path / "gate")}, environment=dict([mark]))
    launcher = launch(plan)
    until(lambda: begun(record, 4))
    crash(launcher, "everything")
    log = next(record.folder("job").rglob("algo-1.log"))
    lines = [line for line in log.read_text().splitlines(True) if not re.search("iteration=[34] ", line)]
    log.write_text("".join(lines))  # as if nobody had read them out of the pipe any more
    with record.transaction() as connection:
        connection.execute("DELETE FROM points WHERE iteration > 2")
        row = (2, 2, 1.0, json.dumps({"algo-1": log.stat().st_size}))
        connection.execute(
            "UPDATE training_jobs SET reports = ?, iterations = ?, objective = ?, offsets = ?", row
        )
    (tmp_path / "gate").touch()
    assert launch("job").communicate(timeout=DEADLINE_SECONDS)[0].splitlines()[-1] == "Completed"
    assert [(iteration, value) for _, _, iteration, value in points(record)] == [
        (number, number / 2) for number in range(1, 13)
    ]
    assert training_jobs(record)[0].warnings == ()


def test_lines_without_numbers_that_may_be_counted_twice_are_warned_of(
    record, training, launch, crash, tmp_path, mark
):
    settings = {"gate": str(tmp_path / "gate"), "until": "10"}
    script = STEPS.replace("iteration={iteration} score", "epoch: score")
    plan = training(script, hyperparameters=settings, environment=dict([mark]))
    launcher = launch(plan)
    until(lambda: count(record) >= 10)
    crash(launcher, "everything")
    (tmp_path / "gate").touch()
    assert launch("job").communicate(timeout=DEADLINE_SECONDS)[0].splitlines()[-1] == "Completed"
    (row,) = training_jobs(record)
    assert row.reports == 22  # 9 and 10 came twice
    (warning,) = row.warnings
    assert "is counted twice" in warning


def test_a_stop_that_was_decided_before_the_crash_is_carried_out_and_nothing_is_begun_again(
    record, tuning, launch, crash, tmp_path, mark
):
    gate = {"gate": str(tmp_path / "gate"), "until": "3"}
    script = "import signal\nsignal.signal(15, signal.SIG_IGN)\n" + STEPS
    plan = tuning(script, jobs=1, max_resource=3, hyperparameters=gate, environment=dict([mark]))
    launcher = launch(plan)
    until(lambda: training_jobs(record) and training_jobs(record)[0].stop)
    crash(launcher, "everything")
    assert launch("tuning").communicate(timeout=DEADLINE_SECONDS)[0].splitlines()[-1] == "Completed"
    (row,) = training_jobs(record)
    assert (row.status, row.attempt, row.reports, row.stop["kind"]) == ("Stopped", 1, 3, "max_resource")
    assert_decisions_replay(record, plan)


def test_a_job_written_down_but_never_handed_in_is_handed_in(record, tuning, launch, mark):
    from bandstand.runs.ledger import Ledger
    from bandstand.runs.stored import TrainingJob, TuningJob, add_training_job, add_tuning_job
    from bandstand.study import Study

    plan = tuning(STEPS, jobs=2, max_resource=None, environment=dict([mark]))
    ledger = Ledger(record, "tuning", Study(StudySpec.from_plan(plan, 7)))
    with record.transaction() as connection:
        add_tuning_job(connection, TuningJob("tuning", "nobody", plan, 7, 5.0, time.time()))
        for start in ledger.study.ask():
            one = plan.training(start.trial, dict(start.settings))
            folder = record.folder(one.name)
            job = TrainingJob(
                one.name, "tuning", start.trial, "nobody", "processes", folder, one, dict(start.settings),
                5.0, time.time(),
            )  # fmt: skip
            add_training_job(connection, job)
            ledger.start(connection, start, one.name, time.time())
    half = training_jobs(record)[1].folder
    half.mkdir()
    (half / "plan.json").write_text("{")  # the launcher was killed while it handed the job in
    assert show(record, "tuning")["status"] == "Failed"
    assert launch("tuning").communicate(timeout=DEADLINE_SECONDS)[0].splitlines()[-1] == "Completed"
    assert [(row.status, row.attempt, row.reports) for row in training_jobs(record)] == [
        ("Completed", 1, 20),
        ("Completed", 1, 20),
    ]
    assert_each_point_once(record)
    assert_decisions_replay(record, plan)


def test_looking_at_a_lost_job_again_and_again_leaves_it_resumable(record, tuning, launch, crash, mark):
    plan = tuning(STEPS, jobs=3, max_resource=None, environment=dict([mark]))
    launcher = launch(plan)
    until(lambda: count(record) >= 6)
    crash(launcher, "everything")
    for _ in range(3):
        assert jobs(record)[0]["status"] == "Failed"
        assert show(record, "tuning")["resumable"]
    assert "is over already" in request_stop(record, "tuning")
    assert launch("tuning").communicate(timeout=DEADLINE_SECONDS)[0].splitlines()[-1] == "Completed"
    document = show(record, "tuning")
    assert (document["status"], document["failure_reason"], document["resumable"]) == (
        "Completed",
        None,
        False,
    )
    assert_each_point_once(record)


def test_of_two_that_resume_at_once_one_says_who_does_it_and_leaves(
    record, tuning, launch, crash, mark, tmp_path
):
    gate = {"gate": str(tmp_path / "gate"), "until": "3"}
    plan = tuning(STEPS, jobs=1, max_resource=None, hyperparameters=gate, environment=dict([mark]))
    launcher = launch(plan)
    until(lambda: begun(record, 3))
    crash(launcher, "everything")
    both = [launch("tuning"), launch("tuning")]
    until(lambda: any(each.poll() is not None for each in both))
    (second,) = [each for each in both if each.poll() is not None]
    (first,) = [each for each in both if each is not second]
    assert second.returncode == 2
    assert f"process {first.pid} on " in second.stdout.read()
    (tmp_path / "gate").touch()
    assert first.communicate(timeout=DEADLINE_SECONDS)[0].splitlines()[-1] == "Completed"
    assert training_jobs(record)[0].attempt == 2
    assert_each_point_once(record)


def test_what_cannot_be_resumed_is_told_why(record, tuning, training, launch, crash, mark, tmp_path):
    plan = tuning(STEPS, jobs=1, max_resource=None, hyperparameters={"count": "3"}, environment=dict([mark]))
    assert launch(plan).communicate(timeout=DEADLINE_SECONDS)[0].splitlines()[-1] == "Completed"
    over = launch("tuning")
    assert "tuning is over already: Completed." in over.communicate()[0]
    part = launch(training_jobs(record)[0].name)
    assert "which goes on as a whole: bandstand tune --resume tuning" in part.communicate()[0]
    unknown = launch("tunning")
    assert "Did you mean 'tuning'" in unknown.communicate()[0]
    assert [over.returncode, part.returncode, unknown.returncode] == [2, 2, 2]


def test_a_job_whose_code_is_gone_is_left_as_it_is_and_one_whose_code_has_changed_is_told_of(
    record, training, launch, crash, tmp_path, mark
):
    gate = {"gate": str(tmp_path / "gate"), "until": "3"}
    plan = training(STEPS, hyperparameters=gate, environment=dict([mark]))
    launcher = launch(plan)
    until(lambda: begun(record, 3))
    crash(launcher, "everything")
    code = next((tmp_path / "code").iterdir())
    code.rename(tmp_path / "away")
    refused = launch("job")
    assert f"job cannot go on. the code: {code} is gone. Put it back" in refused.communicate()[0]
    assert show(record, "job")["resumable"]
    code.mkdir()
    (tmp_path / "away" / "train.py").rename(tmp_path / "train.py")
    (tmp_path / "away" / "other.py").touch()
    assert f"the code: {code} is empty." in launch("job").communicate()[0]
    code.rmdir()
    (tmp_path / "away").rename(code)
    assert f"the program: {code / 'train.py'} is gone. Put it back" in launch("job").communicate()[0]
    assert show(record, "job")["resumable"]
    (code / "train.py").write_text(STEPS + "\n")
    (tmp_path / "gate").touch()
    said = launch("job").communicate(timeout=DEADLINE_SECONDS)[0]
    assert "the code has changed since the job began" in said
    assert said.splitlines()[-1] == "Completed"


def test_the_run_time_limit_counts_what_was_used_and_not_the_time_in_which_nobody_ran_it(record, tuning):
    from bandstand.runs.ownership import Claim
    from bandstand.runs.resuming import claim_tuning
    from bandstand.runs.stored import TuningJob, add_tuning_job

    with record.transaction() as connection:
        add_tuning_job(connection, TuningJob("tuning", "nobody", tuning(STEPS), 7, 5.0, 1000.0))
        connection.execute("UPDATE tuning_jobs SET seen = 1060")
    with Claim.make(record) as claim:
        assert claim_tuning(record, "tuning", claim, 5000.0).used == 60.0
    with record.transaction() as connection:
        connection.execute("UPDATE tuning_jobs SET seen = 5030")
    with Claim.make(record) as claim:
        assert claim_tuning(record, "tuning", claim, 9000.0).used == 90.0


def test_a_home_of_an_earlier_schema_is_brought_up_to_date_and_its_lost_job_resumed(
    record, tuning, launch, crash, mark
):
    plan = tuning(STEPS, jobs=3, parallel=1, max_resource=None, environment=dict([mark]))
    launcher = launch(plan)
    until(lambda: any(row.status == "Completed" for row in training_jobs(record)))
    crash(launcher, "everything")
    added = [statement.split() for statement in schema.MIGRATIONS[1]]
    for _, _, table, _, _, column, *_ in added:
        record.read(f"ALTER TABLE {table} DROP COLUMN {column}")
    record.read("PRAGMA user_version = 1")
    record.close()
    with Record.open(record.home) as again:
        assert [row.attempt for row in training_jobs(again)] == [1] * len(training_jobs(again))
        assert launch("tuning").communicate(timeout=DEADLINE_SECONDS)[0].splitlines()[-1] == "Completed"
        assert show(again, "tuning")["status"] == "Completed"
        assert_each_point_once(again)
        assert_decisions_replay(again, plan)


def test_a_job_that_loses_its_owner_twice_is_begun_a_third_time(
    record, training, launch, crash, tmp_path, mark
):
    gate = {"gate": str(tmp_path / "gate"), "until": "6"}
    launcher = launch(training(STEPS, hyperparameters=gate, environment=dict([mark])))
    for attempt in (1, 2):
        until(
            lambda attempt=attempt: record.read(
                "SELECT 1 FROM points WHERE iteration = 6 AND attempt = ?", (attempt,)
            )
        )
        crash(launcher, "everything")
        launcher = launch("job")
    (tmp_path / "gate").touch()
    assert launcher.communicate(timeout=DEADLINE_SECONDS)[0].splitlines()[-1] == "Completed"
    assert training_jobs(record)[0].attempt == 3
    assert_each_point_once(record)


def test_a_job_that_is_just_being_stopped_for_want_of_an_owner_is_begun_again_when_it_has_stopped(
    record, training, launch, crash, backend, tmp_path, mark
):
    gate = {"gate": str(tmp_path / "gate"), "until": "6"}
    script = "import signal\nsignal.signal(15, signal.SIG_IGN)\n" + STEPS
    launcher = launch(training(script, hyperparameters=gate, environment=dict([mark])), lease=1.0)
    until(lambda: begun(record, 6))
    crash(launcher, "launcher")
    until(lambda: backend.describe(record.folder("job")).status == "Stopping")
    second = launch("job")
    until(lambda: "is started again, for attempt 2" in second.stdout.readline())
    (tmp_path / "gate").touch()
    assert second.communicate(timeout=DEADLINE_SECONDS)[0].splitlines()[-1] == "Completed"
    assert training_jobs(record)[0].attempt == 2
    assert_each_point_once(record)


def test_a_restarted_job_whose_program_fails_has_failed_and_is_not_resumable(
    record, training, launch, crash, tmp_path, mark
):
    gate = {"gate": str(tmp_path / "gate"), "until": "3"}
    script = STEPS + "\nraise KeyError('target')\n"
    launcher = launch(training(script, hyperparameters=gate, environment=dict([mark])))
    until(lambda: begun(record, 3))
    crash(launcher, "everything")
    (tmp_path / "gate").touch()
    assert launch("job").communicate(timeout=DEADLINE_SECONDS)[0].splitlines()[-1] == "Failed"
    document = show(record, "job")
    assert "KeyError: 'target'" in document["failure_reason"]
    assert not document["resumable"]
    assert "is over already: Failed" in launch("job").communicate()[0]


def test_no_iteration_of_a_metric_is_there_twice(record, tuning, launch, crash, mark):
    plan = tuning(STEPS, jobs=2, max_resource=None, environment=dict([mark]))
    launcher = launch(plan)
    until(lambda: count(record) >= 20)
    crash(launcher, "supervisors")
    assert launch("tuning").communicate(timeout=DEADLINE_SECONDS)[0].splitlines()[-1] == "Completed"
    seen = Counter((job, name, iteration) for job, name, iteration, _ in points(record))
    assert set(seen.values()) == {1}
    assert len(seen) == 2 * 2 * 20
