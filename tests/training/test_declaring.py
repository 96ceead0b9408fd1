"""A script that declares hyperparameters: its help, its file, its command line, its start in a job."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bandstand import hyperparameter as hp
from bandstand.hyperparameter_schema import Schema
from bandstand.sagemaker_files import Folders
from bandstand.training.declaring import arguments

from .conftest import Launcher, clean_environment

SCRIPT = """
import json
import bandstand
from bandstand import hyperparameter as hp

run = bandstand.start(schema=[
    hp("epochs", int, 1, 100, default=2, help="Passes over the rows."),
    hp("learning-rate", float, above=0, default=0.1, tune=(1e-4, 1), scale="log", aliases=["eta"]),
    hp("optimizer", ["sgd", "adam"]),
    hp("nesterov", bool, default=False),
])
for iteration in run.iterations(run.settings.epochs):
    run.report(iteration, {"loss": run.settings.learning_rate / iteration})
print("settings", json.dumps(vars(run.settings)), flush=True)
"""


def python(folder: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    (folder / "train.py").write_text(SCRIPT, "utf-8")
    return subprocess.run(
        [sys.executable, "train.py", *words],
        cwd=folder,
        env=clean_environment(SAGEMAKER_BASE_DIR="", **environment),
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.mark.parametrize("word", ["--help", "-h"])
def test_a_script_tells_what_it_declares(tmp_path: Path, word: str) -> None:
    done = python(tmp_path, word)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("usage: python train.py [--NAME VALUE ...]\n")
    assert (
        "  --epochs\n      a whole number from 1 to 100; default 2\n      Passes over the rows.\n"
        in done.stdout
    )
    assert "  --learning-rate, --eta\n" in done.stdout
    assert "bandstand plan" in done.stdout


def test_a_script_takes_values_by_hand_in_any_spelling(tmp_path: Path) -> None:
    done = python(tmp_path, "--eta=1", "--optimizer", "adam", "--nesterov", "--epochs", "1")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "iteration=1 loss=1.0",
        'settings {"epochs": 1, "learning_rate": 1.0, "optimizer": "adam", "nesterov": true}',
    ]
    assert "optimizer=adam" in done.stderr


def test_a_script_refuses_all_that_is_wrong_by_hand_without_a_traceback(tmp_path: Path) -> None:
    done = python(tmp_path, "x", "--epochs", "0", "--optimiser", "adam", "--eta", "--nesterov", "maybe")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines() == [
        "train.py:",
        "  The command line has 'x'; expected --NAME VALUE.",
        "  The command line has --eta without a value; expected --eta VALUE.",
        "  Hyperparameter 'epochs' is '0'; expected a whole number from 1 to 100.",
        "  There is no hyperparameter 'optimiser'. Did you mean 'optimizer'?",
        "  Hyperparameter 'nesterov' is 'maybe'; expected true or false.",
        "Try --help.",
    ]


def test_the_command_line_is_read_word_by_word() -> None:
    schema = Schema([hp("a", int), hp("b", bool), hp("c-d", str)])
    assert arguments(schema, ["--a", "-5", "--b", "--c_d=--x"]) == (
        {"a": "-5", "b": "true", "c_d": "--x"},
        [],
    )
    assert arguments(schema, ["--b", "false"]) == ({"b": "false"}, [])
    assert arguments(schema, ["--a", "1", "--a", "2"])[1] == [
        "The command line has --a twice. Keep one of them."
    ]
    assert arguments(schema, ["--", "--x"])[1] == [
        "The command line has '--'; expected --NAME VALUE.",
        "The command line has --x without a value; expected --x VALUE.",
    ]


def test_a_script_writes_its_file_beside_itself_or_where_it_is_told_to(tmp_path: Path) -> None:
    done = python(tmp_path, "--export-hyperparameters")
    written = tmp_path / "train.hyperparameters.json"
    assert (done.returncode, done.stdout) == (0, f"{written}\n")
    document = json.loads(written.read_text("utf-8"))
    assert [each["Name"] for each in document["SupportedHyperParameters"]] == [
        "epochs",
        "learning-rate",
        "optimizer",
        "nesterov",
    ]
    assert document["Bandstand"]["Program"]["Name"] == "train.py"
    assert python(tmp_path, "--export-hyperparameters", "other.json").returncode == 0
    assert (tmp_path / "other.json").read_text("utf-8") == written.read_text("utf-8")
    assert python(tmp_path, "--export-hyperparameters=third.json").returncode == 0
    assert (tmp_path / "third.json").read_text("utf-8") == written.read_text("utf-8")
    assert python(tmp_path, "--epochs", "3", "--export-hyperparameters").returncode == 2


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["nowhere/x.json"], "nowhere/x.json: No such file or directory"),
        (
            ["a", "b"],
            "found --export-hyperparameters together with a b; expected --export-hyperparameters [FILE]",
        ),
        (["--epochs", "3"], "found --export-hyperparameters together with --epochs 3; expected"),
        (["--nesterov"], "found --export-hyperparameters together with --nesterov; expected"),
    ],
)
def test_a_file_that_cannot_be_written_is_told_of(tmp_path: Path, words: list[str], told: str) -> None:
    done = python(tmp_path, "--export-hyperparameters", *words)
    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr


def test_a_rank_takes_its_values_from_the_job(cluster: Launcher) -> None:
    job = cluster(2, SCRIPT, hyperparameters={"optimizer": '"sgd"', "eta": "0.5", "nesterov": "True"})
    assert job.wait() == [0, 0]
    for host in job.hosts:
        assert (
            'settings {"epochs": 2, "learning_rate": 0.5, "optimizer": "sgd", "nesterov": true}'
            in host.output
        )


def test_a_job_with_wrong_hyperparameters_ends_at_once_with_all_of_them_as_its_reason(
    cluster: Launcher,
) -> None:
    job = cluster(2, SCRIPT, hyperparameters={"optimizer": "adm", "epochs": "1000", "lerning_rate": "1"})
    assert all(job.wait())
    for host in job.hosts:
        reason = host.folders.failure.read_text()
        assert (
            "Hyperparameter 'optimizer' is 'adm'; expected one of sgd, adam. Did you mean 'adam'?" in reason
        )
        assert "Hyperparameter 'epochs' is '1000'; expected a whole number from 1 to 100." in reason
        assert "There is no hyperparameter 'lerning_rate'. Did you mean 'learning-rate'?" in reason
        assert "Traceback" not in host.output


@pytest.mark.parametrize("written", ["{}", "no JSON", None])
def test_a_job_tells_when_the_file_beside_its_script_is_of_other_declarations(
    cluster: Launcher, tmp_path: Path, written: str | None
) -> None:
    python(tmp_path, "--export-hyperparameters")
    text = written or (tmp_path / "train.hyperparameters.json").read_text("utf-8")

    def put(folders: Folders) -> None:
        folders.code.joinpath("train.hyperparameters.json").write_text(text, "utf-8")

    job = cluster(1, SCRIPT, hyperparameters={"optimizer": "sgd"}, prepare=put)
    assert job.wait() == [0]
    told = "does not hold what train.py declares: run python train.py --export-hyper" in job.hosts[0].output
    assert told == (written is not None)


def test_hyperparameters_are_declared_at_the_first_call_only(tmp_path: Path) -> None:
    code = "import bandstand\nbandstand.start()\nbandstand.start(schema=[])"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=clean_environment(SAGEMAKER_BASE_DIR=""),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert "JobError: The run has begun: give schema to the first call" in done.stderr
