"""requirements.txt beside the program: installed before the ranks start, in an image that asks for it."""

from __future__ import annotations

import os
import textwrap
from pathlib import Path

from bandstand.sagemaker_files import Folders

from ..conftest import Launcher

INSTALL = {"BANDSTAND_REQUIREMENTS": "install"}

BUILDS_A_WHEEL = """
import zipfile
def build_wheel(folder, config_settings=None, metadata_directory=None):
    with zipfile.ZipFile(f"{folder}/wanted-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("wanted.py", "ANSWER = 42\\n")
        metadata = "Metadata-Version: 2.1\\nName: wanted\\nVersion: 1.0\\n"
        wheel.writestr("wanted-1.0.dist-info/METADATA", metadata)
        wheel.writestr("wanted-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\\nTag: py3-none-any\\n")
        wheel.writestr("wanted-1.0.dist-info/RECORD", "")
    return "wanted-1.0-py3-none-any.whl"
"""
NEVER_ENDS = """
import os, signal, sys
def build_wheel(folder, config_settings=None, metadata_directory=None):
    with open(os.environ["PIP_HAS_BEGUN"], "w") as pipe:
        pipe.write("begun")
    while True:
        signal.pause()
"""


def require_project(folders: Folders, backend: str) -> None:
    """Let requirements.txt name a project beside it, which is built without any index."""
    project = folders.code / "project"
    project.mkdir()
    (project / "backend.py").write_text(textwrap.dedent(backend))
    (project / "pyproject.toml").write_text(
        '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
        '[project]\nname = "wanted"\nversion = "1.0"\n'
    )
    (folders.code / "requirements.txt").write_text("./project\n")


def test_the_program_finds_what_it_requires(cluster: Launcher, tmp_path: Path):
    environment = INSTALL | {"PIP_TARGET": str(tmp_path / "site"), "PYTHONPATH": str(tmp_path / "site")}
    job = cluster(
        1,
        "import wanted; print('answer', wanted.ANSWER)",
        environment=environment,
        prepare=lambda folders: require_project(folders, BUILDS_A_WHEEL),
    )
    assert job.wait() == [0]
    assert "answer 42" in job[0].out


def test_what_cannot_be_installed_fails_the_job_on_all_hosts_with_pips_own_words(cluster: Launcher):
    def require(folders: Folders) -> None:
        (folders.code / "requirements.txt").write_text("./gone-1.0-py3-none-any.whl\n")

    job = cluster(2, "print('trained')", environment=INSTALL, prepare=require)
    assert job.wait() == [2, 2]
    for host in job:
        assert "requirements.txt could not be installed (pip ended with code 1)" in host.failure
        assert "gone-1.0-py3-none-any.whl" in host.failure
        assert "trained" not in host.out


def test_a_stop_ends_the_installation_and_nothing_is_trained(cluster: Launcher, tmp_path: Path):
    pipe = tmp_path / "begun"
    os.mkfifo(pipe)
    job = cluster(
        2,
        "print('trained')",
        environment=INSTALL | {"PIP_HAS_BEGUN": str(pipe)},
        prepare=lambda folders: require_project(folders, NEVER_ENDS),
    )
    with pipe.open() as reader:
        assert reader.read().startswith("begun")
    job.signal()
    assert job.wait() == [0, 0]
    assert all("trained" not in host.out and not host.failure for host in job)
