"""Reports of a job that was begun again: each counts once, and what was lost is told of."""

from __future__ import annotations

import json
import re

from bandstand.runs.ledger import history
from bandstand.runs.stored import training_jobs
from bandstand.runs.views import show

from .crashing import (
    DEADLINE_SECONDS,
    STEPS,
    assert_decisions_replay,
    assert_each_point_once,
    begun,
    count,
    points,
    until,
)


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
    assert [step["status"] for step in document["transitions"]].count("Starting") == 2
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
import pathlib, time
import bandstand
run = bandstand.start()
gate = pathlib.Path(run.hyperparameters.text("gate"))
for iteration in run.iterations(12):
    run.report(iteration, {"score": iteration / 2})
    run.checkpoint(iteration, lambda path: path.write_text("state"))
    while iteration == 4 and not gate.exists():
        time.sleep(0.01)
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
