"""`--on sagemaker` as a user runs it; `bandstand local` stands in for the region."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.backends.sagemaker.region import ROLE, variables
from tests.service.served import Server

from bandstand.backends.sagemaker.creating import covers

from .conftest import Command

IMAGE = "123456789012.dkr.ecr.eu-central-1.amazonaws.com/bandstand:latest"

SCRIPT = """
import os, pathlib, time
import bandstand
run = bandstand.start()
rate = float(run.hyperparameters.get("rate", 0.5))
hold = pathlib.Path(run.hyperparameters.get("hold", "/nonexistent"))
print("files", sorted(os.listdir("/opt/ml/input/data/train")), flush=True)
for iteration in run.iterations(9):
    run.report(iteration, {"loss": rate + rate / iteration})
    while hold.exists() and not run.stopping:
        time.sleep(0.01)
while run.hyperparameters.get("stays") and not run.stopping:
    time.sleep(0.01)
run.save_model("model.txt", lambda path: path.write_text(str(rate)))
"""


@pytest.fixture
def env(env: dict[str, str], server: Server) -> dict[str, str]:
    return {**env, **variables(server.url)}


@pytest.fixture
def job(tmp_path: Path) -> Callable[..., str]:
    """Write a job file, and code and data for it."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "train.py").write_text(SCRIPT)
    (tmp_path / "data").mkdir()
    for name in ("a.csv", "b.csv"):
        (tmp_path / "data" / name).write_text("1,2\n")

    def write(name: str, *, hosts: int = 1, tuning: str = "", hyperparameters: str = "") -> str:
        (tmp_path / f"{name}.toml").write_text(f"""
name = "{name}"
image = "{IMAGE}"
role = "{ROLE}"
program = "train.py"
code = "src"
output = "out"
[hyperparameters]
{hyperparameters}
[channels]
train = {{ path = "data", type = "csv" }}
[cluster]
instance_type = "ml.m5.xlarge"
hosts = {hosts}
[stopping]
job_seconds = 600
[environment]
GREETING = "good day"
[tags]
team = "band"
{tuning or "[metrics]" + chr(10) + '"loss" = ' + chr(39) + LOSS + chr(39)}
""")
        return f"{name}.toml"

    return write


LOSS = r" loss=([-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)"

HYPERBAND = """
[tuning]
metric = "loss"
goal = "minimize"
strategy = "hyperband"
min_resource = 1
max_resource = 9
jobs = {jobs}
parallel = 3
seed = 7
[ranges]
rate = {{ continuous = [0.01, 1.0] }}
"""


def left(env: dict[str, str], cwd: Path, *words: str) -> str:
    """Run the command until the job has reported, and leave it with Ctrl-C; what was said then."""
    launcher = subprocess.Popen(
        [sys.executable, "-m", "bandstand.cli", *words],
        cwd=cwd,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert launcher.stdout is not None
    for line in launcher.stdout:
        if "iteration=1 " in line:
            break
    launcher.send_signal(signal.SIGINT)
    _, said = launcher.communicate(timeout=60)
    assert launcher.returncode == 130, said
    return said


def facts(done: subprocess.CompletedProcess[str]) -> Any:
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


def test_a_training_job_is_uploaded_once_handed_in_as_planned_and_watched_to_its_end(
    bandstand: Command, job: Callable[..., str], server: Server, tmp_path: Path
) -> None:
    file = job("lone", hosts=2)
    planned = facts(bandstand("plan", file, "--on", "sagemaker"))
    done = bandstand("train", file, "--on", "sagemaker")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "cost: 2 instances of ml.m5.xlarge for at most 10 min: 0.3 instance-hours at most" in done.stderr
    assert "channel train: uploading 2 files" in done.stderr
    for host in ("algo-1", "algo-2"):
        assert f"{host} | files ['a.csv', 'b.csv']" in done.stdout
    with tarfile.open(tmp_path / "out" / "lone" / "output" / "model.tar.gz") as model:
        assert model.getnames() == ["model.txt"]

    there = server.client().describe_training_job(TrainingJobName="lone")
    assert covers(there, planned)
    for member, value in planned.items():
        if member != "Tags":
            assert covers(there[member], value)
    tags = server.client().list_tags(ResourceArn=there["TrainingJobArn"])["Tags"]
    assert tags == [{"Key": "team", "Value": "band"}]

    shown = facts(bandstand("show", "lone", "--json"))
    assert [(point["iteration"], point["value"]) for point in shown["metrics"]] == [
        (iteration, 0.5 + 0.5 / iteration) for iteration in range(1, 10)
    ]
    assert shown["model"] == str(tmp_path / "out" / "lone" / "output" / "model.tar.gz")
    assert shown["billable_seconds"] == there["BillableTimeInSeconds"]

    again = bandstand("train", file, "--on", "sagemaker")
    assert again.returncode == 0, again.stderr
    assert "channel train is on S3 already" in again.stderr
    assert "the code is on S3 already" in again.stderr
    assert "the name lone is taken; this one is lone-2" in again.stderr


def test_amt_decides_a_tuning_job_and_its_stops_are_explained_as_inferred(
    bandstand: Command, job: Callable[..., str], server: Server, tmp_path: Path
) -> None:
    # A job that has reached MaxResource stays until it is stopped, so that each has a stop to be explained.
    file = job("many", tuning=HYPERBAND.format(jobs=6), hyperparameters="stays = true")
    planned = facts(bandstand("plan", file, "--on", "sagemaker"))
    done = bandstand("tune", file, "--on", "sagemaker")
    assert done.returncode == 0, done.stdout + done.stderr
    there = server.client().describe_hyper_parameter_tuning_job(HyperParameterTuningJobName="many")
    assert covers(there, planned)

    shown = facts(bandstand("show", "many", "--json"))
    own = facts(bandstand("--home", str(server.home), "show", "many", "--json"))
    assert (shown["status"], len(shown["training_jobs"])) == ("Completed", 6)
    assert shown["best"]["name"] == there["BestTrainingJob"]["TrainingJobName"]
    for row, truth in zip(shown["training_jobs"], own["training_jobs"], strict=True):
        assert (row["name"], row["number"], row["iterations"]) == (
            truth["name"],
            truth["number"],
            truth["iterations"],
        )
        assert row["hyperparameters"] == truth["hyperparameters"]
        assert row["final_objective"] == truth["final_objective"]
        assert row["stop"]["inferred"] is True
        assert row["stop"]["reason"].startswith("Inferred, since AMT does not tell its reasons: ")
    with tarfile.open(shown["best"]["model"]) as model:
        assert model.getnames() == ["model.txt"]
    report = bandstand("report", "many")
    assert "inferred" in report.stdout
    logs = bandstand("logs", "many")
    assert logs.stdout.count("iteration=1 loss=") == 6
    assert facts(bandstand("report", "many", "--what-if", "max_resource=3", "--json"))["what_if"]


def test_ctrl_c_leaves_the_job_running_and_another_terminal_takes_it_up(
    bandstand: Command, job: Callable[..., str], env: dict[str, str], server: Server, tmp_path: Path
) -> None:
    (tmp_path / "hold").touch()
    file = job("long", hyperparameters=f'hold = "{tmp_path / "hold"}"')
    said = left(env, tmp_path, "train", file, "--on", "sagemaker")
    assert "long goes on, on SageMaker, and costs money until it ends." in said
    assert "train --resume long" in said
    assert "stop long" in said

    assert facts(bandstand("list", "--json"))[0]["status"] == "InProgress"
    assert facts(bandstand("show", "long", "--json"))["metrics"][0]["iteration"] == 1
    (tmp_path / "hold").unlink()
    done = bandstand("train", "--resume", "long")
    assert done.returncode == 0, done.stdout + done.stderr
    shown = facts(bandstand("show", "long", "--json"))
    assert [point["iteration"] for point in shown["metrics"]] == list(range(1, 10))


def test_a_job_that_somebody_else_has_begun_is_watched_stopped_and_its_model_fetched(
    bandstand: Command, job: Callable[..., str], env: dict[str, str], server: Server, tmp_path: Path
) -> None:
    (tmp_path / "hold").touch()
    file = job("theirs", hyperparameters=f'hold = "{tmp_path / "hold"}"')
    request = facts(bandstand("plan", file, "--on", "sagemaker"))
    left(env, tmp_path, "train", file, "--on", "sagemaker", "--name", "ours", "--home", "elsewhere")
    sagemaker = server.client()
    sagemaker.create_training_job(**request)

    unknown = bandstand("show", "theirs")
    assert unknown.returncode == 2
    assert "train --resume theirs --on sagemaker" in unknown.stderr
    left(env, tmp_path, "train", "--resume", "theirs", "--on", "sagemaker")
    shown = facts(bandstand("show", "theirs", "--json"))
    assert shown["hyperparameters"] == request["HyperParameters"]
    stopped = bandstand("stop", "theirs")
    assert stopped.returncode == 0, stopped.stderr
    assert "SageMaker gives its hosts 120 s" in stopped.stdout
    assert stopped.stdout.endswith("theirs: Stopped\n")
    fetched = bandstand("show", "theirs", "--fetch", "models")
    assert fetched.returncode == 0, fetched.stderr
    with tarfile.open(tmp_path / "models" / "theirs" / "output" / "model.tar.gz") as model:
        assert model.getnames() == ["model.txt"]


def test_two_jobs_of_one_name_are_watched_shown_and_cleaned_each_for_itself(
    bandstand: Command, job: Callable[..., str], server: Server, tmp_path: Path
) -> None:
    one, two = job("one"), job("two", tuning=HYPERBAND.format(jobs=2))
    for words in (("train", one), ("tune", two)):
        done = bandstand(*words, "--on", "sagemaker", "--name", "same")
        assert done.returncode == 0, done.stdout + done.stderr
    for kind, verb in (("training", "train"), ("tuning", "tune")):
        there = bandstand(verb, "--resume", "same", "--on", "sagemaker", "--json", "--home", "elsewhere")
        shown = facts(bandstand("show", "same", "--kind", kind, "--json"))
        assert (shown["kind"], shown["status"]) == (kind, "Completed")
        assert facts(there)["created"][:10] == shown["created"][:10]
        assert facts(there)["kind"] == kind
    assert bandstand("logs", "same", "--kind", "tuning").stdout.count("iteration=1 ") == 2
    again = bandstand("tune", two, "--on", "sagemaker", "--name", "same")
    assert again.returncode == 2
    assert "taken by another tuning job" in again.stderr
    assert bandstand("clean", "same", "--kind", "tuning", "-y").returncode == 0
    left_over = facts(bandstand("show", "same", "--json"))
    assert left_over["kind"] == "training"
    assert (tmp_path / "home" / "jobs" / "same" / "service.json").exists()
    assert not (tmp_path / "home" / "jobs" / "same.tuning").exists()


def test_a_job_of_the_other_kind_is_watched_by_the_other_verb(
    bandstand: Command, job: Callable[..., str], server: Server
) -> None:
    assert bandstand("train", job("apart"), "--on", "sagemaker", "--home", "elsewhere").returncode == 0
    refused = bandstand("tune", "--resume", "apart", "--on", "sagemaker")
    assert refused.returncode == 2
    assert "It is a training job: bandstand train --resume apart --on sagemaker" in refused.stderr
    unknown = bandstand("tune", "--resume", "nobodys", "--on", "sagemaker")
    assert "There is no tuning job nobodys in eu-central-1. Look at the name" in unknown.stderr


def test_what_is_missing_is_told_before_anything_is_uploaded(
    bandstand: Command, job: Callable[..., str], server: Server, tmp_path: Path
) -> None:
    file = job("wanting")
    text = (tmp_path / file).read_text()
    cases = {
        "No AWS region is set": {"AWS_REGION": "", "AWS_CONFIG_FILE": "/nonexistent"},
        "No AWS credentials are found": {
            "AWS_ACCESS_KEY_ID": "",
            "AWS_SECRET_ACCESS_KEY": "",
            "AWS_EC2_METADATA_DISABLED": "true",
        },
    }
    for words, more in cases.items():
        done = bandstand("train", file, "--on", "sagemaker", **more)
        assert (done.returncode, words in done.stderr) == (2, True), done.stderr
        assert "Traceback" not in done.stderr
        assert "uploading" not in done.stderr
    (tmp_path / file).write_text(text.replace(f'role = "{ROLE}"', "").replace(IMAGE, "bandstand:latest"))
    done = bandstand("train", file, "--on", "sagemaker")
    assert done.returncode == 2
    assert "[rule 701] role: found none" in done.stderr
    assert "bandstand push bandstand:latest" in done.stderr
    (tmp_path / file).write_text(text)
    done = bandstand("train", file, "--on", "sagemaker", "--bucket", "nobodys")
    assert done.returncode == 2
    assert "There is no bucket nobodys. Make it" in done.stderr
    assert "uploading" not in done.stderr
    assert bandstand("list", "--json").stdout.strip() == "[]"
    names = server.client().list_training_jobs(NameContains="wanting")["TrainingJobSummaries"]
    assert names == []
