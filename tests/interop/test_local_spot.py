"""Managed spot training as SageMaker's SDKs ask for it: interrupted, resumed, and seen by them as it was."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.interop.client import Program
from tests.service.served import Server, until

Begin = Callable[..., Program]

STEPS = [
    *("Starting", "Downloading", "Training", "Interrupted"),
    *("Starting", "Downloading", "Training", "Uploading", "Completed"),
]


@pytest.fixture
def interrupted(begin: Begin, server: Server, place: Path) -> Callable[[str], tuple[Program, str]]:
    """Begins a program whose job is interrupted after its 3rd count; the program, and the job's name."""

    def run(version: str) -> tuple[Program, str]:
        hold = place / f"hold-{version}-spot"
        hold.touch()
        program = begin(version, f"{version}_spot.py")
        client = server.client()

        def counted() -> str | None:
            if program.has_ended:
                pytest.fail(program.output())
            for row in client.list_training_jobs(NameContains=f"{version}-spot")["TrainingJobSummaries"]:
                found = client.describe_training_job(TrainingJobName=row["TrainingJobName"])
                if [metric["Value"] for metric in found.get("FinalMetricDataList", [])] == [
                    pytest.approx(0.3)
                ]:
                    return str(row["TrainingJobName"])
            return None

        name = until(counted, f"the 3rd count of {version}")
        command = [sys.executable, "-m", "bandstand.cli", "interrupt", name, "--home", str(server.home)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        assert "for attempt 2, from what is in its checkpoint path" in done.stdout, done.stderr
        hold.unlink()
        return program, name

    return run


def described(server: Server, name: str, output: str) -> dict[str, Any]:
    """What Describe tells of a job that was interrupted once, and whose client printed every count once."""
    assert [output.count(f"count={count} ") for count in range(1, 7)] == [1] * 6, output
    answer: dict[str, Any] = server.client().describe_training_job(TrainingJobName=name)
    assert [step["Status"] for step in answer["SecondaryStatusTransitions"]] == STEPS
    assert answer["TrainingTimeInSeconds"] == answer["BillableTimeInSeconds"] >= 1
    assert answer["EnableManagedSpotTraining"] is True
    return answer


def test_sdk_2_follows_an_interrupted_job_and_tells_its_seconds_and_savings(
    interrupted: Callable[[str], tuple[Program, str]], server: Server
) -> None:
    program, name = interrupted("v2")
    facts, output = program.facts(), program.output()
    answer = described(server, name, output)
    assert output.count("begins after 0") == output.count("begins after 3") == 1
    assert "Interrupted - " in output, output
    assert "Completed - Training job completed" in output
    assert f"Training seconds: {answer['TrainingTimeInSeconds']}\n" in output
    assert f"Billable seconds: {answer['BillableTimeInSeconds']}\n" in output
    assert "Managed Spot Training savings: 0.0%" in output
    assert facts == {
        "spot": True,
        "max_run": 600,
        "max_wait": 900,
        "model": f"s3://v2-spots/out/{name}/output/model.tar.gz",
    }


def test_sdk_3_follows_an_interrupted_job_and_reads_its_steps_and_seconds(
    interrupted: Callable[[str], tuple[Program, str]], server: Server
) -> None:
    program, name = interrupted("v3")
    facts, answer = program.facts(), described(server, name, program.output())
    assert facts == {
        "spot": True,
        "status": "Completed",
        "max_wait": 900,
        "steps": STEPS,
        "seconds": [answer["TrainingTimeInSeconds"], answer["BillableTimeInSeconds"]],
        "metrics": {"score": pytest.approx(0.6)},
    }
