"""`bandstand plan --hyperparameters`: what a program declares, told without running it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bandstand import hyperparameter as hp
from bandstand.hyperparameter_file import as_json, to_document
from bandstand.hyperparameter_schema import Schema


def plan(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "bandstand.cli", "plan", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.fixture
def script(tmp_path: Path) -> Path:
    """A script that must not be run, with the file of what it declares."""
    path = tmp_path / "train.py"
    path.write_text("raise SystemExit('this script was run')\n")
    schema = Schema([hp("epochs", int, 1, 9, help="Passes over the rows."), hp("rate", float, default=0.5)])
    (tmp_path / "train.hyperparameters.json").write_text(as_json(to_document(schema, path)), "utf-8")
    return path


def test_the_hyperparameters_of_the_built_in_are_told(tmp_path: Path) -> None:
    done = plan(tmp_path, "--hyperparameters", "xgboost")
    assert (done.returncode, done.stderr) == (0, "")
    assert (
        "  eta, learning_rate\n      a number from 0 to 1; default 0.3; default range 0.1 to 0.5, linear"
        in done.stdout
    )


def test_the_hyperparameters_of_a_script_are_told_and_given_as_json(tmp_path: Path, script: Path) -> None:
    done = plan(tmp_path, "--hyperparameters", "train.py")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (
        "  epochs\n      a whole number from 1 to 9; needed\n      Passes over the rows.\n"
        "  rate\n      a number; default 0.5\n"
    )
    document = json.loads(plan(tmp_path, "--hyperparameters", "train.py", "--json").stdout)
    assert [each["Name"] for each in document["SupportedHyperParameters"]] == ["epochs", "rate"]


def test_a_script_that_has_changed_since_is_noted(tmp_path: Path, script: Path) -> None:
    script.write_text("raise SystemExit('another version')\n")
    done = plan(tmp_path, "--hyperparameters", "train.py")
    assert done.returncode == 0
    assert "note: train.hyperparameters.json: exported from another version of train.py" in done.stderr


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path, script: Path) -> None:
    (tmp_path / "train.hyperparameters.json").write_text("{")
    done = plan(tmp_path, "--hyperparameters", "train.py")
    assert (done.returncode, done.stdout) == (2, "")
    assert "[rule 438]" in done.stderr


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            ["--hyperparameters", "xgbost"],
            "There is no program xgbost that declares hyperparameters. Did you mean xgboost?",
        ),
        (["--hyperparameters", "nothing.py"], "Name a script, or a built-in: xgboost"),
        (["--hyperparameters", "plain.py"], "run: python plain.py --export-hyperparameters"),
        ([], "Give one of JOB and --hyperparameters."),
        (["job.toml", "--hyperparameters", "xgboost"], "Give one of JOB and --hyperparameters."),
    ],
)
def test_what_cannot_be_told_is_refused_with_what_to_do(tmp_path: Path, words: list[str], told: str) -> None:
    (tmp_path / "plain.py").write_text("print('loss=1')\n")
    done = plan(tmp_path, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr
