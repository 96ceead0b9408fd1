"""Code written for SageMaker runs here with nothing changed but its session: a post's, and a script's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import xgboost
from tests.interop.client import Program, booster
from tests.service.served import Server

from bandstand.runs.record import Record
from bandstand.runs.views import show

ROUNDS = 9

Begin = Callable[..., Program]


def test_the_code_of_the_post_tunes_30_jobs_on_3_hosts_each(
    begin: Begin, server: Server, place: Path
) -> None:
    facts = begin("v2", "v2_post.py").facts()
    assert facts["image"].endswith(".dkr.ecr.eu-west-1.amazonaws.com/sagemaker-xgboost:1.7-1")
    assert facts["status"] == "Completed"
    rows = facts["rows"]
    assert len(rows) == 30
    assert {row["TrainingJobStatus"] for row in rows} <= {"Completed", "Stopped"}
    (best,) = (row for row in rows if row["TrainingJobName"] == facts["best"])
    assert best["FinalObjectiveValue"] == max(row["FinalObjectiveValue"] for row in rows)
    assert facts["best_hyperparameters"]["num_round"] == str(ROUNDS)
    with Record.open(server.home) as record:
        reports = [job["iterations"] for job in show(record, facts["job"])["training_jobs"]]
    assert min(reports) < max(reports) == ROUNDS, "Hyperband stops some early, and nobody later than asked"

    client = server.client()
    job = client.describe_training_job(TrainingJobName=facts["best"])
    assert job["ResourceConfig"]["InstanceCount"] == 3
    model = booster(place / "post-model")
    lines = (place / "data/validation/part-0.csv").read_text().splitlines()
    values = [[float(cell) for cell in line.split(",")] for line in lines]
    matrix = xgboost.DMatrix([row[1:] for row in values], [row[0] for row in values])
    model.set_param({"eval_metric": "auc"})
    measured = float(model.eval(matrix, "validation").rpartition(":")[2])
    assert measured == pytest.approx(best["FinalObjectiveValue"], abs=1e-5)


def test_a_script_that_knows_nothing_of_us_is_tuned_through_a_framework_estimator(
    begin: Begin, place: Path
) -> None:
    facts = begin("v2", "v2_framework.py").facts()
    assert facts["status"] == "Completed"
    rows = facts["rows"]
    assert [row["TrainingJobStatus"] for row in rows] == ["Completed"] * 4
    data = sum(len(path.read_text().splitlines()) for path in (place / "data/train").iterdir())
    for row in rows:
        loss = row["lr"] + float(row["batch-size"].strip('"')) / data / 3
        assert row["FinalObjectiveValue"] == pytest.approx(loss, abs=1e-4)
    (best,) = (row for row in rows if row["TrainingJobName"] == facts["best"])
    assert best["FinalObjectiveValue"] == min(row["FinalObjectiveValue"] for row in rows)
