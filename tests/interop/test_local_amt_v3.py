"""SageMaker's Python SDK 3 as a client of the local service: ModelTrainer and HyperparameterTuner."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.interop.client import Program, booster
from tests.service.served import Server, ended

Begin = Callable[..., Program]
Facts = dict[str, Any]


@pytest.fixture(scope="module")
def training(begin: Begin) -> Program:
    """A program whose jobs are watched, failed and stopped, while another one tunes."""
    return begin("v3", "v3_amt.py", "train", "fail", "stop")


@pytest.fixture(scope="module")
def tuned(begin: Begin, training: Program) -> Facts:
    """What was seen of a tuning job by who began it."""
    facts: Facts = begin("v3", "v3_amt.py", "tune").facts()["tune"]
    return facts


@pytest.fixture(scope="module")
def trained(training: Program) -> Facts:
    return training.facts()


def test_hyperparameter_tuner_tunes_by_hyperband(tuned: Facts) -> None:
    rows = tuned["rows"]
    assert len(rows) == 5
    (best,) = (row for row in rows if row["TrainingJobName"] == tuned["best"])
    assert best["FinalObjectiveValue"] == max(row["FinalObjectiveValue"] for row in rows)
    assert {"eta", "grow_policy", "max_depth"} < set(best)


def test_another_process_finds_the_tuning_job_and_reads_it_by_name(begin: Begin, tuned: Facts) -> None:
    seen = begin("v3", "v3_amt.py", "attach").facts()["attach"]
    assert seen["name"] == tuned["name"]
    assert seen["status"] == "Completed"
    assert seen["best"] == tuned["best"]
    values = {row["TrainingJobName"]: row["FinalObjectiveValue"] for row in tuned["rows"]}
    assert values[seen["first"]] == values[seen["best"]]


def test_model_trainer_watches_its_job_with_the_logs_of_its_hosts(
    trained: Facts, training: Program, place: Path
) -> None:
    facts = trained["train"]
    assert facts["status"] == "Completed"
    output = training.output()
    for iteration in range(1, 5):
        assert f"iteration={iteration} validation:auc=" in output, output
    assert "2 of 2 hosts joined" in output
    assert list(facts["metrics"]) == ["validation:auc"]
    assert booster(place / "v3-model").num_boosted_rounds() == 4


def test_a_failed_job_is_raised_with_its_reason(trained: Facts, server: Server) -> None:
    reason = ended(server.client(), trained["fail"]["name"])["FailureReason"]
    assert "label" in reason
    assert reason in trained["fail"]["error"]


def test_a_job_that_is_stopped_ends_as_stopped(trained: Facts) -> None:
    assert trained["stop"] == {"status": "Stopped"}
