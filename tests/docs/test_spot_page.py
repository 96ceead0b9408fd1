"""The page on spot interruptions: its drill is run as it stands there, and its fault of the platform."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bandstand.request import load
from bandstand.request.plan import TrainingPlan

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "how-to" / "survive-spot-interruptions.md").read_text(
    "utf-8"
)
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", PAGE, re.DOTALL)
TRAIN, INTERRUPT = [text.strip() for language, text in BLOCKS if language == "sh"]
SAID, FAULT = [
    re.sub(r"(?m)^    ", "", text) for text in re.findall(r"(?m)((?:^    \S.*\n)+)", PAGE.split("```")[-1])
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for language, name in (("toml", "job.toml"), ("python", "train.py")):
        (text,) = (text for each, text in BLOCKS if each == language)
        (tmp_path / name).write_text(text, "utf-8")
    return tmp_path


@pytest.fixture
def environment(folder: Path) -> dict[str, str]:
    return {
        **os.environ,
        "BANDSTAND_HOME": str(folder / "home"),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }


@contextmanager
def started(command: str, folder: Path, environment: dict[str, str]) -> Iterator[subprocess.Popen[str]]:
    """The first terminal: the job runs and has reported something."""
    with subprocess.Popen(
        command.split(), cwd=folder, env=environment, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert any("iteration=3 " in line for line in iter(process.stdout.readline, ""))
        yield process


def undisturbed(rounds: int = 30) -> float:
    weight = 0.0
    for _ in range(rounds):
        weight += 0.1 * (1 - weight)
    return weight


def model(folder: Path) -> float:
    with tarfile.open(folder / "out" / "spot" / "output" / "model.tar.gz") as packed:
        file = packed.extractfile("weight.json")
        assert file is not None
        return float(json.loads(file.read()))


def test_the_drill_of_the_page_ends_as_the_page_says(folder: Path, environment: dict[str, str]) -> None:
    with started(TRAIN, folder, environment) as running:
        done = subprocess.run(
            INTERRUPT.split(), cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        assert done.stdout == SAID, done.stderr
        log, _ = running.communicate(timeout=120)
    assert running.returncode == 0
    assert re.search(r"goes on after iteration \d+", log)
    assert model(folder) == undisturbed()


def test_a_job_with_a_retry_strategy_survives_the_fault_of_the_page(
    folder: Path, environment: dict[str, str]
) -> None:
    plan = load(folder / "job.toml")
    assert isinstance(plan, TrainingPlan)
    document = json.loads(plan.document) | {"RetryStrategy": {"MaximumRetryAttempts": 1}}
    (folder / "request.json").write_text(json.dumps(document), "utf-8")
    place = str(folder / "home" / "jobs" / "spot")
    (folder / "fault.sh").write_text(FAULT.replace("jobs/JOB", place), "utf-8")
    with started("bandstand train request.json", folder, environment) as running:
        subprocess.run(["bash", "fault.sh"], cwd=folder, check=True, timeout=60)
        running.communicate(timeout=120)
    assert running.returncode == 0
    assert model(folder) == undisturbed()
