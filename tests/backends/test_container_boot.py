"""What a supervisor asks the engine for before it has begun; a socket stands for the engine."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from bandstand.backends.attempt import first_state, lay_out
from bandstand.backends.container_planning import container_task
from bandstand.backends.job_folder import JobFolder
from bandstand.backends.state_file import read_state
from bandstand.backends.task import task_from_plan

from .engine_server import EngineServer
from .jobs import channel, make_plan

_BOOT = "import sys; from bandstand.backends.container_boot import main; sys.exit(main(sys.argv[1:]))"


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[EngineServer]:
    """An engine that makes whatever it is asked for."""
    body = b'{"Id": "made"}'
    head = b"HTTP/1.1 201 Created\r\nContent-Length: %d\r\n\r\n" % len(body)
    with closing(EngineServer(tmp_path / "engine.sock", head + body)) as server:
        yield server


def run(root: Path, engine: EngineServer, *, capacity: float = 0.0, **changes: object) -> JobFolder:
    """Supervise a job to its end."""
    plan = make_plan(root, **changes)
    job = JobFolder(root / "home" / "jobs" / "job-1")
    job.path.mkdir(parents=True)
    task = task_from_plan(plan, threads=1, command=(), timing={"capacity": capacity, "lease_seconds": 60.0})
    task = replace(task, container=container_task(plan, {}, {}))
    lay_out(job, task, first_state(task))
    environ = {**os.environ, "DOCKER_HOST": engine.engine.address}
    subprocess.run([sys.executable, "-c", _BOOT, str(job.path)], env=environ, check=True, timeout=60)
    return job


def test_a_job_that_waits_for_capacity_has_no_network_meanwhile(engine: EngineServer, tmp_path: Path) -> None:
    job = run(tmp_path, engine, capacity=time.time() + 600, max_wait=1, max_runtime=1)
    assert read_state(job).secondary_status == "MaxWaitTimeExceeded"
    assert engine.asked == []


def test_a_job_that_cannot_begin_has_its_network_removed(engine: EngineServer, tmp_path: Path) -> None:
    job = run(tmp_path, engine, channels=(channel("train", tmp_path / "gone"),))
    state = read_state(job)
    assert state.status == "Failed"
    assert "gone" in (state.failure_reason or "")
    assert engine.asked == ["POST /v1.41/networks/create HTTP/1.1", "DELETE /v1.41/networks/made HTTP/1.1"]
