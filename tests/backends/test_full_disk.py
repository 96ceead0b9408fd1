"""A full disk ends a job with that reason; neither a hang nor half a line is left."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).parents[2]

DRIVER = """
import json, os, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from bandstand.backends import kernel, mounts
from bandstand.backends.enclosure import Enclosure
from bandstand.backends.processes import ProcessBackend
from tests.backends.jobs import Job, make_plan

root, size, script = Path(sys.argv[2]), sys.argv[3], sys.argv[4]
Enclosure(files=True, processes=False, users=os.geteuid() != 0).enter()
mounts.make_private()
plan = make_plan(root, "job-1", script)
small = root / "small"
small.mkdir()
kernel.mount("tmpfs", str(small), "tmpfs", 0, f"size={size}")
if sys.argv[5] == "output":
    from dataclasses import replace
    plan = replace(plan, output=(small / "out").as_uri())
home = small / "home" if sys.argv[5] == "home" else root / "home"
job = Job(ProcessBackend(lease_seconds=60.0), home / "jobs" / "job-1")
job.backend.submit(plan, job.folder, threads=1)
state = job.ends()
log = (job.folder / "logs" / "algo-1.log").read_bytes()
print(json.dumps({"status": state.status, "reason": state.failure_reason, "lines": len(job.lines()),
                  "whole": log.count(b"\\n"), "secondary": [step.status for step in state.transitions],
                  "codes": [host.exit_code for host in state.hosts],
                  "texts": sorted(set(job.texts())),
                  "left": [str(path) for path in small.rglob("*.partial")]}))
"""


def run_on_small_disk(root: Path, size: str, script: str, what: str) -> dict[str, Any]:
    if sys.platform != "linux":
        pytest.skip("needs a file system of its own")
    done = subprocess.run(
        [sys.executable, "-c", DRIVER, str(REPOSITORY), str(root), size, script, what],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told


def test_a_log_that_fills_the_disk_fails_the_job_and_keeps_its_whole_lines(tmp_path: Path) -> None:
    script = "while True: print('x' * 1000)"
    told = run_on_small_disk(tmp_path, "1m", script, "home")
    assert told["status"] == "Failed"
    assert told["reason"].startswith("The log of algo-1 cannot be written: No space left on device (")
    assert told["secondary"][-2:] == ["Uploading", "Failed"]
    assert told["codes"][0] is not None
    assert told["lines"] == told["whole"] > 100
    assert "x" * 1000 in told["texts"]
    assert all(text == "x" * 1000 or text.startswith("bandstand") for text in told["texts"])


def test_a_model_that_fills_the_disk_fails_the_job_and_leaves_no_half_archive(tmp_path: Path) -> None:
    script = """
        import os
        base = os.environ.get("SAGEMAKER_BASE_DIR", "/opt/ml")
        open(base + "/model/weights", "wb").write(os.urandom(2 << 20))
    """
    told = run_on_small_disk(tmp_path, "1m", script, "output")
    assert told["status"] == "Failed"
    assert "The archives could not be packed: [Errno 28] No space left on device" in told["reason"]
    assert "what the hosts left is kept in" in told["reason"]
    assert told["left"] == []
