"""All files that containers leave are the caller's, whoever the image runs as."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.backends.jobs import Job, make_plan, unpacked
from tests.backends.test_unprivileged import NOBODY, REPOSITORY, interpreter
from tests.docker.images import IMAGE, changed_image
from tests.docker.test_engine import SOCKET

from bandstand.backends.containers import ContainerBackend

SCRIPT = """
import os
print("runs as", os.getuid(), flush=True)
for folder in ("model", "output/data", "checkpoints", "code"):
    os.makedirs("/opt/ml/" + folder + "/deep", exist_ok=True)
    descriptor = os.open("/opt/ml/" + folder + "/deep/secret", os.O_CREAT | os.O_WRONLY, 0o600)
    os.write(descriptor, b"x")
"""

DRIVER = """
import os, sys
from pathlib import Path
from tests.backends.jobs import Job, make_plan, unpacked
from tests.docker.test_file_owner import SCRIPT, owners
from bandstand.backends.containers import ContainerBackend
root = Path(sys.argv[1])
job = Job(ContainerBackend(lease_seconds=600.0), root / "home" / "jobs" / "job-1")
job.backend.submit(make_plan(root, "job-1", SCRIPT, image=sys.argv[2], hosts=2), job.folder, threads=1)
state = job.ends()
assert state.status == "Completed", job.report()
assert "runs as 0" in job.texts(), job.report()
assert unpacked(state.model) == {"deep/secret": b"x"}
assert owners(root) == {os.getuid()}, owners(root)
print("all mine")
"""


def owners(root: Path) -> set[int]:
    """Who owns anything below a folder; the folder itself is left out."""
    return {
        os.lstat(os.path.join(folder, name)).st_uid  # noqa: PTH118 - as many as there are files
        for folder, folders, files in os.walk(root)
        for name in (*folders, *files)
    }


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that anybody can reach, with a home of nobody's own; those of pytest are closed to others."""
    path = Path(tempfile.mkdtemp(prefix="bandstand-owner-"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


def test_files_of_an_image_with_a_user_of_its_own_are_the_callers(folder: Path) -> None:
    with (
        changed_image("bandstand-test-user:1", "USER 12345:12345") as image,
        closing(ContainerBackend(lease_seconds=600.0)) as backend,
    ):
        job = Job(backend, folder / "home" / "jobs" / "job-1")
        backend.submit(make_plan(folder, "job-1", SCRIPT, image=image, hosts=2), job.folder, threads=1)
        state = job.ends()
    assert state.status == "Completed", job.report()
    assert "runs as 12345" in job.texts()
    assert unpacked(state.model) == {"deep/secret": b"x"}
    assert owners(folder) == {os.geteuid()}


def test_hosts_run_as_the_caller_when_asked(folder: Path) -> None:
    with closing(ContainerBackend(lease_seconds=600.0)) as backend:
        job = Job(backend, folder / "home" / "jobs" / "job-1")
        plan = make_plan(
            folder, "job-1", SCRIPT, image=IMAGE, environment=(("BANDSTAND_HOST_USER", "54321:54321"),)
        )
        backend.submit(plan, job.folder, threads=1)
        assert job.ends().status == "Completed", job.report()
    assert "runs as 54321" in job.texts()
    assert owners(folder) == {os.geteuid()}


def test_files_of_an_image_that_runs_as_root_are_those_of_a_caller_without_rights(folder: Path) -> None:
    os.chown(folder, NOBODY, NOBODY)
    own = [str(REPOSITORY / part) for part in (".", "src", "container")]
    installed = [path for path in sys.path if path.endswith("site-packages")]
    done = subprocess.run(
        [interpreter(folder), "-c", DRIVER, str(folder / "work"), IMAGE],
        cwd=REPOSITORY,
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "DOCKER_HOST": os.environ.get("DOCKER_HOST", f"unix://{SOCKET}"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPATH": os.pathsep.join([*own, *installed]),
        },
        user=NOBODY,
        group=NOBODY,
        extra_groups=[Path(SOCKET).stat().st_gid],
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
    )
    assert done.stdout.endswith("all mine\n"), done.stdout + done.stderr
