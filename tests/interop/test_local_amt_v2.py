"""SageMaker's Python SDK 2 as a client of the local service: training jobs, tuning jobs, logs, analytics."""

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
def programs(begin: Begin) -> dict[str, Program]:
    """All that depend on nothing, at once: the SDK waits for long between two looks at a job."""
    return {
        "watching": begin("v2", "v2_jobs.py", "train"),
        "leaving": begin("v2", "v2_tuning.py", "fit", "stop"),
        "ending": begin("v2", "v2_jobs.py", "fail", "stop"),
        "several": begin("v2", "v2_several.py"),
    }


@pytest.fixture(scope="module")
def watching(programs: dict[str, Program]) -> Program:
    """A program that trains and tails the logs."""
    return programs["watching"]


@pytest.fixture(scope="module")
def left(programs: dict[str, Program]) -> Facts:
    """What was seen by who has begun a tuning job, and has left it, and has stopped another one."""
    return programs["leaving"].facts()


@pytest.fixture(scope="module")
def ended_badly(programs: dict[str, Program]) -> Facts:
    """What was seen of a job that failed and of one that was stopped."""
    return programs["ending"].facts()


def test_a_tuning_job_is_left_running_and_taken_up_by_name_in_another_process(
    left: Facts, begin: Begin, server: Server
) -> None:
    assert left["fit"] == {"job": "v2-tuning"}
    facts = begin("v2", "v2_tuning.py", "attach").facts()["attach"]
    rows = facts["rows"]
    assert len(rows) == 5
    (best,) = (row for row in rows if row["TrainingJobName"] == facts["best"])
    assert best["FinalObjectiveValue"] == max(row["FinalObjectiveValue"] for row in rows)
    assert {"eta", "grow_policy", "max_depth"} < set(best)
    assert facts["ranges"] == ["eta", "grow_policy", "max_depth"]
    assert facts["model"].endswith(f"/out/{facts['best']}/output/model.tar.gz")
    assert facts["warm"] == "Completed"
    client = server.client()
    arn = client.describe_hyper_parameter_tuning_job(HyperParameterTuningJobName="v2-tuning")[
        "HyperParameterTuningJobArn"
    ]
    assert client.list_tags(ResourceArn=arn)["Tags"] == [{"Key": "team", "Value": "a"}]


def test_one_tuning_job_of_two_estimators_tells_the_sdk_which_is_the_best(
    programs: dict[str, Program],
) -> None:
    facts = programs["several"].facts()
    assert facts["estimators"] == ["lines", "trees"]
    assert facts["ranges"] == {"lines": ["lambda"], "trees": ["eta", "max_depth"]}
    assert sorted(name for name, _ in facts["rows"]) == ["lines", "lines", "trees", "trees"]
    best = max(facts["rows"], key=lambda row: row[1])[0]
    assert facts["booster"].strip('"') == {"lines": "gblinear", "trees": "gbtree"}[best]
    assert facts["model"].endswith(f"/out/{facts['best']}/output/model.tar.gz")


def test_a_tuning_job_that_is_stopped_stops_its_training_jobs(left: Facts) -> None:
    facts = left["stop"]
    assert facts["status"] == "Stopped"
    assert facts["counters"]["InProgress"] == 0
    assert facts["counters"]["Stopped"] >= 1


def test_a_failed_job_is_raised_with_its_reason(ended_badly: Facts, server: Server) -> None:
    reason = ended(server.client(), "v2-failing")["FailureReason"]
    assert "label" in reason
    assert ended_badly["fail"]["status"] == "Failed"
    assert reason in ended_badly["fail"]["error"]


def test_a_job_that_is_stopped_keeps_its_model(ended_badly: Facts, place: Path) -> None:
    assert ended_badly["stop"] == {"status": "Stopped"}
    assert booster(place / "v2-stopped").num_boosted_rounds() >= 2


def test_a_job_is_watched_with_the_logs_of_all_hosts_until_its_model_is_there(
    watching: Program, begin: Begin, place: Path
) -> None:
    output = watching.output()
    trained = watching.facts()["train"]
    assert trained["status"] == "Completed"
    for iteration in range(1, 5):
        assert output.count(f"iteration={iteration} ") == 1, output
    assert "2 of 2 hosts joined" in output
    assert "Completed - Training job completed" in output, output
    assert "Billable seconds" in output, output
    assert booster(place / "v2-model").num_boosted_rounds() == 4

    attached = begin("v2", "v2_jobs.py", "attach").facts()["attach"]
    assert attached["model"] == trained["model"]
    assert attached["hyperparameters"]["num_round"] == "4"
    assert {row["metric_name"] for row in attached["metrics"]} == {"validation:auc", "validation:logloss"}
    assert all(0 <= row["value"] <= 1 for row in attached["metrics"])
