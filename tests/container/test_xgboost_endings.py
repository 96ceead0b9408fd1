"""Stops, early ends, restarts, losses: all ranks leave together and leave a whole model or a real reason."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xgboost
from numpy.typing import NDArray

Rows = NDArray[np.float32]
ENDLESS = {"num_round": 1_000_000, "objective": "binary:logistic", "eval_metric": "auc", "max_depth": 2}


def booster_of(job: Any) -> xgboost.Booster:
    booster = xgboost.Booster()
    booster.load_model(bytearray(job.leader.model.read_bytes()))
    return booster


@pytest.fixture
def channels(campaign: Rows, to_csv: Callable[[Rows], bytes]) -> dict[str, dict[str, bytes]]:
    rows = campaign[:, :8]
    return {"train": {"a.csv": to_csv(rows[::4])}, "validation": {"v.csv": to_csv(rows[1::4])}}


def test_a_stop_ends_all_ranks_after_the_same_iteration_with_the_model_of_the_last_one(
    jobs: Any, channels: dict[str, dict[str, bytes]], campaign: Rows
) -> None:
    job = jobs.start(ENDLESS, replicated=channels)
    job.leader.stdout.wait_for("iteration=20 ")
    job.signal(signal.SIGTERM)
    assert job.wait() == [0, 0, 0], job.log
    booster = booster_of(job)
    assert booster.num_boosted_rounds() == len(job.reports) >= 20
    booster.set_param({"eval_metric": "auc"})
    rows = campaign[1::4, :8]
    text = booster.eval(xgboost.DMatrix(rows[:, 1:], rows[:, 0], nthread=1), "x")
    assert job.reports[-1]["validation:auc"] == pytest.approx(float(text.rpartition(":")[2]), abs=1e-9)


def test_a_host_that_is_killed_ends_the_job_with_its_reason(
    jobs: Any, channels: dict[str, dict[str, bytes]]
) -> None:
    job = jobs.start(ENDLESS, replicated=channels)
    job.leader.stdout.wait_for("iteration=3 ")
    children = Path(f"/proc/{job.hosts[1].process.pid}/task/{job.hosts[1].process.pid}/children")
    os.kill(int(children.read_text().split()[0]), signal.SIGKILL)
    assert 0 not in job.wait(), job.log
    reasons = {host.failure for host in job.hosts}
    assert len(reasons) == 1
    reason = reasons.pop()
    assert "SIGKILL" in reason
    assert "algo-2, rank 1" in reason
    assert re.search(r"\d+ rows", reason)


def test_early_stopping_ends_all_ranks_in_the_metrics_own_direction(
    jobs: Any, channels: dict[str, dict[str, bytes]]
) -> None:
    job = jobs.run(
        {**ENDLESS, "early_stopping_rounds": 3, "_tuning_objective_metric": "validation:auc", "eta": 0.9},
        replicated=channels,
    )
    values = [report["validation:auc"] for report in job.reports]
    best = values.index(max(values))
    assert len(values) == best + 1 + 3
    booster = booster_of(job)
    assert booster.attributes() == {"best_iteration": str(best), "best_score": repr(max(values))}
    assert booster.num_boosted_rounds() == len(values)


def test_a_restarted_job_goes_on_and_gives_the_model_of_an_uninterrupted_one(
    jobs: Any, channels: dict[str, dict[str, bytes]], tmp_path: Path
) -> None:
    settings = {**ENDLESS, "early_stopping_rounds": 1000}
    first = jobs.start(settings, 2, replicated=channels, checkpoints=tmp_path / "kept")
    first.leader.stdout.wait_for("iteration=5 ")
    first.signal()
    assert first.wait() == [0, 0], first.log
    done = len(first.reports)
    total = done + 4
    second = jobs.run({**settings, "num_round": total}, 2, replicated=channels, checkpoints=tmp_path / "kept")
    assert re.findall(r"^iteration=(\d+)", second.leader.out, re.MULTILINE) == [
        str(number) for number in range(done + 1, total + 1)
    ]
    whole = jobs.run({**settings, "num_round": total}, 2, replicated=channels)
    assert second.leader.model.read_bytes() == whole.leader.model.read_bytes()


def test_an_error_of_xgboost_on_one_host_is_the_reason_on_all_hosts(
    jobs: Any, campaign: Rows, to_csv: Callable[[Rows], bytes]
) -> None:
    # The labels are fine for the objective; that the metric takes 0 and 1 only shows on the first host.
    rows = campaign[:90].copy()
    rows[:, 0] = 0.5
    reason = jobs.fail(
        {"num_round": 2, "objective": "binary:logistic", "eval_metric": "map"},
        replicated={"train": {"a.csv": to_csv(rows)}},
    )
    assert f"XGBoost {xgboost.__version__} failed: map can only be used with binary labels." in reason
    assert reason.endswith("on algo-1, rank 0")


def test_an_objective_for_other_data_is_refused_before_training(
    jobs: Any, campaign: Rows, to_csv: Callable[[Rows], bytes]
) -> None:
    # Survival needs bounds of the labels, which CSV has not; XGBoost finds that out when it trains.
    reason = jobs.fail(
        {"num_round": 2, "objective": "survival:aft"},
        2,
        replicated={"train": {"a.csv": to_csv(campaign[:40])}},
    )
    assert f"XGBoost {xgboost.__version__} cannot train with these settings" in reason
