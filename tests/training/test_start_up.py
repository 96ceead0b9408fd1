"""What importing and starting bring along, and a script that is tried out with no job."""

from __future__ import annotations

import importlib.metadata
import json
import subprocess
import sys
from pathlib import Path

import pytest

import bandstand

from .conftest import clean_environment, lay_out


def run(code: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=cwd,
        env=clean_environment(**environment),
        capture_output=True,
        text=True,
    )


def test_importing_bandstand_loads_its_errors_and_nothing_else(tmp_path: Path):
    code = "import sys; before = set(sys.modules); import bandstand; print(*(set(sys.modules) - before))"
    assert set(run(code, tmp_path).stdout.split()) <= {"bandstand", "bandstand.errors", "__future__"}


@pytest.mark.parametrize("name", bandstand.__all__)
def test_every_public_name_is_found_when_it_is_first_used(name: str, tmp_path: Path):
    done = run(f"import bandstand; bandstand.{name}; from bandstand import {name}", tmp_path)
    assert done.returncode == 0, done.stderr


def test_process_1_of_a_job_of_one_rank_opens_no_socket(tmp_path: Path):
    code = "import sys, json, bandstand.training.host.process; print(json.dumps(sorted(sys.modules)))"
    modules = set(json.loads(run(code, tmp_path).stdout))
    assert not modules & {
        "numpy",
        "socket",
        "tempfile",
        "tarfile",
        "hashlib",
        "asyncio",
        "subprocess",
        "hmac",
        "selectors",
        "bandstand.training.meet",
    }


def test_the_version_is_the_packages():
    assert bandstand.__version__ == importlib.metadata.version("bandstand")


def test_metric_definitions_are_at_hand():
    assert bandstand.metric_definitions(["loss"])[0]["Name"] == "loss"


def test_outside_a_job_a_script_is_one_rank_with_nothing_set(tmp_path: Path):
    code = (
        "import bandstand; run = bandstand.start(); assert run is bandstand.start(); print(run)\n"
        "for i in run.iterations(2): run.checkpoint(i, lambda p: p.write_text('x'))\n"
        "run.save_model('m', lambda p: p.write_text('x'))\n"
    )
    for _ in range(2):  # a second try is a fresh one
        done = run(code, tmp_path, SAGEMAKER_BASE_DIR="")
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith("rank 0 of 1 on algo-1;")
        assert "no training job here" in done.stderr
        assert "goes on" not in done.stdout + done.stderr
    assert (tmp_path / "model" / "m").exists()


def test_a_mean_before_the_start_is_a_clear_error(tmp_path: Path):
    done = run("import bandstand; bandstand.mean(1)", tmp_path)
    assert "call bandstand.start() first" in done.stderr


def test_a_job_of_several_hosts_without_process_1_is_a_clear_error(tmp_path: Path):
    lay_out(tmp_path, ("algo-1", "algo-2"), "algo-1", {})
    done = run("import bandstand; bandstand.start()", tmp_path, SAGEMAKER_BASE_DIR=str(tmp_path))
    assert "Make `python -m bandstand.training` the image's entry point" in done.stderr


def test_a_job_of_one_host_works_without_process_1(tmp_path: Path):
    lay_out(tmp_path, ("algo-1",), "algo-1", {"eta": "0.5"})
    code = "import bandstand; print(bandstand.start().hyperparameters.number('eta'))"
    assert run(code, tmp_path, SAGEMAKER_BASE_DIR=str(tmp_path)).stdout == "0.5\n"


@pytest.mark.parametrize(
    "code", ["from bandstand.training import main; main()", "import bandstand.training as t; t.main([])"]
)
def test_it_works_as_the_toolkits_plug_in_and_its_exit_code_counts(tmp_path: Path, code: str):
    folders = lay_out(tmp_path, ("algo-1",), "algo-1", {"sagemaker_program": "t.py"})
    (folders.code / "t.py").write_text("import sys; sys.exit(5)")
    assert run(code, tmp_path, SAGEMAKER_BASE_DIR=str(tmp_path)).returncode == 5


def test_a_child_process_of_a_rank_cannot_speak_for_it(tmp_path: Path):
    code = (
        "import os\n"
        "from bandstand.training.linked_team import Linked\n"
        "team = Linked(None)\n"
        "if os.fork() == 0: team.gather('barrier', None, (0, 0))\n"
        "else: os.wait()\n"
    )
    assert "only the process that called bandstand.start() is a rank" in run(code, tmp_path).stderr


def test_starting_in_another_thread_is_noted(tmp_path: Path):
    code = "import threading, bandstand; t = threading.Thread(target=bandstand.start); t.start(); t.join()"
    assert "not called in the main thread" in run(code, tmp_path).stderr


def test_a_handler_that_the_script_had_installed_is_called_too(tmp_path: Path):
    code = (
        "import os, signal, bandstand\n"
        "signal.signal(signal.SIGTERM, lambda *_: print('mine'))\n"
        "run = bandstand.start(); os.kill(os.getpid(), signal.SIGTERM); print(run.stopping)\n"
    )
    assert run(code, tmp_path).stdout == "mine\nTrue\n"


def test_what_a_killed_save_left_in_the_model_folder_is_swept(tmp_path: Path):
    folders = lay_out(tmp_path, ("algo-1",), "algo-1", {"sagemaker_program": "t.py"})
    (folders.code / "t.py").write_text(
        "import bandstand, os, signal\n"
        "run = bandstand.start()\n"
        "run.save_model('good', lambda path: path.write_text('x'))\n"
        "run.save_model('half', lambda path: (path.write_text('x'), os.kill(os.getpid(), signal.SIGKILL)))\n"
    )
    code = "from bandstand.training import main; main()"
    assert run(code, tmp_path, SAGEMAKER_BASE_DIR=str(tmp_path)).returncode == 137
    assert [path.name for path in folders.model.iterdir()] == ["good"]
