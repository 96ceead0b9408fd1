"""Which job is meant by a name that is watched on SageMaker; `bandstand local` stands in for the region."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.backends.sagemaker.region import ROLE, variables
from tests.service.served import Server

from bandstand.service.home_lock import LOCK

from .conftest import Command

SCRIPT = """
import bandstand
run = bandstand.start()
for iteration in run.iterations(3):
    run.report(iteration, {"loss": float(run.hyperparameters.get("rate", 0.5)) / iteration})
"""

JOB = f"""
name = "trials"
image = "123456789012.dkr.ecr.eu-central-1.amazonaws.com/bandstand:latest"
role = "{ROLE}"
program = "train.py"
code = "src"
output = "out"
[cluster]
instance_type = "ml.m5.xlarge"
[stopping]
job_seconds = 600
[tuning]
metric = "loss"
goal = "minimize"
strategy = "random"
jobs = 2
parallel = 2
[ranges]
rate = {{ continuous = [0.01, 1.0] }}
"""


@pytest.fixture
def env(env: dict[str, str], server: Server) -> dict[str, str]:
    return {**env, **variables(server.url)}


@pytest.fixture
def job(tmp_path: Path) -> str:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "train.py").write_text(SCRIPT)
    (tmp_path / "job.toml").write_text(JOB)
    return "job.toml"


def test_a_training_job_that_was_watched_by_itself_becomes_the_tuning_jobs_own(
    bandstand: Command, job: str
) -> None:
    begun = bandstand("tune", job, "--on", "sagemaker", "--home", "elsewhere", "--json")
    assert begun.returncode == 0, begun.stderr
    truth = json.loads(begun.stdout)
    trial = truth["training_jobs"][1]["name"]
    alone = bandstand("train", "--resume", trial, "--on", "sagemaker")
    assert alone.returncode == 0, alone.stderr

    whole = bandstand("tune", "--resume", "trials", "--on", "sagemaker", "--json")
    assert whole.returncode == 0, whole.stderr
    members = ("name", "number", "status", "iterations", "final_objective", "hyperparameters")
    for row, expected in zip(json.loads(whole.stdout)["training_jobs"], truth["training_jobs"], strict=True):
        assert [row[each] for each in members] == [expected[each] for each in members]
    shown = json.loads(bandstand("show", trial, "--json").stdout)
    assert [point["iteration"] for point in shown["metrics"]] == [1, 2, 3]
    assert [each["name"] for each in json.loads(bandstand("list", "--json").stdout)] == ["trials"]


def test_a_service_that_has_the_same_home_is_sent_nothing(
    bandstand: Command, job: str, server: Server
) -> None:
    same = ("--home", str(server.home))
    for words in (("tune", job), ("tune", "--resume", "nobodys")):
        done = (
            bandstand(*words, "--on", "sagemaker", "--name", "twice", *same)
            if job in words
            else bandstand(*words, "--on", "sagemaker", *same)
        )
        assert done.returncode == 2, done.stdout
        assert f"The service at {server.url} keeps its jobs in the same home" in done.stderr
        assert "--home" in done.stderr
        assert "uploading" not in done.stderr
    assert (
        server.client().list_hyper_parameter_tuning_jobs(NameContains="twice")[
            "HyperParameterTuningJobSummaries"
        ]
        == []
    )


def test_a_home_whose_service_is_over_may_be_used_with_another_on_its_port(
    bandstand: Command, server: Server, home: Path
) -> None:
    home.mkdir(exist_ok=True)
    (home / LOCK).write_text(f"{server.url}, process 1\n")
    done = bandstand("tune", "--resume", "nobodys", "--on", "sagemaker")
    assert "There is no tuning job nobodys in eu-central-1" in done.stderr


def test_a_job_of_this_machine_is_not_looked_for_on_sagemaker(bandstand: Command, job: str) -> None:
    ran = bandstand("tune", job, "--name", "here", "--jobs", "1")
    assert ran.returncode == 0, ran.stderr
    done = bandstand("tune", "--resume", "here", "--on", "sagemaker")
    assert done.returncode == 2
    assert "here is a tuning job of this machine" in done.stderr
    assert "bandstand show here" in done.stderr
