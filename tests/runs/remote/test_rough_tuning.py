"""A tuning job over a bad way to AWS: begun once, watched to its end, every report once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.backends.sagemaker.region import ROLE, enter, served
from tests.backends.sagemaker.rough import JOBS, RoughWay
from tests.service.served import Server

from bandstand.backends.sagemaker.placing import place
from bandstand.backends.sagemaker.readiness import check, root_of
from bandstand.backends.sagemaker.uploading import upload
from bandstand.request import TuningPlan, load
from bandstand.runs.record import Record
from bandstand.runs.remote.starting import start
from bandstand.runs.remote.watching import watch
from bandstand.runs.snapshot import Snapshot, StopFlag
from bandstand.runs.views import show

SCRIPT = """
import bandstand
run = bandstand.start()
rate = float(run.hyperparameters["rate"])
for iteration in run.iterations(4):
    run.report(iteration, {"loss": rate + rate / iteration})
"""


class Watcher:
    def __init__(self) -> None:
        self.lines: list[str] = []
        self.snapshot: Snapshot | None = None

    def changed(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot

    def said(self, text: str) -> None:
        self.lines.append(text)


@pytest.fixture
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with served(tmp_path_factory.mktemp("aws")) as server:
        yield server


@pytest.fixture
def way(server: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[RoughWay]:
    with closing(RoughWay(server.url)) as way:
        yield way


@pytest.mark.timeout(1200)
def test_training_jobs_of_a_tuning_job_are_watched_to_the_end(
    way: RoughWay, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    region = enter(monkeypatch, way.url)
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "train.py").write_text(SCRIPT)
    plan = load(
        {
            "name": "rough",
            "image": "123456789012.dkr.ecr.eu-central-1.amazonaws.com/bandstand:latest",
            "role": ROLE,
            "program": "train.py",
            "code": str(tmp_path / "src"),
            "output": str(tmp_path / "out"),
            "cluster": {"instance_type": "ml.m5.xlarge"},
            "tuning": {
                "metric": "loss",
                "goal": "minimize",
                "strategy": "hyperband",
                "max_resource": 3,
                "jobs": JOBS,
                "parallel": 4,
                "seed": 7,
            },
            "ranges": {"rate": {"continuous": [0.01, 1.0]}},
        },
        on="sagemaker",
    )
    assert isinstance(plan, TuningPlan)
    root = root_of(region, plan, None)
    check(region, plan, root)
    placement = place(plan, root)
    upload(region, placement.uploads, print)
    watcher = Watcher()
    with Record.open(tmp_path / "home") as record, Record.open(server.home) as theirs:
        name = start(record, region, placement)
        outcome = watch(name, "tuning", record, watcher, StopFlag())
        assert (outcome.status, outcome.name) == ("Completed", "rough")
        mine, truth = show(record, name), show(theirs, name)

    assert way.passed["CreateHyperParameterTuningJob"] >= 1
    assert way.fates["refused"] > way.fates["passed"] + way.fates["slow"]
    there = server.client().list_hyper_parameter_tuning_jobs(NameContains="rough")
    assert len(there["HyperParameterTuningJobSummaries"]) == 1
    assert len(mine["training_jobs"]) == JOBS
    for row, other in zip(mine["training_jobs"], truth["training_jobs"], strict=True):
        for member in ("name", "number", "status", "hyperparameters", "iterations", "final_objective"):
            assert row[member] == other[member]
        if row["status"] == "Stopped":
            assert row["stop"]["inferred"]
    values = [
        [(point["training_job"], point["iteration"], point["value"]) for point in each["metrics"]]
        for each in (mine, truth)
    ]
    assert sorted(values[0]) == sorted(values[1])
    assert mine["best"]["name"] == truth["best"]["name"]
    assert watcher.snapshot is not None
    assert (watcher.snapshot.ended, watcher.snapshot.total) == (JOBS, JOBS)
    assert json.dumps(mine)
