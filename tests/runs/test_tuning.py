from __future__ import annotations

import os
import signal
import threading
from dataclasses import replace

import pytest

from bandstand.cores import usable_cores
from bandstand.errors import InputError, PlatformError
from bandstand.request.plan import ChannelPlan
from bandstand.runs.clock import SystemClock
from bandstand.runs.launcher import threads_per_rank
from bandstand.runs.ledger import history
from bandstand.runs.live import StopFlag, tune
from bandstand.runs.record import Record
from bandstand.runs.views import jobs, show
from bandstand.study import StudySpec, replay

HEAD = """
import os, signal, sys, time
rate = float(sys.argv[sys.argv.index("--rate") + 1])
number = int(os.environ["TRAINING_JOB_NAME"].split("-")[-2])
def report(iteration, value):
    print(f"iteration={iteration} score={value}", flush=True)
"""

NINE = (
    HEAD
    + """
for iteration in range(1, 10):
    report(iteration, rate * iteration)
"""
)

ENDLESS = (
    HEAD
    + """
iteration = 0
while True:
    iteration += 1
    report(iteration, rate * iteration)
    time.sleep(0.005)
"""
)

SILENT_AND_ENDLESS = (
    HEAD
    + """
while True:
    signal.pause()
"""
)


def test_a_tuning_job_runs_to_its_end_and_replays_to_the_same_decisions_and_winner(
    record, backend, watcher, tuning
):
    plan = tuning(ENDLESS, jobs=6, parallel=3, hyperparameters={"epochs": "100"})
    outcome = tune(plan, record, backend, watcher, StopFlag(), grace=5)
    assert outcome.status == "Completed"

    document = show(record, "tuning")
    again = replay(StudySpec.from_plan(plan, 7), history(record, "tuning"))
    assert again.differences == ()
    number, objective = again.study.best()
    assert document["best"]["number"] == number
    assert document["best"]["final_objective"] == objective

    rows = document["training_jobs"]
    assert [row["number"] for row in rows] == [1, 2, 3, 4, 5, 6]
    for row in rows:
        assert row["status"] == "Stopped"
        assert row["stop"]["kind"] in ("rung", "max_resource")
        points = show(record, row["name"])["metrics"]
        assert [point["iteration"] for point in points] == list(range(1, row["iterations"] + 1))
        assert row["final_objective"] == points[-1]["value"]
        assert row["instance_seconds"] == row["billable_seconds"] >= 1
        named = [{"training_job": row["name"], **point} for point in points]
        assert [each for each in document["metrics"] if each["training_job"] == row["name"]] == named
    savings = document["savings"]
    assert savings["asked"] == 600
    assert savings["run"] == sum(row["iterations"] for row in rows)
    by_rung = sum(row["stop"]["kind"] == "rung" for row in rows)
    assert sum(savings["stopped_at"].values()) == by_rung
    assert savings["reached_max_resource"] == 6 - by_rung


def test_the_last_picture_and_the_sentences_tell_the_whole_run(record, backend, watcher, tuning):
    tune(tuning(NINE, jobs=3, max_resource=None), record, backend, watcher, StopFlag())
    last = watcher.snapshots[-1]
    assert (last.status, last.total, last.ended, last.running, last.failed) == ("Completed", 3, 3, 0, 0)
    assert last.reports_run == 27
    assert last.best.objective == max(row.objective for row in last.rows)
    assert sum(" started: rate=" in sentence for sentence in watcher.sentences) == 3
    assert sum(" completed after 9 reports" in sentence for sentence in watcher.sentences) == 3


def test_five_first_failures_end_the_tuning_job_and_stop_what_runs(record, backend, watcher, tuning):
    script = HEAD + "if number != 2: sys.exit('no luck')\nsignal.pause()"
    outcome = tune(tuning(script, jobs=30, parallel=3), record, backend, watcher, StopFlag(), grace=5)
    assert outcome.status == "Failed"
    assert outcome.failure_reason.startswith("No training job succeeded after")
    assert "Training job 1 failed: " in outcome.failure_reason
    assert "no luck" in outcome.failure_reason
    assert "was never reported" not in outcome.failure_reason
    rows = show(record, "tuning")["training_jobs"]
    assert sum(row["status"] == "Failed" for row in rows) >= 5
    assert len(rows) < 10
    second = rows[1]
    assert second["status"] == "Stopped"
    assert second["stop"]["kind"] == "failures"


def test_one_failure_among_others_is_told_and_the_tuning_goes_on(record, backend, watcher, tuning):
    script = NINE + "if number == 2: raise ValueError('broken on purpose')"
    outcome = tune(tuning(script, jobs=4, max_resource=None), record, backend, watcher, StopFlag())
    assert outcome.status == "Completed"
    rows = show(record, "tuning")["training_jobs"]
    assert [row["status"] for row in rows] == ["Completed", "Failed", "Completed", "Completed"]
    assert "ValueError: broken on purpose" in rows[1]["failure_reason"]
    assert show(record, "tuning")["best"]["number"] != 2


def test_no_objective_at_all_fails_with_the_pattern_and_the_closest_lines(record, backend, watcher, tuning):
    plan = tuning("print('the Score is 0.9')", jobs=2)
    outcome = tune(plan, record, backend, watcher, StopFlag())
    assert outcome.status == "Failed"
    assert "2 of them completed without reporting the objective" in outcome.failure_reason
    assert plan.definitions[0].training.metrics[0][1] in outcome.failure_reason
    assert "the Score is 0.9" in outcome.failure_reason
    assert show(record, "tuning")["best"] is None


def test_objectives_reported_once_at_the_end_are_warned_of(record, backend, watcher, tuning):
    tune(tuning(HEAD + "report(9, rate)", jobs=2), record, backend, watcher, StopFlag())
    warnings = show(record, "tuning")["warnings"]
    assert any("2 of 2 training jobs reported the objective once, at the end" in each for each in warnings)


class FastClock(SystemClock):
    """Runs normally until it is told that a long time has passed."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def monotonic(self) -> float:
        return super().monotonic() + self.ahead


def test_the_run_time_limit_of_the_tuning_job_stops_it_with_a_result(record, backend, watcher, tuning):
    clock = FastClock()

    def later(snapshot):
        if any(row.reports for row in snapshot.rows):
            clock.ahead = 5000.0

    watcher.on_changed = later
    plan = tuning(ENDLESS, jobs=30, max_resource=10_000, min_resource=5_000, max_runtime=3600)
    outcome = tune(plan, record, backend, watcher, StopFlag(), grace=5, clock=clock)
    assert outcome.status == "Completed"
    document = show(record, "tuning")
    assert {row["status"] for row in document["training_jobs"]} == {"Stopped"}
    assert {row["stop"]["kind"] for row in document["training_jobs"]} == {"runtime"}
    assert document["best"] is not None


def test_the_first_ctrl_c_stops_all_jobs_cleanly(record, backend, watcher, tuning):
    flag = StopFlag()
    watcher.on_changed = lambda snapshot: flag.ask() if snapshot.reports_run else None
    plan = tuning(ENDLESS, jobs=30, max_resource=10_000, min_resource=5_000)
    outcome = tune(plan, record, backend, watcher, flag, grace=5)
    assert outcome.status == "Stopped"
    rows = show(record, "tuning")["training_jobs"]
    assert {row["status"] for row in rows} == {"Stopped"}
    assert {row["stop"]["kind"] for row in rows} == {"user"}


def test_the_second_ctrl_c_kills_what_ignores_the_first(record, backend, watcher, tuning):
    flag = StopFlag()
    script = HEAD + "signal.signal(15, signal.SIG_IGN)\nreport(1, rate)\nwhile True: signal.pause()"

    def press(snapshot):
        if flag.asked and snapshot.status == "Stopping":
            flag.kill()
        elif [row.reports for row in snapshot.rows] == [1, 1]:
            flag.ask()

    watcher.on_changed = press
    outcome = tune(tuning(script, jobs=2, max_resource=5), record, backend, watcher, flag, grace=600)
    assert outcome.status == "Stopped"
    hosts = [
        host for row in show(record, "tuning")["training_jobs"] for host in show(record, row["name"])["hosts"]
    ]
    assert all(host["exit_code"] not in (None, 0) for host in hosts)


def test_a_job_that_does_not_even_answer_a_kill_is_given_up(record, backend, watcher, tuning, supervisors):
    clock, flag, frozen = FastClock(), StopFlag(), []

    def freeze_then_kill(snapshot):
        if flag.killed:
            clock.ahead = 1000.0
        elif snapshot.reports_run:
            frozen.extend(supervisors(record.folder(snapshot.rows[0].name)))
            os.kill(frozen[0], signal.SIGSTOP)
            flag.kill()

    watcher.on_changed = freeze_then_kill
    plan = tuning(ENDLESS, jobs=1, max_resource=10_000, min_resource=5_000)
    try:
        outcome = tune(plan, record, backend, watcher, flag, clock=clock)
    finally:
        for process in frozen:
            os.kill(process, signal.SIGCONT)
    assert outcome.status == "Stopped"
    (row,) = show(record, "tuning")["training_jobs"]
    assert row["status"] == "Failed"
    assert "given up" in row["failure_reason"]


def test_jobs_that_cannot_be_started_count_as_failed_with_the_reason(
    record, backend, watcher, tuning, redefined
):
    plan = tuning(NINE, jobs=30)
    channel = ChannelPlan("train", "s3://bucket/train")
    plan = redefined(plan, training=replace(plan.definitions[0].training, channels=(channel,)))
    outcome = tune(plan, record, backend, watcher, StopFlag())
    assert outcome.status == "Failed"
    reasons = [row["failure_reason"] for row in show(record, "tuning")["training_jobs"]]
    assert len(reasons) in (5, 6)
    assert all("s3://bucket/train" in reason for reason in reasons)


def test_a_taken_name_is_refused_before_anything_starts(record, backend, watcher, tuning):
    tune(tuning(NINE, jobs=1), record, backend, watcher, StopFlag())
    with pytest.raises(InputError, match="taken by another tuning job"):
        tune(tuning(NINE, name="TUNING", jobs=1), record, backend, watcher, StopFlag())
    assert len(jobs(record)) == 1


def test_a_store_that_fails_midway_stops_every_job_and_is_told(record, backend, watcher, tuning):
    def full(snapshot):
        if snapshot.reports_run:
            record.read("PRAGMA max_page_count = 1")

    watcher.on_changed = full
    plan = tuning(ENDLESS, jobs=4, max_resource=10_000, min_resource=5_000)
    with pytest.raises(PlatformError, match="the disk is full"):
        tune(plan, record, backend, watcher, StopFlag(), grace=5)
    folders = backend.list(record.home)
    assert folders
    assert all(backend.describe(folder).stop_requested for folder in folders)


def test_two_launchers_share_a_home(record, backend, watcher, tuning):
    outcomes = []

    def run(name: str) -> None:
        with Record.open(record.home) as own:
            outcomes.append(tune(tuning(NINE, name=name, jobs=3), own, backend, watcher, StopFlag()))

    threads = [threading.Thread(target=run, args=(name,)) for name in ("left", "right")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [outcome.status for outcome in outcomes] == ["Completed", "Completed"]
    for name in ("left", "right"):
        rows = show(record, name)["training_jobs"]
        assert [row["iterations"] for row in rows] == [9, 9, 9]


def test_threads_are_the_cores_shared_by_all_ranks_that_may_run_at_once(training):
    plan = training("")
    many = usable_cores() * 4
    assert threads_per_rank(plan, 1) == usable_cores()
    assert threads_per_rank(replace(plan, hosts=many), 2) == 1
    assert (
        threads_per_rank(replace(plan, environment=(("BANDSTAND_RANKS_PER_HOST", str(usable_cores())),)), 1)
        == 1
    )
    assert threads_per_rank(replace(plan, environment=(("BANDSTAND_THREADS", "3"),)), 8) == 3
