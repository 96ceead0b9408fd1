"""Managed spot training over the API: asked for by boto3, interrupted by the command, described."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from itertools import pairwise
from typing import Any

import pytest
from benchmarks.drills import processes_with

from .served import Server, ended, refusal, training_request, tuned, tuning_request, until
from .test_several_definitions import several_request

SPOT = {
    "EnableManagedSpotTraining": True,
    "StoppingCondition": {"MaxRuntimeInSeconds": 600, "MaxWaitTimeInSeconds": 900},
}

SCRIPT = """
import pathlib, time
import bandstand

run = bandstand.start()
hold = pathlib.Path(run.hyperparameters["hold"])
for iteration in run.iterations(6):
    run.report(iteration, {"score": iteration})
    run.checkpoint(iteration, lambda path: path.write_text("state"))
    while hold.exists() and iteration == 3 and not run.stopping:
        time.sleep(0.01)
run.save_model("model.txt", lambda path: path.write_text("a model"))
"""


@pytest.fixture
def held(place, request) -> dict[str, Any]:
    """Spot members, and hyperparameters of a script that waits after its 3rd iteration until it may go on."""
    (place / "code" / "spot.py").write_text(SCRIPT)
    hold = place / f"hold-{request.node.name}"
    hold.touch()
    kept = (place / "kept" / request.node.name).as_uri()
    return {"hold": hold, "settings": {"sagemaker_program": "spot.py", "hold": str(hold)}, "kept": kept}


def interrupt(server, name: str, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "bandstand.cli", "interrupt", name, "--home", str(server.home), *words],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def statuses(answer: dict[str, Any]) -> list[str]:
    return [step["Status"] for step in answer["SecondaryStatusTransitions"]]


def test_an_interrupted_spot_job_passes_the_statuses_of_the_service_and_completes(
    server, sagemaker, place, held
):
    request = training_request(
        place, "spot", HyperParameters=held["settings"], CheckpointConfig={"S3Uri": held["kept"]}, **SPOT
    )
    sagemaker.create_training_job(**request)
    until(lambda: "FinalMetricDataList" in sagemaker.describe_training_job(TrainingJobName="spot"))
    done = interrupt(server, "spot")
    assert done.returncode == 0, done.stderr
    answer = sagemaker.describe_training_job(TrainingJobName="spot")
    assert answer["TrainingJobStatus"] == "InProgress"
    assert "TrainingEndTime" not in answer
    assert answer["StoppingCondition"] == SPOT["StoppingCondition"]
    held["hold"].unlink()
    answer = ended(sagemaker, "spot")
    assert (answer["TrainingJobStatus"], answer["EnableManagedSpotTraining"]) == ("Completed", True)
    assert statuses(answer) == [
        *("Starting", "Downloading", "Training", "Interrupted"),
        *("Starting", "Downloading", "Training", "Uploading", "Completed"),
    ]
    steps = answer["SecondaryStatusTransitions"]
    assert all(one["EndTime"] == other["StartTime"] for one, other in pairwise(steps))
    assert "managed spot instances were interrupted" in steps[3]["StatusMessage"]
    assert answer["BillableTimeInSeconds"] == answer["TrainingTimeInSeconds"]
    (metric,) = answer["FinalMetricDataList"]
    assert metric["Value"] == 6.0


def test_a_spot_job_that_waits_too_long_has_stopped_with_max_wait_time_exceeded(
    server, sagemaker, place, held
):
    request = training_request(
        place,
        "waits",
        HyperParameters=held["settings"],
        EnableManagedSpotTraining=True,
        StoppingCondition={"MaxRuntimeInSeconds": 8, "MaxWaitTimeInSeconds": 8},
    )
    sagemaker.create_training_job(**request)
    until(
        lambda: (
            sagemaker.describe_training_job(TrainingJobName="waits")["SecondaryStatus"]
            in ("Training", "Starting", "Downloading")
        )
    )
    assert interrupt(server, "waits", "--away", "600", "--grace", "0").returncode == 0
    answer = ended(sagemaker, "waits")
    assert (answer["TrainingJobStatus"], answer["SecondaryStatus"]) == ("Stopped", "MaxWaitTimeExceeded")
    assert statuses(answer)[-3:] == ["Starting", "Stopping", "MaxWaitTimeExceeded"]
    listed = sagemaker.list_training_jobs(NameContains="waits")["TrainingJobSummaries"]
    assert [(each["TrainingJobStatus"], each["SecondaryStatus"]) for each in listed] == [
        ("Stopped", "MaxWaitTimeExceeded")
    ]


def test_a_job_waits_for_capacity_though_its_service_and_its_supervisor_are_killed_meanwhile(place, held):
    away = 8.0
    first = Server(place / "home-away", cwd=place)
    client = first.client()
    request = training_request(
        place, "away", HyperParameters=held["settings"], CheckpointConfig={"S3Uri": held["kept"]}, **SPOT
    )
    client.create_training_job(**request)
    until(lambda: "FinalMetricDataList" in client.describe_training_job(TrainingJobName="away"))
    assert interrupt(first, "away", "--away", str(away)).returncode == 0
    folder = first.home / "jobs" / "away"
    supervisors = processes_with(b"bandstand.backends.supervisor", os.fsencode(folder))
    first.end(signal.SIGKILL)
    for process in supervisors:
        os.kill(process, signal.SIGKILL)
    second = Server(first.home, cwd=place)
    held["hold"].unlink()
    answer = ended(second.client(), "away")
    second.end()
    assert answer["TrainingJobStatus"] == "Completed"
    steps = [(step["Status"], step["StartTime"].timestamp()) for step in answer["SecondaryStatusTransitions"]]
    names = [name for name, _ in steps]
    assert names[:4] == ["Starting", "Downloading", "Training", "Interrupted"]
    assert names.count("Downloading") == 2
    assert steps[names.index("Downloading", 4)][1] >= steps[3][1] + away
    assert answer["FinalMetricDataList"][0]["Value"] == 6.0


def test_the_training_jobs_of_a_tuning_job_are_interrupted_by_its_name(server, sagemaker, place, held):
    request = tuning_request(place, "spots", jobs=2, StaticHyperParameters=held["settings"])
    request["TrainingJobDefinition"] |= {**SPOT, "CheckpointConfig": {"S3Uri": held["kept"]}}
    sagemaker.create_hyper_parameter_tuning_job(**request)

    def two_wait() -> bool:
        rows = sagemaker.list_training_jobs(NameContains="spots-")["TrainingJobSummaries"]
        names = [row["TrainingJobName"] for row in rows]
        found = [sagemaker.describe_training_job(TrainingJobName=name) for name in names]
        return sum("FinalMetricDataList" in each for each in found) == 2

    until(two_wait)
    done = interrupt(server, "spots", "--grace", "30")
    assert done.stdout.count("for attempt 2, from what is in its checkpoint path") == 2, done.stderr
    held["hold"].unlink()
    answer = tuned(sagemaker, "spots")
    assert answer["HyperParameterTuningJobStatus"] == "Completed"
    assert answer["TrainingJobStatusCounters"]["Completed"] == 2
    assert answer["ObjectiveStatusCounters"]["Succeeded"] == 2


@pytest.mark.parametrize(
    ("limits", "spot", "told"),
    [
        ({"MaxRuntimeInSeconds": 600}, True, "MaxWaitTimeInSeconds"),
        ({"MaxRuntimeInSeconds": 600, "MaxWaitTimeInSeconds": 599}, True, "at least MaxRuntimeInSeconds"),
        ({"MaxWaitTimeInSeconds": 600}, True, "86400, one day"),
        ({"MaxRuntimeInSeconds": 600, "MaxWaitTimeInSeconds": 600}, False, "none without spot instances"),
    ],
)
def test_limits_that_do_not_fit_spot_instances_are_refused_for_jobs_and_definitions(
    sagemaker, place, limits, spot, told
):
    changes = {"EnableManagedSpotTraining": spot, "StoppingCondition": limits}
    code, message = refusal(sagemaker.create_training_job, **training_request(place, "refused", **changes))
    assert (code, told in message) == ("ValidationException", True), message
    request = tuning_request(place, "refused")
    request["TrainingJobDefinition"] |= changes
    code, message = refusal(sagemaker.create_hyper_parameter_tuning_job, **request)
    assert (code, told in message) == ("ValidationException", True), message


def test_each_definition_of_a_tuning_job_says_for_itself_whether_it_uses_spot_instances(
    server, sagemaker, place, held
):
    request = several_request(place, "mixed", 2, 2, StaticHyperParameters=held["settings"])
    low, _ = request["TrainingJobDefinitions"]
    low |= {"EnableManagedSpotTraining": True}
    code, message = refusal(sagemaker.create_hyper_parameter_tuning_job, **request)
    assert code == "ValidationException"
    assert "TrainingJobDefinitions[0].StoppingCondition.MaxWaitTimeInSeconds" in message
    low |= {**SPOT, "CheckpointConfig": {"S3Uri": held["kept"]}}
    sagemaker.create_hyper_parameter_tuning_job(**request)

    def two_wait() -> bool:
        rows = sagemaker.list_training_jobs(NameContains="mixed-")["TrainingJobSummaries"]
        found = [sagemaker.describe_training_job(TrainingJobName=row["TrainingJobName"]) for row in rows]
        return sum("FinalMetricDataList" in each for each in found) == 2

    until(two_wait)
    done = interrupt(server, "mixed", "--grace", "30")
    assert done.stdout.count("for attempt 2, from what is in its checkpoint path") == 1, done.stderr
    held["hold"].unlink()
    assert tuned(sagemaker, "mixed")["TrainingJobStatusCounters"]["Completed"] == 2


def test_a_job_that_is_no_spot_job_is_not_interrupted(server, sagemaker, place, held):
    sagemaker.create_training_job(**training_request(place, "steady", HyperParameters=held["settings"]))
    done = interrupt(server, "steady")
    assert done.returncode == 2
    assert "steady is no spot job" in done.stderr
    held["hold"].unlink()
    answer = ended(sagemaker, "steady")
    assert (answer["TrainingJobStatus"], answer["EnableManagedSpotTraining"]) == ("Completed", False)
