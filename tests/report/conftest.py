"""Documents as `bandstand show --json` gives them."""

from __future__ import annotations

from typing import Any

import pytest


def job(number: int, status: str, objective: float | None, iterations: int, **more: Any) -> dict[str, Any]:
    return {
        "name": f"digits-{number:03d}-0a1b2c3d",
        "number": number,
        "definition": None,
        "objective": "validation:auc",
        "status": status,
        "hyperparameters": {"eta": f"0.{number}", "max_depth": str(number)},
        "iterations": iterations,
        "final_objective": objective,
        "billable_seconds": 10 * number,
        "instance_seconds": 30 * number,
        "stop": None,
        "failure_reason": None,
        "model": f"/out/digits-{number:03d}-0a1b2c3d/output/model.tar.gz",
        **more,
    }


@pytest.fixture
def tuning() -> dict[str, Any]:
    rung = {
        "kind": "rung",
        "bracket": 0,
        "rung": 9,
        "rank": 3,
        "cutoff": 0.8,
        "compared": [[1, 0.9]],
        "value": 0.5,
        "reason": "Stopped at rung 9: place 3 of 3, 0.5 against a cut-off of 0.8.",
    }
    top = {
        **rung,
        "kind": "max_resource",
        "rung": 30,
        "reason": "Stopped at MaxResource 30, as every job is.",
    }
    rows = [
        job(1, "Stopped", 0.9, 30, stop=top),
        job(2, "Completed", 0.95, 20),
        job(3, "Stopped", 0.5, 9, stop=rung),
        job(4, "Failed", None, 0, failure_reason="ValueError: no rows\n(train.py, line 3)", model=None),
        job(5, "InProgress", 0.7, 4),
    ]
    return {
        "name": "digits",
        "kind": "tuning",
        "status": "InProgress",
        "failure_reason": None,
        "strategy": "Hyperband",
        "objective": {"name": "validation:auc", "goal": "maximize"},
        "definitions": [{"name": None, "objective": "validation:auc", "max_resource": 30}],
        "limits": {"jobs": 6, "parallel": 2, "min_resource": 1, "max_resource": 30},
        "training_jobs": rows,
        "best": rows[1],
        "savings": {
            "asked": 500,
            "run": 63,
            "saved_by_max_resource": 70,
            "saved_by_rungs": 91,
            "stopped_at": {"27": 1, "9": 2},
            "reached_max_resource": 1,
        },
        "billable_seconds": 150,
        "instance_seconds": 450,
        "seed": 7,
        "created": "2026-11-30T14:03:22Z",
        "started": "2026-11-30T14:03:22Z",
        "ended": None,
        "warnings": [],
    }


@pytest.fixture
def training() -> dict[str, Any]:
    points = [
        {"name": "validation:auc", "iteration": i, "value": v, "host": "algo-1", "time": 100.0 + i}
        for i, v in enumerate([0.5, 0.7, None, 0.9], start=1)
    ]
    return {
        "name": "one",
        "kind": "training",
        "status": "Failed",
        "secondary_status": "Failed",
        "failure_reason": "ValueError: no rows (train.py, line 3) on algo-2, rank 1",
        "tuning_job": None,
        "hosts": [
            {"name": "algo-1", "exit_code": 0, "peak_memory": 64 * 2**20},
            {"name": "algo-2", "exit_code": None},
        ],
        "model": None,
        "hyperparameters": {"eta": "0.1", "empty": ""},
        "metrics": points,
        "iterations": 4,
        "final_objective": 0.9,
        "billable_seconds": 75,
        "instance_seconds": 150,
        "created": "2026-11-30T14:03:20Z",
        "started": "2026-11-30T14:03:22.5Z",
        "ended": "2026-11-30T14:04:37Z",
        "stop": None,
        "warnings": ["two hosts reported validation:auc for iteration 3"],
        "folder": "/home/me/.bandstand/jobs/one",
    }
