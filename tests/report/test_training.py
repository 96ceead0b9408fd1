from __future__ import annotations

from typing import Any

from bandstand.report import Page, listing_text, training_text
from bandstand.report.training import metric_curve, objective_values

Job = dict[str, Any]


def test_show_tells_state_reason_hosts_times_and_warnings(training: Job) -> None:
    text = "\n".join(training_text(Page(), training))
    assert "one  Failed" in text
    assert "failed because   ValueError: no rows (train.py, line 3) on algo-2, rank 1" in text
    assert "started          2026-11-30 14:03:22 UTC" in text
    assert "1 min 15 s billable · 2 min 30 s of instances (2 hosts)" in text
    assert "two hosts reported" in text
    assert "  algo-1          0       64 MiB" in text
    assert "  algo-2          -" in text


def test_a_job_that_was_begun_more_than_once_says_how_often(training: Job) -> None:
    assert not any(line.startswith("  attempts") for line in training_text(Page(), training))
    assert "  attempts         3" in training_text(Page(), training | {"attempts": 3})


def test_show_sums_up_each_metric_with_a_curve(training: Job) -> None:
    lines = training_text(Page(), training)
    row = next(line for line in lines if line.startswith("  validation:auc"))
    assert row.split() == ["validation:auc", "3", "0.5", "0.9", "0.5", "0.9", "▁▄█"]


def test_hyperparameters_are_listed_and_an_empty_one_is_seen(training: Job) -> None:
    lines = training_text(Page(), training)
    assert lines[lines.index("hyperparameters") + 1 :] == ['  empty  ""', "  eta    0.1"]


def test_a_metric_that_two_hosts_print_has_one_value_for_each_iteration() -> None:
    points = [
        {"name": "auc", "iteration": iteration, "value": value, "host": host}
        for iteration, host, value in (
            (1, "algo-2", 0.5),
            (1, "algo-1", 0.1),
            (2, "algo-1", 0.2),
            (2, "algo-2", 0.6),
            (2, "algo-2", 0.7),
            (3, "algo-2", None),
        )
    ]
    assert objective_values(points) == {"auc": [0.5, 0.7]}
    assert metric_curve(points, "auc") == [(1, 0.5), (2, 0.7), (3, None)]
    assert metric_curve(points, "loss") == []


def test_points_are_sorted_by_iteration_and_those_not_finite_are_passed_over() -> None:
    points = [
        {"name": "loss", "iteration": 2, "value": 0.2, "host": "algo-1"},
        {"name": "loss", "iteration": 1, "value": 0.1, "host": "algo-1"},
        {"name": "loss", "iteration": 3, "value": None, "host": "algo-1"},
        {"name": "auc", "iteration": 1, "value": 0.9, "host": "algo-1"},
    ]
    assert objective_values(points) == {"loss": [0.1, 0.2], "auc": [0.9]}
    assert objective_values(points, "auc") == {"auc": [0.9]}


def test_a_job_that_is_waiting_to_start_is_told(training: Job) -> None:
    training.update(
        status="InProgress",
        secondary_status="Starting",
        failure_reason=None,
        metrics=[],
        hosts=[],
        iterations=0,
        final_objective=None,
        billable_seconds=None,
        instance_seconds=None,
        started=None,
        ended=None,
        warnings=[],
    )
    text = "\n".join(training_text(Page(), training))
    assert "state   InProgress, Starting" in text
    assert "metric" not in text


def test_a_list_has_one_line_per_job() -> None:
    jobs = [
        {"name": "a", "kind": "tuning", "status": "Completed", "training_jobs": 30, "best": 0.8},
        {"name": "b", "kind": "training", "status": "Failed", "created": "2026-11-30T14:03:20Z"},
    ]
    lines = listing_text(Page(), jobs)
    assert lines[0].split() == ["job", "kind", "status", "jobs", "best", "created"]
    assert lines[1].split() == ["a", "tuning", "Completed", "30", "0.8"]
    assert lines[2].endswith("2026-11-30 14:03:20 UTC")
