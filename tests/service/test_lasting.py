"""What lasts: jobs over the end of a service, one service for a home, stops from anywhere."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.service_drills import ServiceDrill

from bandstand.runs.record import Record
from bandstand.runs.stopping import request_stop
from bandstand.runs.stored import training_job

from .served import Server, ended, training_request, tuned, tuning_request, until


def held(place: Path, name: str) -> tuple[Path, dict[str, str]]:
    hold = place / f"hold-{name}"
    hold.touch()
    return hold, {"hold": str(hold)}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_jobs_go_on_when_the_service_is_started_again_within_their_lease(place, number):
    home = place / f"home-{number.name}"
    hold, settings = held(place, number.name)
    first = Server(home, cwd=place)
    client = first.client()
    client.create_training_job(**training_request(place, "lasts", HyperParameters=settings))
    until(lambda: "FinalMetricDataList" in client.describe_training_job(TrainingJobName="lasts"))
    assert first.end(number) == (0 if number != signal.SIGKILL else -signal.SIGKILL)
    second = Server(home, cwd=place)
    assert second.url == first.url  # which the job still has
    client = second.client()
    assert client.describe_training_job(TrainingJobName="lasts")["TrainingJobStatus"] == "InProgress"
    hold.unlink()
    assert ended(client, "lasts")["TrainingJobStatus"] == "Completed"
    with Record.open(home) as record:
        assert training_job(record, "lasts").attempt == 1
        values = record.read("SELECT iteration FROM points WHERE job = 'lasts' ORDER BY seq")
        assert [row["iteration"] for row in values] == [1, 2, 3]
    assert second.end() == 0


def test_a_tuning_job_goes_on_after_its_service_was_killed(place):
    home = place / "home-tuning"
    hold, settings = held(place, "tuning")
    first = Server(home, cwd=place)
    client = first.client()
    request = tuning_request(place, "lasts", StaticHyperParameters=settings)
    client.create_hyper_parameter_tuning_job(**request)
    first.end(signal.SIGKILL)
    second = Server(home, cwd=place)
    client = second.client()
    answer = client.describe_hyper_parameter_tuning_job(HyperParameterTuningJobName="lasts")
    assert answer["HyperParameterTuningJobStatus"] == "InProgress"
    hold.unlink()
    answer = tuned(client, "lasts")
    assert answer["HyperParameterTuningJobStatus"] == "Completed"
    assert answer["TrainingJobStatusCounters"]["Completed"] == 3
    second.end()


def test_a_second_service_on_a_home_says_so_and_leaves(server):
    done = subprocess.run(
        [sys.executable, "-m", "bandstand.cli", "local", "--home", str(server.home)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert f"has a service already: {server.url}, process {server.process.pid}" in done.stderr


def test_a_port_that_is_taken_is_said(server, tmp_path):
    port = server.url.rsplit(":", 1)[1]
    done = subprocess.run(
        [sys.executable, "-m", "bandstand.cli", "local", "--home", str(tmp_path), "--port", port],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert f"Port {port} of 127.0.0.1 cannot be listened on" in done.stderr


def test_a_folder_that_is_none_cannot_be_allowed(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "bandstand.cli", "local", "--home", str(tmp_path), "--allow", "/nowhere"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert "--allow names no folder: /nowhere" in done.stderr


def test_a_stop_from_the_command_line_reaches_a_job_of_the_service(server, sagemaker, place):
    _, settings = held(place, "cli-stop")
    sagemaker.create_training_job(**training_request(place, "cli-stop", HyperParameters=settings))
    until(lambda: "FinalMetricDataList" in sagemaker.describe_training_job(TrainingJobName="cli-stop"))
    with Record.open(server.home) as record:
        request_stop(record, "cli-stop")
    assert ended(sagemaker, "cli-stop")["TrainingJobStatus"] == "Stopped"


def test_a_job_of_the_command_line_is_described_listed_and_stopped_by_the_service(server, sagemaker, place):
    _, settings = held(place, "from-cli")
    request = training_request(place, "from-cli", HyperParameters=settings)
    file = place / "from-cli.json"

    file.write_text(json.dumps(request))
    words = [sys.executable, "-m", "bandstand.cli", "train", str(file), "--home", str(server.home)]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as launcher:
        until(lambda: sagemaker.list_training_jobs(NameContains="from-cli")["TrainingJobSummaries"])
        until(lambda: "FinalMetricDataList" in sagemaker.describe_training_job(TrainingJobName="from-cli"))
        sagemaker.stop_training_job(TrainingJobName="from-cli")
        assert launcher.wait(60) == 3
    assert ended(sagemaker, "from-cli")["TrainingJobStatus"] == "Stopped"


@pytest.mark.timeout(1200)
def test_nothing_is_lost_or_double_however_often_the_service_is_killed(tmp_path):
    drill = ServiceDrill(tmp_path, random.Random(11))
    drill.run(24)
    assert sum(drill.kills.values()) == 24
    assert drill.acknowledged
