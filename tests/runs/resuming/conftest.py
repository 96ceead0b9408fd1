"""A launcher to crash, and the crash."""

from __future__ import annotations

import json
import subprocess
import sys
import uuid

import pytest

from bandstand.runs.stored import training_jobs

from .crashing import LAUNCH, kill, lives, running, until


@pytest.fixture
def mark() -> tuple[str, str]:
    return "BANDSTAND_TEST_MARK", uuid.uuid4().hex


@pytest.fixture
def launch(tmp_path):
    started = []

    def start(plan, lease: float = 60.0) -> subprocess.Popen[str]:
        text = plan if isinstance(plan, str) else json.dumps(plan.to_dict())
        words = [sys.executable, str(LAUNCH), str(tmp_path / "home"), text, "5", str(lease)]
        started.append(subprocess.Popen(words, stdout=subprocess.PIPE, text=True))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.fixture
def crash(record, supervisors, mark):
    """Kills a launcher; with it the supervisors, or everything."""

    def all_at_once(launcher: subprocess.Popen[str], reach: str) -> None:
        folders = [row.folder for row in training_jobs(record)] if reach != "launcher" else []
        victims = [launcher.pid, *(process for folder in folders for process in supervisors(folder))]
        victims += running(mark) if reach == "everything" else []
        kill(victims)
        launcher.wait()
        until(lambda: not any(lives(process) for process in victims))

    return all_at_once
