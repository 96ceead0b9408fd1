"""Strategies other than Hyperband, with real training jobs and a real record."""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest

from bandstand.errors import PlatformError
from bandstand.request.ranges import CategoricalRange
from bandstand.runs.ledger import Ledger, history
from bandstand.runs.live import StopFlag, tune
from bandstand.runs.stored import tuning_job
from bandstand.runs.views import jobs as show_all
from bandstand.runs.views import show
from bandstand.study import Start, StudySpec, replay
from bandstand.study.settings import random_settings

REPORTING = """
import os, sys, time
rate = float(sys.argv[sys.argv.index("--rate") + 1])
number = int(os.environ["TRAINING_JOB_NAME"].split("-")[-2])
for iteration in range(1, 4):
    print(f"iteration={iteration} score={rate}", flush=True)
    time.sleep(0.01)
"""

ONE_SHORT_ONE = REPORTING.replace("range(1, 4)", "range(1, 4 if number == 1 else 3001)")
ENDLESS = REPORTING.replace("range(1, 4)", "range(1, 3001)")
ONCE = REPORTING.replace("range(1, 4)", "range(1, 2)")
FIVE_SHORT_ONES = REPORTING.replace("range(1, 4)", "range(1, 4 if number <= 5 else 3001)")


def test_the_median_rule_stops_bad_jobs_and_says_why(record, backend, watcher, tuning):
    plan = tuning(
        FIVE_SHORT_ONES, jobs=7, parallel=1, max_resource=None, seed=7, hyperparameters={"epochs": "3000"}
    )
    plan = replace(plan, early_stopping=True)
    assert tune(plan, record, backend, watcher, StopFlag(), grace=5).status == "Completed"

    document = show(record, plan.name)
    assert (document["strategy"], document["early_stopping"]) == ("Random", "Auto")
    stopped = [row for row in document["training_jobs"] if row["stop"]]
    assert [row["number"] for row in stopped] == [6, 7]  # both are worse than the five before, with this seed
    for row in stopped:
        stop = row["stop"]
        assert (row["status"], stop["kind"]) == ("Stopped", "median")
        assert stop["value"] < stop["cutoff"]
        assert [each["number"] for each in stop["compared"]] == list(range(1, row["number"]))
        assert stop["rung"] == 1
        assert "median of the running averages" in stop["reason"]
    saved = document["savings"]
    assert saved["stopped_by_median"] == 2
    assert saved["asked"] == saved["run"] + saved["saved_by_median"] + 5 * (3000 - 3)
    assert replay(StudySpec.from_plan(plan, 7), history(record, plan.name)).differences == ()


def test_jobs_that_report_once_leave_the_median_rule_nothing_to_decide_on(record, backend, watcher, tuning):
    plan = replace(
        tuning(ONCE, jobs=2, max_resource=None, hyperparameters={"epochs": "9"}), early_stopping=True
    )
    tune(plan, record, backend, watcher, StopFlag(), grace=5)
    (warning,) = show(record, plan.name)["warnings"]
    assert "2 of 2 training jobs reported the objective once" in warning
    assert "The median rule had nothing to decide on" in warning


def test_a_grid_runs_every_combination_once(record, backend, watcher, tuning, redefined):
    words = (CategoricalRange("rate", ("0.1", "0.2", "0.3")), CategoricalRange("booster", ("a", "b")))
    plan = redefined(tuning(REPORTING, jobs=6, parallel=3, max_resource=None), ranges=words)
    plan = replace(plan, strategy="Grid")
    assert tune(plan, record, backend, watcher, StopFlag(), grace=5).status == "Completed"
    document = show(record, plan.name)
    tried = {tuple(row["hyperparameters"].values()) for row in document["training_jobs"]}
    assert tried == {(rate, booster) for rate in ("0.1", "0.2", "0.3") for booster in "ab"}
    assert document["best"]["hyperparameters"]["rate"] == "0.3"
    assert replay(StudySpec.from_plan(plan, 7), history(record, plan.name)).differences == ()


def test_bayesian_settings_come_from_what_was_tried_and_replay_to_the_same(
    record, backend, watcher, tuning, monkeypatch
):
    plan = replace(tuning(REPORTING, jobs=14, parallel=4, max_resource=None), strategy="Bayesian")
    assert tune(plan, record, backend, watcher, StopFlag(), grace=5).status == "Completed"
    recorded = history(record, plan.name)
    spec = StudySpec.from_plan(plan, 7)
    assert replay(spec, recorded).differences == ()
    drawn = {start.trial: start.settings for start in recorded if isinstance(start, Start)}
    for trial in (1, 10):
        assert drawn[trial] == random_settings(7, trial, plan.definitions[0].ranges)
    assert drawn[14] != random_settings(7, 14, plan.definitions[0].ranges)

    monkeypatch.setitem(sys.modules, "optuna", None)
    again = Ledger.load(record, tuning_job(record, plan.name))
    assert again.study.finished is not None  # the record alone brings a study back
    with pytest.raises(PlatformError, match="pip install"):
        tune(plan.renamed("another"), record, backend, watcher, StopFlag(), grace=5)
    assert [job["name"] for job in show_all(record)] == [plan.name]


def test_the_modelled_hyperband_runs_and_replays(record, backend, watcher, tuning):
    plan = replace(
        tuning(ENDLESS, jobs=14, parallel=4, max_resource=9, hyperparameters={"epochs": "3000"}),
        strategy="Hyperband-TPE",
    )
    assert tune(plan, record, backend, watcher, StopFlag(), grace=5).status == "Completed"
    document = show(record, plan.name)
    assert document["strategy"] == "Hyperband-TPE"
    kinds = {row["stop"]["kind"] for row in document["training_jobs"]}
    assert kinds == {"rung", "max_resource"}
    saved = document["savings"]
    assert saved["asked"] - saved["run"] == saved["saved_by_max_resource"] + saved["saved_by_rungs"]
    assert replay(StudySpec.from_plan(plan, 7), history(record, plan.name)).differences == ()


def test_a_target_that_is_reached_completes_the_tuning_job_and_says_so(record, backend, watcher, tuning):
    plan = tuning(ONE_SHORT_ONE, jobs=9, parallel=2, max_resource=None)
    plan = replace(plan, target=0.0, not_improving=3)
    assert tune(plan, record, backend, watcher, StopFlag(), grace=5).status == "Completed"
    document = show(record, plan.name)
    assert [row["number"] for row in document["training_jobs"]] == [1, 2]
    first, second = document["training_jobs"]
    assert (first["status"], first["stop"]) == ("Completed", None)
    assert (second["status"], second["stop"]["kind"]) == ("Stopped", "target")
    assert document["ended_because"].startswith("Training job 1 reached the target 0 with ")
    assert document["failure_reason"] is None
    assert (document["limits"]["target"], document["limits"]["not_improving"]) == (0.0, 3)
    assert replay(StudySpec.from_plan(plan, 7), history(record, plan.name)).differences == ()
