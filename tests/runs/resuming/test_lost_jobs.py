"""Jobs that lost their launcher: those that run go on, the others are begun again, each once."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from bandstand.runs import schema
from bandstand.runs.jobs import KINDS
from bandstand.runs.record import Record
from bandstand.runs.stopping import request_stop
from bandstand.runs.stored import training_jobs
from bandstand.runs.views import jobs, show
from bandstand.study import StudySpec

from .crashing import (
    DEADLINE_SECONDS,
    STEPS,
    assert_decisions_replay,
    assert_each_point_once,
    begun,
    count,
    running,
    until,
)


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
    from bandstand.runs.jobs import TrainingJob, TuningJob
    from bandstand.runs.ledger import Ledger
    from bandstand.runs.stored import add_training_job, add_tuning_job
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


def test_the_run_time_limit_counts_what_was_used_and_not_the_time_in_which_nobody_ran_it(record, tuning):
    from bandstand.runs.jobs import TuningJob
    from bandstand.runs.ownership import Claim
    from bandstand.runs.resuming import claim_tuning
    from bandstand.runs.stored import add_tuning_job

    with record.transaction() as connection:
        add_tuning_job(connection, TuningJob("tuning", "nobody", tuning(STEPS), 7, 5.0, 1000.0))
        connection.execute("UPDATE tuning_jobs SET seen = 1060")
    with Claim.make(record) as claim:
        assert claim_tuning(record, "tuning", claim, 5000.0).used == 60.0
    with record.transaction() as connection:
        connection.execute("UPDATE tuning_jobs SET seen = 5030")
    with Claim.make(record) as claim:
        assert claim_tuning(record, "tuning", claim, 9000.0).used == 90.0


def take_back(store: Path, version: int) -> None:
    """Write a store as an earlier version of the schema has it."""
    earlier = store.with_name("earlier.db")
    with closing(sqlite3.connect(earlier)) as connection:
        for statement in (one for each in schema.MIGRATIONS[:version] for one in each):
            connection.execute(statement)
        connection.execute("ATTACH ? AS later", (str(store),))
        for (table,) in connection.execute(
            "SELECT name FROM main.sqlite_master WHERE type = 'table'"
        ).fetchall():
            if table == "names":  # both kinds shared their names
                for kind in KINDS:
                    named = f"INSERT INTO main.names SELECT name, '{kind}' FROM later.{kind}_jobs"  # noqa: S608
                    connection.execute(named)
                continue
            columns = ", ".join(row[1] for row in connection.execute(f"PRAGMA main.table_info({table})"))
            copy = f"INSERT INTO main.{table} ({columns}) SELECT {columns} FROM later.{table}"  # noqa: S608
            connection.execute(copy)
        connection.execute(f"PRAGMA main.user_version = {version}")
        connection.commit()
    for file in store.parent.glob(f"{store.name}*"):
        file.unlink()
    earlier.rename(store)


@pytest.mark.parametrize("version", range(1, schema.VERSION))
def test_a_home_of_an_earlier_schema_is_brought_up_to_date_and_its_lost_job_resumed(
    record, tuning, launch, crash, mark, version
):
    plan = tuning(STEPS, jobs=3, parallel=1, max_resource=None, environment=dict([mark]))
    launcher = launch(plan)
    until(lambda: any(row.status == "Completed" for row in training_jobs(record)))
    crash(launcher, "everything")
    record.close()
    take_back(record.path, version)
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
