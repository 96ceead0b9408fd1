"""The start of a job on two containers, beside two bare containers and beside local mode of SageMaker's SDK.

Needs a container engine with the image, and the SDK where `make test-interop` installs it. The program does
nothing, so that what is measured is the way there and back: of the job itself, as backend and SDK run it in
a process that has started, and of the whole commands, as a user waits for them.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path

from bandstand.backends.containers import ContainerBackend
from bandstand.errors import PlatformError
from bandstand.request.plan import TrainingPlan
from benchmarks.bench import Bench, NotHereError
from benchmarks.findings import Findings, interleaved

IMAGE = os.environ.get("BANDSTAND_BENCH_IMAGE", "bandstand:latest")
SDK = Path.home() / ".cache" / "bandstand" / "sdk-v3" / "bin" / "python"
PROGRAM = Path(__file__).parent / "programs" / "local_mode.py"
BARE_SECONDS = 0.3
PEER_RATIO = 0.5
_JOB = """name = "{name}"
image = "{image}"
code = "code"
program = "true.sh"
output = "out"
[cluster]
hosts = 2
"""
_MODULES = "import bandstand.training.host.process, bandstand.training.host.attendance"
_OURS, _BARE, _PEER = "job of two hosts on containers", "two bare containers", "SDK 3, local mode, two hosts"
_COMMAND, _SCRIPT = "bandstand train --on containers, two hosts", "script for SDK 3, local mode, two hosts"


def measure(bench: Bench) -> Findings:
    """Time a job whose program does nothing, from being handed in to its end."""
    findings = Findings("container_start")
    try:
        ContainerBackend().check(_plan(Path("/"), "start"))
    except PlatformError as error:
        raise NotHereError(str(error)) from error
    with bench.scratch() as folder:
        (folder / "code").mkdir()
        (folder / "code" / "true.sh").write_text("exit 0\n")
        numbers = count()
        sides: dict[str, Callable[[], float]] = {
            _OURS: lambda: _job(folder, f"start-{next(numbers)}"),
            _BARE: _bare,
            _COMMAND: lambda: _command(folder / f"command-{next(numbers)}"),
        }
        scripts: list[float] = []
        if bench.peers and SDK.exists():
            sides[_PEER] = lambda: _local_mode(folder, folder / f"local-{next(numbers)}", scripts)
        else:
            findings.notes.append("without SageMaker's SDK: make test-interop installs it")
        found = interleaved(sides, bench.repeats(bench.times(10, least=2)), bench.tell)
    spreads = {name: findings.side(name, "s", values) for name, values in found.items()}
    more = [ours - bare for ours, bare in zip(found[_OURS], found[_BARE], strict=True)]
    above = findings.side(f"{_OURS}: time above {_BARE}", "s", more)
    findings.aim(above.name, above.median, BARE_SECONDS, "s")
    if _PEER in spreads:
        findings.ratio(spreads[_OURS], spreads[_PEER])
        whole = findings.ratio(spreads[_COMMAND], findings.side(_SCRIPT, "s", scripts))
        findings.aim(whole.name, whole.median, PEER_RATIO)
    return findings


def _plan(folder: Path, name: str) -> TrainingPlan:
    code = (folder / "code").as_uri()
    return TrainingPlan(
        name=name,
        image=IMAGE,
        hosts=2,
        instance_type="ml.m5.xlarge",
        volume_gb=1,
        role="arn:aws:iam::111122223333:role/Training",
        hyperparameters=(("sagemaker_program", "true.sh"), ("sagemaker_submit_directory", code)),
        channels=(),
        output=(folder / "out").as_uri(),
        checkpoints=None,
        environment=(),
        max_runtime=None,
        metrics=(),
        tags=(),
        document="{}",
    )


def _job(folder: Path, name: str) -> float:
    backend = ContainerBackend(lease_seconds=600.0)
    job = folder / "jobs" / name
    plan = _plan(folder, name)
    start = time.perf_counter()
    backend.submit(plan, job, threads=1)
    while not (state := backend.describe(job)).is_ended:
        time.sleep(0.005)
    seconds = time.perf_counter() - start
    backend.close()
    if state.status != "Completed":
        raise NotHereError(f"The job ended as {state.status}: {state.failure_reason}")
    return seconds


def _bare() -> float:
    """Two containers that import what process 1 of a host imports, at the same time."""
    command = ["docker", "run", "--rm", "--entrypoint", "python", IMAGE, "-c", _MODULES]
    start = time.perf_counter()
    both = [subprocess.Popen(command) for _ in range(2)]
    codes = [each.wait() for each in both]
    seconds = time.perf_counter() - start
    if any(codes):
        raise NotHereError(f"{' '.join(command)} ended with {codes}")
    return seconds


def _command(folder: Path) -> float:
    """The whole command for the same job, in a home of its own."""
    (folder / "code").mkdir(parents=True)
    (folder / "code" / "true.sh").write_text("exit 0\n")
    job = folder / "job.toml"
    job.write_text(_JOB.format(name=folder.name, image=IMAGE))
    start = time.perf_counter()
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "bandstand.cli",
            "train",
            job,
            "--on",
            "containers",
            "--home",
            folder / "home",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    seconds = time.perf_counter() - start
    if done.returncode:
        raise NotHereError(f"The command failed: {(done.stdout + done.stderr)[-1000:]}")
    return seconds


def _local_mode(folder: Path, root: Path, scripts: list[float]) -> float:
    """Return what `train()` took; the whole script's seconds are added to the list."""
    root.mkdir()
    start = time.perf_counter()
    none = {"AWS_ACCESS_KEY_ID": "none", "AWS_SECRET_ACCESS_KEY": "none", "AWS_EC2_METADATA_DISABLED": "true"}
    done = subprocess.run(
        [SDK, PROGRAM, IMAGE, folder / "code", root],
        env={**os.environ, **none},
        capture_output=True,
        text=True,
        check=False,
        cwd=root,
    )
    scripts.append(time.perf_counter() - start)
    compose = ["docker-compose", "-f", str(root / "docker-compose.yaml"), "down"]
    subprocess.run(compose, check=False, capture_output=True)
    seconds = [line.split()[1] for line in done.stdout.splitlines() if line.startswith("seconds ")]
    if done.returncode or not seconds:
        raise NotHereError(f"Local mode of the SDK failed: {(done.stdout + done.stderr)[-1000:]}")
    return float(seconds[0])
