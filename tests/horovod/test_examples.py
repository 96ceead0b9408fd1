"""The examples do what their pages say, on scikit-learn's digits."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tomllib
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def python(*words: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a program of Python to its end."""
    command = [sys.executable, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.timeout(900)
def test_the_digits_are_tuned_with_at_least_a_third_fewer_epochs_than_without_stopping(tmp_path):
    folder = tmp_path / "digits"
    shutil.copytree(EXAMPLES / "digits", folder, ignore=shutil.ignore_patterns("data", "out"))
    assert python(folder / "prepare.py").returncode == 0
    job = folder / "job.toml"
    asked = tomllib.loads(job.read_text())
    done = python("-m", "bandstand.cli", "--home", tmp_path / "home", "tune", job, "--json")
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    trained = [each["iterations"] for each in facts["training_jobs"]]
    assert len(trained) == asked["tuning"]["jobs"] >= 16
    assert facts["limits"]["max_resource"] == asked["hyperparameters"]["epochs"] == max(trained)
    assert sum(trained) <= len(trained) * max(trained) * 2 / 3
    assert facts["best"]["final_objective"] > 0.93
    assert all(len(each["hosts"]) == 2 for each in facts["training_jobs"] if "hosts" in each)


@pytest.mark.timeout(900)
def test_the_convergence_of_both_algorithms_is_measured_and_drawn(tmp_path):
    program = EXAMPLES / "convergence" / "measure.py"
    done = python(program, "--hosts", "2", "--jobs", "3", "--into", tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "convergence.json").read_text())
    for key, rounds in {"horovod": 6, "xgboost": 30}.items():
        alone, untouched, tuned = found[key]["cases"]
        assert [len(alone["curve"]), len(untouched["curve"])] == [rounds, rounds]
        assert [case["hosts"] for case in (alone, untouched, tuned)] == [1, 2, 2]
        assert tuned["iterations"] <= 3 * rounds
        assert tuned["tuning_instance_seconds"] > 0 == untouched["tuning_instance_seconds"]
        assert all(
            case["seconds"] > 0 and case["instance_seconds"] >= case["hosts"] for case in (alone, tuned)
        )
    alone, untouched, _ = found["horovod"]["cases"]
    assert untouched["curve"][-1] < alone["curve"][-1]
    alone, untouched, _ = found["xgboost"]["cases"]
    assert untouched["curve"] == pytest.approx(alone["curve"], abs=0.005)
    rows = [line for line in done.stdout.splitlines() if line.startswith(("| Horovod", "| XGBoost"))]
    assert len(rows) == 6
    assert f"| {alone['curve'][-1]:.4f} |" in rows[3]
    picture = (tmp_path / "convergence.svg").read_bytes()
    ElementTree.fromstring(picture)  # noqa: S314 - it is our own
    again = python(program, "--draw", "--into", tmp_path)
    assert again.returncode == 0, again.stderr
    assert (tmp_path / "convergence.svg").read_bytes() == picture


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--hosts", "1"], "found '1'; expected a whole number, 2 or more"),
        (["--jobs", "many"], "found 'many'; expected a whole number, 1 or more"),
        (["--draw"], "measure first"),
        (["--mnist", "nowhere"], "nowhere lacks train-images-idx3-ubyte"),
        (["--bank", "nowhere", "--only", "xgboost"], "nowhere"),
    ],
)
def test_what_the_comparison_cannot_do_is_told(tmp_path, words, told):
    done = python(EXAMPLES / "convergence" / "measure.py", *words, "--into", tmp_path)
    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr
