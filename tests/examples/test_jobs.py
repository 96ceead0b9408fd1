import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
OWN = ("plain_script", "any_language", "ten_lines")


def bandstand(home: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "bandstand.cli", "--home", home, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=240)


def copied(name: str, to: Path) -> Path:
    """The example in a folder of its own, so that nothing is written among the sources."""
    return Path(shutil.copytree(EXAMPLES / name, to / name, ignore=shutil.ignore_patterns("data", "out")))


def smaller(job: Path) -> Path:
    text, changes = re.subn(r"(?m)^jobs = 12$", "jobs = 4", job.read_text())
    assert changes == 1
    job.write_text(text)
    return job


def test_the_main_job_is_the_one_that_is_promised(tmp_path: Path) -> None:
    folder = copied("direct_marketing", tmp_path)
    prepared = subprocess.run(
        [sys.executable, folder / "prepare.py"], capture_output=True, check=False, timeout=120
    )
    assert prepared.returncode == 0
    done = bandstand(tmp_path / "home", "plan", folder / "job.toml")
    assert done.returncode == 0, done.stderr
    request = json.loads(done.stdout)
    config = request["HyperParameterTuningJobConfig"]
    assert config["Strategy"] == "Hyperband"
    assert config["StrategyConfig"] == {"HyperbandStrategyConfig": {"MinResource": 1, "MaxResource": 30}}
    assert config["TrainingJobEarlyStoppingType"] == "Off"
    limits = config["ResourceLimits"]
    assert (limits["MaxNumberOfTrainingJobs"], limits["MaxParallelTrainingJobs"]) == (30, 4)
    objective = config["HyperParameterTuningJobObjective"]
    assert objective == {"Type": "Maximize", "MetricName": "validation:auc"}
    ranges = config["ParameterRanges"]
    bounds = {
        entry["Name"]: (float(entry["MinValue"]), float(entry["MaxValue"]))
        for kind in ("IntegerParameterRanges", "ContinuousParameterRanges")
        for entry in ranges[kind]
    }
    for name in ("colsample_bylevel", "colsample_bytree"):
        low, high = bounds.pop(name)
        assert 0 < low < 0.1
        assert high == 1
    assert bounds == {
        "num_round": (100, 200),
        "eta": (0, 1),
        "min_child_weight": (1, 10),
        "alpha": (0, 2),
        "max_depth": (1, 10),
    }
    definition = request["TrainingJobDefinition"]
    assert definition["ResourceConfig"]["InstanceCount"] == 3
    assert definition["StaticHyperParameters"]["objective"] == "binary:logistic"


@pytest.mark.parametrize("name", OWN)
def test_a_program_of_ones_own_is_tuned_to_the_end(name: str, tmp_path: Path) -> None:
    job = smaller(copied(f"bring_your_own/{name}", tmp_path) / "job.toml")
    home = tmp_path / "home"
    done = bandstand(home, "tune", job)
    assert done.returncode == 0, done.stdout + done.stderr
    shown = bandstand(home, "show", name.replace("_", "-"), "--json")
    study: dict[str, Any] = json.loads(shown.stdout)
    assert study["status"] == "Completed"
    assert len(study["training_jobs"]) == 4
    assert {entry["status"] for entry in study["training_jobs"]} <= {"Completed", "Stopped"}
    assert all(entry["iterations"] >= 1 for entry in study["training_jobs"])
    assert study["best"]["final_objective"] is not None
    assert Path(study["best"]["model"]).is_file()


@pytest.mark.parametrize(
    ("command", "line"),
    [
        ([sys.executable, "plain_script/train.py", "--epochs", "3"], r"epoch \d: validation accuracy=0\.\d+"),
        (["any_language/train.sh", "--epochs", "3", "--rate", "0.2"], r"epoch=\d validation rmse: \d\.\d+"),
    ],
)
def test_plain_programs_run_by_hand_too(command: list[str], line: str, tmp_path: Path) -> None:
    folder = EXAMPLES / "bring_your_own"
    program = [str(folder / part) if "/train." in part else part for part in command]
    done = subprocess.run(
        program,
        env={"PATH": os.environ["PATH"], "SM_MODEL_DIR": str(tmp_path / "model")},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert len(done.stdout.splitlines()) == 3
    assert all(re.fullmatch(line, printed) for printed in done.stdout.splitlines())
    assert len(list((tmp_path / "model").iterdir())) == 1


@pytest.mark.parametrize("name", ["plain_script", "any_language"])
def test_plain_programs_know_nothing_of_bandstand(name: str) -> None:
    for path in (EXAMPLES / "bring_your_own" / name).glob("train.*"):
        assert not re.search("bandstand", path.read_text(), re.IGNORECASE)


def test_a_shell_program_refuses_arguments_that_it_does_not_know() -> None:
    command = [EXAMPLES / "bring_your_own/any_language/train.sh", "--rat", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 2
    assert "unknown argument --rat" in done.stderr
