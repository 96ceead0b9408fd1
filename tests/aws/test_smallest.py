"""The smallest jobs on a real account: one training job of two hosts, one tuning job of three.

Needs IMAGE (pushed by `bandstand push`), ROLE and credentials.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

SCRIPT = """
import bandstand
run = bandstand.start()
rate = float(run.hyperparameters.get("rate", 0.5))
for iteration in run.iterations(3):
    run.report(iteration, {"loss": rate + rate / iteration})
run.save_model("model.txt", lambda path: path.write_text(str(rate)))
"""

JOB = """
image = "{image}"
role = "{role}"
program = "train.py"
code = "src"
output = "out"
[channels]
train = {{ path = "data", type = "csv" }}
[cluster]
instance_type = "ml.m5.large"
hosts = {hosts}
volume_gb = 5
[stopping]
job_seconds = 600
"""

TUNING = """
[tuning]
metric = "loss"
goal = "minimize"
strategy = "hyperband"
max_resource = 3
jobs = 3
parallel = 3
[ranges]
rate = { continuous = [0.01, 1.0] }
"""

METRICS = """
[metrics]
"loss" = ' loss=([-+]?(?:[0-9]+\\.?[0-9]*|\\.[0-9]+)(?:[eE][-+]?[0-9]+)?)'
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "train.py").write_text(SCRIPT)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.csv").write_text("1,2\n")
    return tmp_path


def run(folder: Path, verb: str, *, hosts: int, more: str) -> Any:
    image, role = os.environ["IMAGE"], os.environ["ROLE"]
    (folder / "job.toml").write_text(JOB.format(image=image, role=role, hosts=hosts) + more)
    name = f"bandstand-test-{int(time.time()) % 10**8}"
    words = [verb, "job.toml", "--name", name, "--on", "sagemaker", "--home", "home", "--json"]
    done = subprocess.run(
        [sys.executable, "-m", "bandstand.cli", *words],
        cwd=folder,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert done.returncode == 0
    return json.loads(done.stdout)


@pytest.mark.timeout(1800)
def test_a_training_job_of_two_hosts_runs_reports_and_brings_its_model_home(folder: Path) -> None:
    facts = run(folder, "train", hosts=2, more=METRICS)
    assert facts["status"] == "Completed"
    assert [point["iteration"] for point in facts["metrics"]] == [1, 2, 3]
    assert Path(facts["model"]).is_file()


@pytest.mark.timeout(3600)
def test_a_tuning_job_of_three_is_watched_to_its_end(folder: Path) -> None:
    facts = run(folder, "tune", hosts=1, more=TUNING)
    assert facts["status"] == "Completed"
    assert len(facts["training_jobs"]) == 3
    assert Path(facts["best"]["model"]).is_file()
