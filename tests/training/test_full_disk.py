"""Checkpoints on a disk that is full or read-only: told, the older one stays, the training goes on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bandstand.training.checkpoints import Checkpoints

from .conftest import clean_environment, lay_out

MOUNTED = """
import os, sys
from bandstand.backends import kernel, mounts
from bandstand.backends.enclosure import Enclosure

Enclosure(files=True, processes=False, users=os.geteuid() != 0).enter()
mounts.make_private()
folder = os.environ["SAGEMAKER_BASE_DIR"] + "/checkpoints"
kernel.mount("tmpfs", folder, "tmpfs", int(sys.argv[1]), "size=64k")
code = os.spawnv(os.P_WAIT, sys.executable, [sys.executable, *sys.argv[2:]])
sys.exit(code)
"""

SCRIPT = """
import bandstand

run = bandstand.start()
print("resumes", run.resume_iteration, flush=True)
for iteration in run.iterations(3):
    run.report(iteration, {"loss": 1.0})
    run.checkpoint(iteration, lambda path: path.write_bytes(b"x" * (10_000 if iteration == 1 else 200_000)))
import sys
from bandstand.training.checkpoints import Checkpoints
print("kept", list(Checkpoints(run.checkpoint_dir, "a-job", "algo-1").find()), flush=True)
run.save_model("m", lambda path: path.write_text("x"))
"""

READ_ONLY = 1  # MS_RDONLY of mount(2)


def run_on_small_disk(base: Path, flags: int) -> subprocess.CompletedProcess[str]:
    if sys.platform != "linux":
        pytest.skip("needs a file system of its own")
    lay_out(base, ("algo-1",), "algo-1", {})
    (base / "train.py").write_text(SCRIPT)
    return subprocess.run(
        [sys.executable, "-c", MOUNTED, str(flags), str(base / "train.py")],
        env=clean_environment(SAGEMAKER_BASE_DIR=str(base), TRAINING_JOB_NAME="a-job"),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def test_a_full_disk_costs_the_new_checkpoint_and_not_the_older_one(tmp_path: Path) -> None:
    done = run_on_small_disk(tmp_path, 0)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("iteration=") == 3
    assert "kept [1]" in done.stdout
    assert done.stderr.count("no checkpoint of iteration") == 1
    assert "no checkpoint of iteration 2: the disk is full: " in done.stderr
    assert "The training goes on, the last one stays that of iteration 1." in done.stderr


def test_a_read_only_folder_is_told_and_the_training_goes_on(tmp_path: Path) -> None:
    done = run_on_small_disk(tmp_path, READ_ONLY)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("iteration=") == 3
    assert "no checkpoint of iteration 1: Read-only file system: " in done.stderr
    assert (tmp_path / "model" / "m").exists()
    assert "Traceback" not in done.stderr


def test_a_folder_that_this_user_may_not_read_is_told(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        folder = Path("/proc/1/nowhere")  # even root makes no folders here
    else:
        folder = tmp_path / "closed" / "c"
        folder.parent.mkdir(mode=0)
    checkpoints = Checkpoints(folder, "a-job", "algo-1")
    assert checkpoints.find() == {}
    assert checkpoints.write(1, lambda path: path.write_text("x"))
