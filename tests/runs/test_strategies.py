"""Strategies other than Hyperband, with real training jobs and a real record."""

from __future__ import annotations

from dataclasses import replace

from bandstand.request.ranges import CategoricalRange
from bandstand.runs.ledger import history
from bandstand.runs.live import StopFlag, tune
from bandstand.runs.views import show
from bandstand.study import StudySpec, replay

SLOW = """
import sys, time
rate = float(sys.argv[sys.argv.index("--rate") + 1])
for iteration in range(1, 151):
    print(f"iteration={iteration} score={rate}", flush=True)
    time.sleep(0.01)
"""


def test_the_median_rule_stops_bad_jobs_and_says_why(record, backend, watcher, tuning):
    plan = tuning(SLOW, jobs=7, parallel=7, max_resource=None, hyperparameters={"epochs": "150"})
    plan = replace(plan, early_stopping=True)
    assert tune(plan, record, backend, watcher, StopFlag(), grace=5).status == "Completed"

    document = show(record, plan.name)
    assert (document["strategy"], document["early_stopping"]) == ("Random", "Auto")
    stopped = [row for row in document["training_jobs"] if row["stop"]]
    assert stopped
    for row in stopped:
        stop = row["stop"]
        assert (row["status"], stop["kind"]) == ("Stopped", "median")
        assert stop["value"] < stop["cutoff"]
        assert len(stop["compared"]) >= 5
        assert "median of the running averages" in stop["reason"]
    saved = document["savings"]
    assert saved["stopped_by_median"] == len(stopped)
    assert saved["asked"] == saved["run"] + saved["saved_by_median"] == 7 * 150
    assert replay(StudySpec.from_plan(plan, 7), history(record, plan.name)).differences == ()


def test_a_grid_runs_every_combination_once(record, backend, watcher, tuning):
    words = (CategoricalRange("rate", ("0.1", "0.2", "0.3")), CategoricalRange("booster", ("a", "b")))
    script = SLOW.replace("range(1, 151)", "range(1, 3)")
    plan = replace(tuning(script, jobs=6, parallel=3, max_resource=None), strategy="Grid", ranges=words)
    assert tune(plan, record, backend, watcher, StopFlag(), grace=5).status == "Completed"
    document = show(record, plan.name)
    tried = {tuple(row["hyperparameters"].values()) for row in document["training_jobs"]}
    assert tried == {(rate, booster) for rate in ("0.1", "0.2", "0.3") for booster in "ab"}
    assert document["best"]["hyperparameters"]["rate"] == "0.3"
    assert replay(StudySpec.from_plan(plan, 7), history(record, plan.name)).differences == ()
