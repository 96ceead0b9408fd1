"""What breaks while containers train: the job ends soon, says why, and leaves nothing at the engine."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.backends.jobs import Job, eventually, make_plan, supervisor_of, unpacked
from tests.docker.images import IMAGE, changed_image, docker, idle_volumes

from bandstand.backends.containers import ContainerBackend

Submit = Callable[..., Job]

RING = """
    import bandstand
    run = bandstand.start()
    for iteration in run.iterations(10**9):
        bandstand.mean(1.0)
        if iteration == 1:
            print("ready", flush=True)
"""
"""Two hosts that wait for each other in every iteration."""


@pytest.fixture
def submit(tmp_path: Path) -> Iterator[Submit]:
    """Hands a job of two hosts in; afterwards nothing of it is at the engine, not even a volume."""
    volumes = idle_volumes()
    folder = tmp_path / "home" / "jobs" / "job-1"
    with closing(ContainerBackend(lease_seconds=60.0, peer_grace=1.0)) as backend:

        def handed_in(script: str = "", **changes: object) -> Job:
            plan = make_plan(tmp_path, "job-1", script, **{"image": IMAGE, "hosts": 2, **changes})
            backend.submit(plan, folder, threads=1)
            return Job(backend, folder)

        yield handed_in
        backend.kill(folder)
        eventually(lambda: backend.describe(folder).is_ended, "the end of the job")
    assert at_the_engine(folder) == []
    assert idle_volumes() <= volumes


def at_the_engine(folder: Path) -> list[str]:
    chosen = ("--quiet", "--filter", f"label=bandstand.folder={folder}")
    return [*docker("ps", "--all", *chosen).split(), *docker("network", "ls", *chosen).split()]


def container_of(job: Job, host: str) -> str:
    labels = (f"label=bandstand.folder={job.folder}", f"label=bandstand.host={host}")
    return docker("ps", "--quiet", *(word for label in labels for word in ("--filter", label)))


def reason(job: Job) -> str:
    state = job.ends()
    assert state.status == "Failed", job.report()
    return state.failure_reason or ""


@pytest.mark.parametrize("host", ["algo-1", "algo-2"])
def test_a_host_whose_container_is_killed_is_named(host: str, submit: Submit) -> None:
    job = submit(RING)
    job.says("ready", 2)
    docker("kill", container_of(job, host))
    assert reason(job).startswith(f"{host}: process 1 was ended by SIGKILL")


def test_a_host_whose_container_is_removed_is_named(submit: Submit) -> None:
    job = submit(RING)
    job.says("ready", 2)
    docker("rm", "--force", "--volumes", container_of(job, "algo-2"))
    assert reason(job).startswith("algo-2: process 1 was ended by SIGKILL")


def test_a_rank_beyond_its_hosts_memory_ends_all_hosts_with_that_reason(submit: Submit) -> None:
    script = """
        import bandstand
        run = bandstand.start()
        for iteration in run.iterations(10**9):
            bandstand.mean(1.0)
            if run.rank == 1 and iteration == 3:
                held = bytearray(400 << 20)
    """
    found = reason(submit(script, environment=(("BANDSTAND_HOST_MEMORY", "128m"),)))
    assert found.startswith("algo-2 reached its memory limit of 128 MiB (BANDSTAND_HOST_MEMORY)")


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ("written", "OSError: [Errno 28] No space left on device (train.py, line 5) on algo-1"),
        ("mapped", "often the shared memory of the container (/dev/shm) is full"),
    ],
)
def test_full_shared_memory_is_told(how: str, told: str, submit: Submit) -> None:
    script = """
        import mmap, sys
        with open("/dev/shm/batch", "wb+") as file:
            if sys.argv[-1] == "written":
                file.write(bytes(16 << 20))
            else:
                file.truncate(16 << 20)
                mmap.mmap(file.fileno(), 16 << 20).write(bytes(16 << 20))
    """
    limit = (("BANDSTAND_HOST_SHM", "8m"),)
    assert told in reason(submit(script, hosts=1, environment=limit, hyperparameters={"how": how}))


def test_an_image_without_python_says_so(submit: Submit) -> None:
    with changed_image(
        "bandstand-test-bare:1", 'ENTRYPOINT ["python-none", "-m", "bandstand.training"]'
    ) as image:
        found = reason(submit(image=image))
    assert found.startswith("algo-1 could not be started: The image bandstand-test-bare:1 cannot start")
    assert "python-none" in found


def test_an_entry_point_that_fails_at_once_gives_its_last_words(submit: Submit) -> None:
    entry = """ENTRYPOINT ["sh", "-c", "echo no license for this host >&2; exit 7"]"""
    with changed_image("bandstand-test-failing:1", entry) as image:
        found = reason(submit(image=image))
    assert found.startswith("algo-"), found
    assert "ended with exit code 7" in found
    assert "no license for this host" in found


RESUMABLE = """
import signal, sys, bandstand
run = bandstand.start()
begun = run.resume_path.read_text() if run.resume_path else "nothing"
for iteration in run.iterations(5):
    run.report(iteration, {"validation:loss": bandstand.mean(1 / iteration)})
    run.checkpoint(iteration, lambda path: path.write_text(str(iteration)))
    if iteration == 3 and not run.resume_path:
        print("waits", flush=True)
        while True:
            signal.pause()
run.save_model("model", lambda path: path.write_text(f"from {begun}"))
"""
"""Stays at its third iteration until it is killed; goes on from its checkpoint to the fifth."""

JOB = """
name = "lost"
image = "{image}"
program = "train.py"
code = "src"
output = "out"
[cluster]
hosts = 2
[hyperparameters]
declared = 1
"""

TUNING = """
[metrics]
"validation:loss" = ' validation:loss=([-+0-9.eE]+)'
[tuning]
metric = "validation:loss"
goal = "minimize"
strategy = "random"
jobs = 2
parallel = 2
[ranges]
x = { continuous = [0, 1] }
"""


@pytest.mark.parametrize(("verb", "jobs"), [("train", 1), ("tune", 2)])
def test_jobs_whose_launcher_and_supervisors_are_killed_go_on_from_their_checkpoints(
    verb: str, jobs: int, tmp_path: Path
) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "train.py").write_text(RESUMABLE)
    (tmp_path / "job.toml").write_text(JOB.format(image=IMAGE) + (TUNING if verb == "tune" else ""))
    home = tmp_path / "home"
    launcher = subprocess.Popen(
        command(verb, tmp_path / "job.toml", "--on", "containers", "--home", home, "--json"),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        eventually(lambda: len(waiting(home)) == jobs, "all jobs at their third iteration")
    finally:
        launcher.kill()
        launcher.wait()
    folders = waiting(home)
    for folder in folders:
        os.kill(supervisor_of(Job(ContainerBackend(), folder)), signal.SIGKILL)
    done = subprocess.run(
        command(verb, "--resume", "lost", "--home", home, "--json"),
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    facts = json.loads(done.stdout)
    assert facts["status"] == "Completed"
    names = [job["name"] for job in facts["training_jobs"]] if verb == "tune" else ["lost"]
    for name in names:
        shown: dict[str, Any] = json.loads(
            subprocess.check_output(command("show", name, "--home", home, "--json"))
        )
        assert [point["iteration"] for point in shown["metrics"]] == [1, 2, 3, 4, 5]
        assert unpacked(Path(shown["model"]))["model"] == b"from 3"
    for folder in folders:
        assert at_the_engine(folder) == []


def command(*words: object) -> list[str]:
    return [sys.executable, "-m", "bandstand.cli", *map(str, words)]


def waiting(home: Path) -> list[Path]:
    """The folders of jobs that wait on both hosts, with the checkpoint of their third iteration."""
    said: dict[Path, int] = {}
    for log in (home / "jobs").glob("*/logs/*.log"):
        said[log.parents[1]] = said.get(log.parents[1], 0) + log.read_text().count(" waits\n")
    return [folder for folder, times in said.items() if times == 2]
