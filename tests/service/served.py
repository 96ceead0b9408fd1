"""A service in a process of its own, clients whose answers are checked, and requests for them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import boto3
import botocore.session
import pytest
from botocore.config import Config

from bandstand import metric_definitions
from bandstand.request.findings import Findings
from bandstand.request.shapes import check_shape

OVER = ("Completed", "Failed", "Stopped")
PATIENCE_SECONDS = 120
PROGRAM = ("-m", "bandstand.cli")
ROLE = "arn:aws:iam::111122223333:role/Training"

QUALITY = {"Name": "quality", "Regex": r" score=([-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)"}

SCRIPT = """
import pathlib, time
import bandstand

run = bandstand.start()
hold = pathlib.Path(run.hyperparameters.get("hold", "/nonexistent"))
for iteration in run.iterations(int(run.hyperparameters.get("epochs", 3))):
    run.report(iteration, {"score": iteration * float(run.hyperparameters.get("rate", 1.0))})
    while hold.exists() and iteration == 2 and not run.stopping:
        time.sleep(0.01)
run.save_model("model.txt", lambda path: path.write_text("a model"))
if "fail" in run.hyperparameters:
    raise SystemExit("it was asked to fail")
"""


def checked_client(service: str, url: str, **more: Any) -> Any:
    """A boto3 client each of whose answers is checked, member by member, against the service model."""
    client = boto3.client(
        service,
        endpoint_url=url,
        region_name=more.pop("region", "eu-west-1"),
        aws_access_key_id="a",
        aws_secret_access_key="b",
        config=Config(retries={"total_max_attempts": 1}, **more),
    )

    def check(operation_model: Any, response_dict: dict[str, Any], **_: Any) -> None:
        shape = operation_model.output_shape
        if response_dict["status_code"] != 200 or shape is None:
            return
        findings = Findings(exact=True)
        check_shape(shape, json.loads(response_dict["body"] or b"{}"), (), findings)
        assert not findings.problems, [str(each) for each in findings.problems]

    client.meta.events.register(f"before-parse.{service}", check)
    return client


class Server:
    """`bandstand local` in a process of its own."""

    def __init__(
        self, home: Path, *words: str, cwd: Path, program: tuple[str, ...] = PROGRAM, **environment: str
    ) -> None:
        self.home = home
        self.log = home.parent / f"{home.name}.log"
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, *program, "local", "--home", str(home), *words],
                cwd=cwd,
                env={**os.environ, **environment},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line.startswith("listening on http://127.0.0.1:"), self.log.read_text()
        self.url = line.removeprefix("listening on ").strip()

    def client(self, service: str = "sagemaker", **more: Any) -> Any:
        return checked_client(service, self.url, **more)

    def plain(self, service: str) -> Any:
        """A client of a neighbour, as it is."""
        return boto3.client(
            service,
            endpoint_url=self.url,
            region_name="eu-central-1",
            aws_access_key_id="a",
            aws_secret_access_key="b",
            config=Config(s3={"addressing_style": "path"}),
        )

    def end(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.close()

    def close(self) -> int:
        code = self.process.wait(PATIENCE_SECONDS)
        if self.process.stdout is not None:
            self.process.stdout.close()
        return code


def lay_out(folder: Path, script: str = SCRIPT) -> Path:
    """Give a folder a program and some data, for which `training_request` asks."""
    (folder / "code").mkdir()
    (folder / "code" / "train.py").write_text(script)
    (folder / "data").mkdir()
    (folder / "data" / "a.csv").write_text("1,2\n")
    return folder


def training_request(place: Path, name: str, **changes: Any) -> dict[str, Any]:
    """A CreateTrainingJob request of the script above."""
    settings = changes.pop("HyperParameters", {})
    return {
        "TrainingJobName": name,
        "RoleArn": ROLE,
        "AlgorithmSpecification": {
            "TrainingImage": "somebody/image:1",
            "TrainingInputMode": "File",
            "MetricDefinitions": metric_definitions(["score"]),
        },
        "HyperParameters": {
            "sagemaker_program": "train.py",
            "sagemaker_submit_directory": (place / "code").as_uri(),
            **settings,
        },
        "InputDataConfig": [
            {
                "ChannelName": "train",
                "DataSource": {
                    "S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": (place / "data").as_uri()}
                },
            }
        ],
        "OutputDataConfig": {"S3OutputPath": (place / "out").as_uri()},
        "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 1},
        "StoppingCondition": {"MaxRuntimeInSeconds": 600},
        **changes,
    }


def tuning_request(
    place: Path, name: str, jobs: int = 3, parallel: int = 2, **changes: Any
) -> dict[str, Any]:
    """A CreateHyperParameterTuningJob request of the script above, which tunes `rate` at random."""
    body = training_request(place, "any", HyperParameters=changes.pop("StaticHyperParameters", {}))
    definition = {member: value for member, value in body.items() if member != "TrainingJobName"}
    definition["StaticHyperParameters"] = definition.pop("HyperParameters")
    config = changes.pop("Config", {})
    return {
        "HyperParameterTuningJobName": name,
        "HyperParameterTuningJobConfig": {
            "Strategy": "Random",
            "HyperParameterTuningJobObjective": {"Type": "Maximize", "MetricName": "score"},
            "ResourceLimits": {"MaxNumberOfTrainingJobs": jobs, "MaxParallelTrainingJobs": parallel},
            "ParameterRanges": {
                "ContinuousParameterRanges": [{"Name": "rate", "MinValue": "0.1", "MaxValue": "1.0"}]
            },
            "RandomSeed": 7,
            **config,
        },
        "TrainingJobDefinition": definition,
        **changes,
    }


def several_request(
    place: Path, name: str, jobs: int = 6, parallel: int = 3, **changes: Any
) -> dict[str, Any]:
    """A request of two definitions: `low` tunes the rate; `high` has a rate ten times as high, tunes the
    number of epochs, has two hosts and another name for its objective."""
    config = {"Strategy": changes.pop("Strategy", "Random")}
    static = changes.pop("StaticHyperParameters", {})
    request = tuning_request(
        place, name, jobs, parallel, Config=config, StaticHyperParameters=static, **changes
    )
    body, config = request.pop("TrainingJobDefinition"), request["HyperParameterTuningJobConfig"]
    low = {
        **body,
        "DefinitionName": "low",
        "TuningObjective": config.pop("HyperParameterTuningJobObjective"),
        "HyperParameterRanges": config.pop("ParameterRanges"),
    }
    high = {
        **body,
        "DefinitionName": "high",
        "TuningObjective": {"Type": "Maximize", "MetricName": "quality"},
        "HyperParameterRanges": {
            "IntegerParameterRanges": [{"Name": "epochs", "MinValue": "1", "MaxValue": "3"}]
        },
        "AlgorithmSpecification": {**body["AlgorithmSpecification"], "MetricDefinitions": [QUALITY]},
        "StaticHyperParameters": {**body["StaticHyperParameters"], "rate": "10"},
        "ResourceConfig": {**body["ResourceConfig"], "InstanceCount": 2},
    }
    return {**request, "TrainingJobDefinitions": [low, high]}


def until(look: Callable[[], Any], what: str = "it") -> Any:
    """Ask again and again until the answer is true; the service has no other way to tell."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not (found := look()):
        assert time.monotonic() < deadline, f"{what} did not happen"
        time.sleep(0.02)
    return found


def ended(client: Any, name: str) -> dict[str, Any]:
    """Wait for the end of a training job; its description."""

    def look() -> Any:
        answer = client.describe_training_job(TrainingJobName=name)
        return answer if answer["TrainingJobStatus"] in OVER else None

    return dict(until(look, f"the end of {name}"))


def tuned(client: Any, name: str) -> dict[str, Any]:
    """Wait for the end of a tuning job; its description."""

    def look() -> Any:
        answer = client.describe_hyper_parameter_tuning_job(HyperParameterTuningJobName=name)
        return answer if answer["HyperParameterTuningJobStatus"] in OVER else None

    return dict(until(look, f"the end of {name}"))


def refusal(call: Callable[..., Any], **parameters: Any) -> tuple[str, str]:
    """The code and the message with which a call is refused."""
    with pytest.raises(botocore.exceptions.ClientError) as caught:
        call(**parameters)
    error = caught.value.response["Error"]
    assert caught.value.response["ResponseMetadata"]["HTTPStatusCode"] == 400
    return error["Code"], error["Message"]
