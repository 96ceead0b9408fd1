"""The same name spaces for a user without rights: a part of the contract suite is run again as nobody."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

NOBODY = 65534
REPOSITORY = Path(__file__).parents[2]
CHOSEN = (
    "names_that_resolve",
    "all_files_of_a_replicated_channel",
    "cannot_be_changed",
    "stays_on_its_host",
    "nothing_is_left_on_the_machines",
    "stays_visible",
    "after_the_grace_time",
    "supervisor_is_killed",
    "leader_first",
)


@pytest.fixture
def folder() -> Iterator[Path]:
    """A temporary folder of nobody's own; those of pytest are closed to other users."""
    path = Path(tempfile.mkdtemp(prefix="bandstand-nobody-"))
    os.chown(path, NOBODY, NOBODY)
    yield path
    shutil.rmtree(path)


def run_as_nobody(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    own = [str(REPOSITORY / part) for part in (".", "src", "container")]
    installed = [path for path in sys.path if path.endswith("site-packages")]
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": os.pathsep.join([*own, *installed]),
    }
    return subprocess.run(
        command,
        cwd=REPOSITORY,
        env=environment,
        user=NOBODY,
        group=NOBODY,
        extra_groups=[],
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )


def interpreter(folder: Path) -> str:
    """Return a Python that nobody can run, with all that the tests import; skip where there is none."""
    for candidate in (sys.executable, "/usr/bin/python3", "/usr/local/bin/python3"):
        check = "import sys, pytest, bandstand; assert sys.version_info >= (3, 11)"
        try:
            tried = run_as_nobody(folder, candidate, "-c", check)
        except OSError:
            continue
        if tried.returncode == 0:
            return candidate
    pytest.skip("no Python on this machine that the user nobody can run with this checkout")


@pytest.mark.skipif(os.geteuid() != 0, reason="this user has no rights anyway: the whole suite shows it")
def test_hosts_are_real_for_a_user_without_rights(folder: Path) -> None:
    done = run_as_nobody(
        folder,
        interpreter(folder),
        *("-m", "pytest", "-q", "-p", "no:cacheprovider", f"--basetemp={folder / 'tests'}"),
        *("tests/backends/test_processes.py::TestHostsInNameSpaces", "-k", " or ".join(CHOSEN)),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(CHOSEN)} passed" in done.stdout
