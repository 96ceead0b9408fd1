from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bandstand.backends.backend import HostState, JobState
from bandstand.backends.job_folder import JobFolder
from bandstand.backends.processes import ProcessBackend
from bandstand.backends.state_file import state_to_json
from bandstand.metrics import metric_definitions
from bandstand.request.plan import DefinitionPlan, Pairs, TrainingPlan, TuningPlan
from bandstand.request.ranges import ContinuousRange
from bandstand.runs.jobs import Kind, TrainingJob, TuningJob
from bandstand.runs.record import Record
from bandstand.runs.snapshot import Snapshot
from bandstand.runs.stored import add_training_job, add_tuning_job


class Watcher:
    """An observer that keeps what it was shown and told, and may act on it."""

    def __init__(self) -> None:
        self.snapshots: list[Snapshot] = []
        self.sentences: list[str] = []
        self.on_changed: Callable[[Snapshot], None] = lambda snapshot: None

    def changed(self, snapshot: Snapshot) -> None:
        self.snapshots.append(snapshot)
        self.on_changed(snapshot)

    def said(self, text: str) -> None:
        self.sentences.append(text)


@pytest.fixture
def watcher():
    return Watcher()


@pytest.fixture
def record(tmp_path):
    with Record.open(tmp_path / "home") as opened:
        yield opened


@pytest.fixture
def noted(record, training, tuning) -> Callable[..., None]:
    """Writes a job into the record that nobody runs; `words` go to the job itself."""

    def write(name: str, kind: Kind = "training", tags: Pairs = (), **words: Any) -> None:
        with record.transaction() as connection:
            if kind == "tuning":
                plan = replace(tuning("", name=name), tags=tags)
                add_tuning_job(connection, TuningJob(name, "nobody", plan, 7, 1.0, 1000.0, **words))
                return
            lone = replace(training("", name=name), tags=tags)
            words = {"tuning_job": None, "number": 1, "owner": "nobody", "backend": "processes", **words}
            job = TrainingJob(
                name=name,
                folder=record.folder(name),
                plan=lone,
                settings={},
                grace=1.0,
                created=1000.0,
                **words,
            )
            add_training_job(connection, job)

    return write


@pytest.fixture
def backend():
    opened = ProcessBackend(lease_seconds=2.0, lease_grace=1.0, peer_grace=1.0)
    yield opened
    opened.close()


Make = Callable[..., TrainingPlan]


@pytest.fixture
def training(tmp_path) -> Make:
    """Makes a plan whose program is a Python script given as text."""

    def make(
        script: str,
        *,
        name: str = "job",
        hosts: int = 1,
        hyperparameters: Mapping[str, str] | None = None,
        environment: Mapping[str, str] | None = None,
        max_runtime: int | None = None,
        metrics: tuple[tuple[str, str], ...] | None = None,
    ) -> TrainingPlan:
        code = tmp_path / "code" / str(abs(hash(script)))
        code.mkdir(parents=True, exist_ok=True)
        (code / "train.py").write_text(script)
        settings = {
            "sagemaker_program": "train.py",
            "sagemaker_submit_directory": code.as_uri(),
            **(hyperparameters or {}),
        }
        if metrics is None:
            metrics = tuple((each["Name"], each["Regex"]) for each in metric_definitions(["score"]))
        return TrainingPlan(
            name=name,
            image="bandstand:latest",
            hosts=hosts,
            instance_type="ml.m5.xlarge",
            volume_gb=10,
            role="arn:aws:iam::111122223333:role/Training",
            hyperparameters=tuple(settings.items()),
            channels=(),
            output=(tmp_path / "out").as_uri(),
            checkpoints=None,
            environment=tuple((environment or {}).items()),
            max_runtime=max_runtime,
            metrics=metrics,
            tags=(),
            document=json.dumps({"TrainingJobName": name, "HyperParameters": settings}),
        )

    return make


@pytest.fixture
def tuning(training) -> Callable[..., TuningPlan]:
    """Makes a tuning job of such a script; `rate` is its one tuned hyperparameter."""

    def make(
        script: str,
        *,
        name: str = "tuning",
        jobs: int = 4,
        parallel: int = 2,
        max_resource: int | None = 9,
        min_resource: int = 1,
        max_runtime: int | None = None,
        seed: int | None = 7,
        **members: object,
    ) -> TuningPlan:
        return TuningPlan(
            name=name,
            definitions=(
                DefinitionPlan(
                    training(script, name=name, **members), "score", (ContinuousRange("rate", 0.0, 1.0),)
                ),
            ),
            goal="maximize",
            strategy="Random" if max_resource is None else "Hyperband",
            min_resource=min_resource,
            max_resource=max_resource,
            jobs=jobs,
            parallel=parallel,
            seed=seed,
            max_runtime=max_runtime,
            tags=(),
            document=json.dumps({"HyperParameterTuningJobName": name}),
        )

    return make


@pytest.fixture
def redefined() -> Callable[..., TuningPlan]:
    """Makes a plan of another one with something changed in its only definition."""

    def make(plan: TuningPlan, **changes: object) -> TuningPlan:
        (only,) = plan.definitions
        return replace(plan, definitions=(replace(only, **changes),))

    return make


class LeftFolder:
    """A job's folder, as a supervisor writes it: the test says what its hosts print and when they end."""

    def __init__(self, folder: Path, hosts: int = 1) -> None:
        self.files = JobFolder(folder)
        self.files.logs.mkdir(parents=True)
        self._hosts = tuple(HostState(f"algo-{number}") for number in range(1, hosts + 1))
        self._lock = os.open(self.files.lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        self._second = 1000.0
        self.state("InProgress", "Training")

    def prints(self, *lines: str, host: str = "algo-1") -> None:
        with self.files.log(host).open("a") as log:
            for line in lines:
                self._second += 1
                log.write(f"{self._second:.6f} {line}\n")

    def state(self, status: str, secondary: str | None = None, reason: str | None = None) -> None:
        ended = status in ("Completed", "Failed", "Stopped")
        state = JobState(
            status,
            secondary or status,
            failure_reason=reason,
            created=999.0,
            started=1000.0,
            ended=1010.5 if ended else None,
            hosts=self._hosts,
        )
        fresh = self.files.path / "fresh"
        fresh.write_text(state_to_json(state))
        fresh.rename(self.files.state)

    def close(self) -> None:
        os.close(self._lock)


@pytest.fixture
def left_folder():
    made = []

    def make(folder: Path, hosts: int = 1) -> LeftFolder:
        made.append(LeftFolder(folder, hosts))
        return made[-1]

    yield make
    for each in made:
        each.close()


@pytest.fixture
def supervisors() -> Callable[[Path], list[int]]:
    """Finds the process that supervises the job in a folder: its command line names both."""

    def find(folder: Path) -> list[int]:
        found = []
        for entry in Path("/proc").iterdir():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0") if entry.name.isdigit() else []
            except (FileNotFoundError, ProcessLookupError):
                continue
            if os.fsencode(folder) in words and any(
                b"bandstand.backends.supervisor" in word for word in words
            ):
                found.append(int(entry.name))
        return found

    return find
