from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

from bandstand.sagemaker_files import Cluster, Folders, write_config


def process_1(
    base: Path, script: str, environment: dict[str, str], stdin: int | None = None
) -> subprocess.Popen[str]:
    folders = Folders(base)
    folders.code.mkdir(parents=True)
    (folders.code / "train.sh").write_text(script)
    write_config(folders, {"sagemaker_program": "train.sh"}, Cluster("algo-1", ("algo-1",)), [])
    return subprocess.Popen(
        [sys.executable, "-m", "bandstand.training", "train"],
        env={**os.environ, "SAGEMAKER_BASE_DIR": str(base), **environment},
        stdin=stdin,
        stdout=subprocess.PIPE,
        text=True,
    )


def test_process_1_ends_as_soon_as_its_supervisor_is_gone(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    with process_1(tmp_path, "echo $$; exec sleep 600", {"BANDSTAND_LIFE_FD": "0"}, reader) as process:
        os.close(reader)
        assert process.stdout is not None
        rank = int(process.stdout.readline())
        assert process.poll() is None
        os.close(writer)
        assert process.wait(60) == 137
    os.kill(rank, signal.SIGKILL)  # in a container it is gone with process 1


def test_without_a_supervisor_the_end_of_input_means_nothing(tmp_path: Path) -> None:
    with process_1(tmp_path, "cat; echo read", {}, subprocess.DEVNULL) as process:
        assert process.communicate(timeout=60)[0] == "read\n"
        assert process.returncode == 0


def test_the_greatest_memory_of_any_process_is_left(tmp_path: Path) -> None:
    note = tmp_path / "peak"
    script = f"exec {shlex.quote(sys.executable)} -c 'held = bytearray(60 << 20)'"
    with process_1(tmp_path, script, {"BANDSTAND_PEAK_FILE": str(note)}) as process:
        assert process.wait(60) == 0
    assert 60 << 20 < int(note.read_text()) < 1 << 30
