"""A document of two definitions through the verbs, on processes and on SageMaker; crashed and resumed."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.backends.sagemaker.region import ROLE, served, variables
from tests.service.served import Server

from bandstand import metric_definitions
from bandstand.backends.sagemaker.creating import covers

from .conftest import Command

IMAGE = "123456789012.dkr.ecr.eu-central-1.amazonaws.com/image:1"

SCRIPT = """
import os, pathlib, sys, time
def setting(name, default):
    return sys.argv[sys.argv.index("--" + name) + 1] if "--" + name in sys.argv else default
top = float(setting("rate", 1)) + float(setting("width", 0))
hold = pathlib.Path(setting("hold", "/nonexistent"))
for step in (1, 2, 3):
    if os.environ["SM_CURRENT_HOST"] == "algo-1":
        print(f"iteration={step} auc={top - 1 / step}", flush=True)
    while hold.exists():
        time.sleep(0.01)
"""


def document(name: str, code: str, data: str, output: str, **static: str) -> dict[str, Any]:
    """A request of two definitions: `trees` tunes a rate below 1, `nets` a width of 2 or more."""

    def definition(own: str, metric: str, ranges: dict[str, Any], hosts: int) -> dict[str, Any]:
        metrics = metric_definitions(["auc"])
        return {
            "DefinitionName": own,
            "TuningObjective": {"Type": "Maximize", "MetricName": metric},
            "HyperParameterRanges": ranges,
            "StaticHyperParameters": {
                "sagemaker_program": "train.py",
                "sagemaker_submit_directory": code,
                **static,
            },
            "AlgorithmSpecification": {
                "TrainingImage": IMAGE,
                "TrainingInputMode": "File",
                "MetricDefinitions": [{**each, "Name": metric} for each in metrics],
            },
            "RoleArn": ROLE,
            "InputDataConfig": [
                {
                    "ChannelName": "train",
                    "DataSource": {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": data}},
                }
            ],
            "OutputDataConfig": {"S3OutputPath": output},
            "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": hosts, "VolumeSizeInGB": 1},
            "StoppingCondition": {"MaxRuntimeInSeconds": 600},
        }

    rate = {"ContinuousParameterRanges": [{"Name": "rate", "MinValue": "0.1", "MaxValue": "0.9"}]}
    width = {"IntegerParameterRanges": [{"Name": "width", "MinValue": "2", "MaxValue": "9"}]}
    return {
        "HyperParameterTuningJobName": name,
        "HyperParameterTuningJobConfig": {
            "Strategy": "Random",
            "ResourceLimits": {"MaxNumberOfTrainingJobs": 4, "MaxParallelTrainingJobs": 2},
            "RandomSeed": 7,
        },
        "TrainingJobDefinitions": [
            definition("trees", "auc", rate, 1),
            definition("nets", "quality", width, 2),
        ],
    }


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., str]:
    """Write such a document for this machine, with its code and data, and return its name."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "train.py").write_text(SCRIPT)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.csv").write_text("1,2\n")

    def make(name: str, **static: str) -> str:
        places = [(tmp_path / part).as_uri() for part in ("src", "data", "out")]
        (tmp_path / f"{name}.json").write_text(json.dumps(document(name, *places, **static)))
        return f"{name}.json"

    return make


def kill_once_begun(file: str, folder: Path, env: dict[str, str]) -> None:
    """Kill the launcher of a document hard once a training job of its second definition has been started."""
    with subprocess.Popen(
        [sys.executable, "-m", "bandstand.cli", "tune", file],
        cwd=folder,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as launcher:
        assert launcher.stdout is not None
        assert any("started: nets" in line for line in iter(launcher.stdout.readline, ""))
        launcher.kill()


def facts(done: subprocess.CompletedProcess[str]) -> Any:
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


def test_a_document_of_two_definitions_is_planned_tuned_shown_and_reported(
    bandstand: Command, write: Callable[..., str], tmp_path: Path
) -> None:
    file = write("both")
    assert facts(bandstand("plan", file)) == json.loads((tmp_path / file).read_text())
    done = bandstand("tune", file)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "started: trees, rate=" in done.stdout
    assert "started: nets, width=" in done.stdout

    job = facts(bandstand("show", "both", "--json"))
    assert job["definitions"] == [
        {"name": "trees", "objective": "auc", "max_resource": None},
        {"name": "nets", "objective": "quality", "max_resource": None},
    ]
    rows = job["training_jobs"]
    assert [(row["definition"], row["objective"]) for row in rows] == [
        ("trees", "auc"),
        ("nets", "quality"),
    ] * 2
    assert [row["instance_seconds"] / row["billable_seconds"] for row in rows] == [1, 2, 1, 2]
    assert job["instance_seconds"] == sum(row["instance_seconds"] for row in rows)
    assert job["instance_seconds"] == facts(bandstand("list", "--json"))[0]["instance_seconds"]
    assert job["best"]["definition"] == "nets"
    one = facts(bandstand("show", rows[0]["name"], "--json"))
    assert one["definition"] == "trees"
    assert "  definition       trees" in bandstand("show", rows[0]["name"]).stdout

    for text in (bandstand("show", "both").stdout, bandstand("report", "both").stdout, done.stdout):
        assert "definitions\n  trees  2 completed; best auc " in text
        assert "  nets   2 completed; best quality " in text
        assert "definition  nets\n" in text
    report = facts(bandstand("report", "both", "--json"))
    assert [(each["definition"], len(each["curve"])) for each in report["jobs"]] == [
        ("nets", 3),
        ("nets", 3),
        ("trees", 3),
        ("trees", 3),
    ]


def test_what_if_simulates_definitions_as_recorded_and_each_by_itself(
    bandstand: Command, write: Callable[..., str]
) -> None:
    assert bandstand("tune", write("asked")).returncode == 0

    def asked(*changes: str) -> Any:
        words = [word for change in changes for word in ("--what-if", change)]
        return facts(bandstand("report", "asked", *words, "--json"))

    told = asked("jobs=3", "parallel=1")
    assert (told["recorded"]["iterations"], told["what_if"]["iterations"]) == (12, 9)
    told = asked("strategy=hyperband", "max_resource=2")
    assert told["what_if"]["stops"]["max_resource"] >= 2  # the best of each definition, at least
    assert asked("early_stopping=auto")["what_if"]["stops"] == {}


def test_hyperband_decides_of_each_definition_by_itself_through_a_crash_and_a_resume(
    bandstand: Command, write: Callable[..., str], env: dict[str, str], tmp_path: Path
) -> None:
    hold = tmp_path / "hold"
    hold.touch()
    file = write("band", hold=str(hold))
    request = json.loads((tmp_path / file).read_text())
    config = request["HyperParameterTuningJobConfig"]
    config["Strategy"], config["ResourceLimits"]["MaxNumberOfTrainingJobs"] = "Hyperband", 8
    for definition, epochs in zip(request["TrainingJobDefinitions"], ("2", "3"), strict=True):
        definition["StaticHyperParameters"]["epochs"] = epochs
    (tmp_path / file).write_text(json.dumps(request))
    kill_once_begun(file, tmp_path, env)
    hold.unlink()
    done = bandstand("tune", "--resume", "band")
    assert done.returncode == 0, done.stdout + done.stderr
    job = facts(bandstand("show", "band", "--json"))
    assert [each["max_resource"] for each in job["definitions"]] == [2, 3]
    rows = {row["number"]: row for row in job["training_jobs"]}
    assert [row["definition"] for row in rows.values()] == ["trees", "nets"] * 4
    stops = [(row, row["stop"]) for row in rows.values() if row["stop"]]
    assert {stop["kind"] for _, stop in stops} >= {"max_resource"}
    for row, stop in stops:
        assert {rows[each["number"]]["definition"] for each in stop["compared"]} <= {row["definition"]}
        if stop["kind"] == "max_resource":
            assert stop["rung"] == (2 if row["definition"] == "trees" else 3)
    assert "Hyperband, resource 1 to 2 or 3" in bandstand("show", "band").stdout
    told = facts(bandstand("report", "band", "--what-if", "max_resource=2", "--json"))
    assert told["changes"]["max_resource"] == {"was": 3, "is": 2}


def test_a_tuning_job_whose_launcher_was_killed_goes_on_with_the_turns_of_its_definitions(
    bandstand: Command, write: Callable[..., str], env: dict[str, str], tmp_path: Path
) -> None:
    hold = tmp_path / "hold"
    hold.touch()
    kill_once_begun(write("killed", hold=str(hold)), tmp_path, env)
    hold.unlink()
    done = bandstand("tune", "--resume", "killed")
    assert done.returncode == 0, done.stdout + done.stderr
    rows = facts(bandstand("show", "killed", "--json"))["training_jobs"]
    assert [row["definition"] for row in rows] == ["trees", "nets", "trees", "nets"]
    assert {row["status"] for row in rows} == {"Completed"}


def test_a_resume_names_what_is_gone_of_any_definition_once(
    bandstand: Command, write: Callable[..., str], env: dict[str, str], tmp_path: Path
) -> None:
    hold = tmp_path / "hold"
    hold.touch()
    file = write("gone", hold=str(hold))
    other = tmp_path / "other"
    other.mkdir()
    (other / "a.csv").write_text("1,2\n")
    request = json.loads((tmp_path / file).read_text())
    source = request["TrainingJobDefinitions"][1]["InputDataConfig"][0]["DataSource"]["S3DataSource"]
    source["S3Uri"] = other.as_uri()
    (tmp_path / file).write_text(json.dumps(request))
    kill_once_begun(file, tmp_path, env)
    (tmp_path / "src" / "train.py").unlink()
    (other / "a.csv").unlink()
    refused = bandstand("tune", "--resume", "gone")
    hold.unlink()
    assert refused.returncode == 2
    assert refused.stderr.count(f"{other} is empty") == 1
    assert refused.stderr.count("src is empty") == 1


def test_every_fault_of_a_document_is_told_with_its_place(
    bandstand: Command, write: Callable[..., str], tmp_path: Path
) -> None:
    file = write("wrong")
    request = json.loads((tmp_path / file).read_text())
    trees, nets = request["TrainingJobDefinitions"]
    nets |= {"DefinitionName": "trees", "TuningObjective": {"Type": "Minimize", "MetricName": "quality"}}
    del trees["HyperParameterRanges"]
    request["HyperParameterTuningJobConfig"]["Strategy"] = "Grid"
    (tmp_path / file).write_text(json.dumps(request))
    for verb in ("plan", "tune"):
        refused = bandstand(verb, file)
        assert refused.returncode == 2
        for words in (
            "[rule 331] TrainingJobDefinitions[1].DefinitionName",
            "[rule 334] TrainingJobDefinitions[1].TuningObjective.Type",
            "[rule 304] TrainingJobDefinitions[0].HyperParameterRanges",
            "[rule 326] TrainingJobDefinitions[1].HyperParameterRanges",
        ):
            assert words in refused.stderr
        assert "Traceback" not in refused.stderr


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with served(tmp_path_factory.mktemp("aws")) as running:
        yield running


def test_sagemaker_gets_the_document_unchanged_and_its_definitions_are_told(
    bandstand: Command, server: Server, tmp_path: Path
) -> None:
    s3 = server.plain("s3")
    s3.create_bucket(Bucket="bucket", CreateBucketConfiguration={"LocationConstraint": "eu-central-1"})
    s3.put_object(Bucket="bucket", Key="code/train.py", Body=SCRIPT.encode())
    s3.put_object(Bucket="bucket", Key="data/a.csv", Body=b"1,2\n")
    request = document("there", "s3://bucket/code", "s3://bucket/data", "s3://bucket/out")
    (tmp_path / "there.json").write_text(json.dumps(request))
    region = variables(server.url)
    planned = bandstand("plan", "there.json", "--on", "sagemaker", **region)
    assert facts(planned) == request
    assert (
        "cost: 4 training jobs on 1 instance of ml.m5.large for at most 10 min each or 2 instances of"
        " ml.m5.large for at most 10 min each: 1.3 instance-hours at most." in planned.stderr
    )
    done = bandstand("tune", "there.json", "--on", "sagemaker", **region)
    assert done.returncode == 0, done.stdout + done.stderr
    told = server.client(region="eu-central-1").describe_hyper_parameter_tuning_job(
        HyperParameterTuningJobName="there"
    )
    assert covers(told, request)
    own = facts(bandstand("--home", str(server.home), "show", "there", "--json"))
    job = facts(bandstand("show", "there", "--json"))
    assert job["best"]["name"] == own["best"]["name"]
    for row, truth in zip(job["training_jobs"], own["training_jobs"], strict=True):
        for key in ("name", "definition", "objective", "hyperparameters", "final_objective", "iterations"):
            assert row[key] == truth[key]
        hosts = 2 if row["definition"] == "nets" else 1
        assert len(facts(bandstand("show", row["name"], "--json"))["hosts"]) == hosts

    taken = bandstand("tune", "--resume", "there", "--on", "sagemaker", "--home", "elsewhere", **region)
    assert taken.returncode == 0, taken.stderr
    again = facts(bandstand("show", "there", "--json", "--home", "elsewhere"))
    assert [row["definition"] for row in again["training_jobs"]] == ["trees", "nets"] * 2
