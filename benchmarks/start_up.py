"""Start-up: import bandstand, bandstand --help, process 1 of a host, and a job's supervisor."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path

from bandstand.backends.processes import ProcessBackend
from bandstand.request.plan import TrainingPlan
from bandstand.sagemaker_files import Cluster, Folders, write_config
from benchmarks.bench import Bench, NotHereError
from benchmarks.children import Used, bandstand_command, run_child
from benchmarks.findings import Findings, interleaved

IMPORT_MILLISECONDS = 30
HELP_MILLISECONDS = 200
_IMPORT, _HELP, _NOTHING = "import bandstand", "bandstand --help", "python -c pass"
_HOST, _SUPERVISOR = "process 1 of a host, program true", "supervisor of a job, program true"


def measure(bench: Bench) -> Findings:
    """Time short commands; an import counts from where Python without it is ready."""
    findings = Findings("start_up")
    repeats = bench.repeats(bench.times(20, least=2))
    with bench.scratch() as folder:
        places = count()
        sides: dict[str, Callable[[], Used]] = {
            _NOTHING: lambda: run_child([sys.executable, "-c", "pass"]),
            _IMPORT: lambda: run_child([sys.executable, "-c", "import bandstand"]),
            _HELP: lambda: run_child([*bandstand_command(), "--help"]),
            _HOST: lambda: _host(folder / f"host-{next(places)}"),
            _SUPERVISOR: lambda: _supervisor(folder / f"job-{next(places)}"),
        }
        found = interleaved(sides, repeats, bench.tell)
    for name, used in found.items():
        if name == _IMPORT:
            nothing = found[_NOTHING]
            more = [1000 * (u.seconds - n.seconds) for u, n in zip(used, nothing, strict=True)]
            spread = findings.side(f"{name}: time above python -c pass", "ms", more)
            findings.aim(name, spread.median, IMPORT_MILLISECONDS, "ms")
            more = [1000 * (u.cpu - n.cpu) for u, n in zip(used, nothing, strict=True)]
            findings.side(f"{name}: processor time above python -c pass", "ms", more)
            continue
        if name != _SUPERVISOR:
            spread = findings.side(f"{name}: time", "ms", [1000 * each.seconds for each in used])
        if name == _HELP:
            findings.aim(name, spread.median, HELP_MILLISECONDS, "ms")
        findings.side(f"{name}: processor time", "ms", [1000 * each.cpu for each in used])
    return findings


def _host(base: Path) -> Used:
    """Process 1 of a host alone, whose program does nothing."""
    folders = Folders(base)
    folders.code.mkdir(parents=True)
    (folders.code / "true.sh").write_text("exit 0\n")
    write_config(folders, {"sagemaker_program": "true.sh"}, Cluster("algo-1", ("algo-1",)), [])
    return run_child(
        [sys.executable, "-m", "bandstand.training", "train"], environment={"SAGEMAKER_BASE_DIR": str(base)}
    )


def _supervisor(folder: Path) -> Used:
    """A job from being handed in to the end of its supervisor; the processor time is the supervisor's own."""
    code = folder / "code"
    code.mkdir(parents=True)
    (code / "true.sh").write_text("exit 0\n")
    hyperparameters = {"sagemaker_program": "true.sh", "sagemaker_submit_directory": code.as_uri()}
    plan = TrainingPlan(
        name="start-up",
        image="bandstand:latest",
        hosts=1,
        instance_type="ml.m5.xlarge",
        volume_gb=1,
        role="arn:aws:iam::111122223333:role/Training",
        hyperparameters=tuple(hyperparameters.items()),
        channels=(),
        output=(folder / "out").as_uri(),
        checkpoints=None,
        environment=(),
        max_runtime=None,
        metrics=(),
        tags=(),
        document=json.dumps({}),
    )
    backend = ProcessBackend()
    before = _children()
    start = time.perf_counter()
    backend.submit(plan, folder / "job", threads=1)
    process = (_children() - before).pop()
    os.waitid(os.P_PID, process, os.WEXITED | os.WNOWAIT)  # its figures can be read as long as it is a zombie
    seconds = time.perf_counter() - start
    nanoseconds = int(Path(f"/proc/{process}/schedstat").read_text().split()[0])
    state = backend.describe(folder / "job")
    if state.status != "Completed":
        raise NotHereError(f"The job ended as {state.status}: {state.failure_reason}")
    backend.close()
    return Used(seconds, nanoseconds / 1e9, "")


def _children() -> set[int]:
    return set(map(int, Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()))
