"""Most calls are throttled, some are answered late, some connections are dropped: nothing starts twice."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from tests.backends.jobs import Job, eventually, make_plan
from tests.service.served import Server

from bandstand import metric_definitions
from bandstand.backends.sagemaker.backend import SageMakerBackend
from bandstand.metrics import MetricParser

from .region import document_of, enter, served
from .rough import JOBS, MANY, RoughWay

SCRIPT = """
    import os
    for iteration in range(1, 4):
        print(f"iteration={iteration} loss={os.environ['START']}{iteration}", flush=True)
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with served(tmp_path_factory.mktemp("aws")) as server:
        yield server


@pytest.fixture
def way(server: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[RoughWay]:
    with closing(RoughWay(server.url)) as way:
        enter(monkeypatch, way.url)
        yield way


@pytest.mark.timeout(900)
def test_jobs_are_started_once_each_and_watched_to_their_ends(
    way: RoughWay, server: Server, tmp_path: Path
) -> None:
    pairs = tuple((each["Name"], each["Regex"]) for each in metric_definitions(["loss"]))
    backend = SageMakerBackend(seconds=0.2)
    jobs = []
    plans = []
    for number in range(JOBS):
        plan = make_plan(
            tmp_path, f"rough-{number}", SCRIPT, metrics=pairs, environment=(("START", str(number)),)
        )
        plans.append(replace(plan, document=json.dumps(document_of(plan))))
        jobs.append(Job(backend, tmp_path / "home" / "jobs" / plan.name))
    with ThreadPoolExecutor(6) as pool:
        handed_in = [
            pool.submit(backend.submit, plan, job.folder, threads=1)
            for plan, job in zip(plans, jobs, strict=True)
        ]
        for each in handed_in:
            each.result()
    eventually(lambda: all(job.state.is_ended for job in jobs), "the end of all jobs", 800)

    for number, job in enumerate(jobs):
        assert job.state.status == "Completed", job.report()
        parser = MetricParser(pairs)
        points = [point for line in job.lines() for point in parser.feed(line.host, line.time, line.text)]
        assert [(point.iteration, point.value) for point in points] == [
            (iteration, float(f"{number}{iteration}")) for iteration in (1, 2, 3)
        ]
    there = server.client().list_training_jobs(NameContains="rough-", MaxResults=100)["TrainingJobSummaries"]
    assert sorted(each["TrainingJobName"] for each in there) == sorted(plan.name for plan in plans)
    # Creates whose answers were lost were made again, and refused, since the job was there.
    assert JOBS < MANY or way.lost["CreateTrainingJob"] >= 1
    assert way.passed["CreateTrainingJob"] == JOBS + way.lost["CreateTrainingJob"]
    assert way.fates["refused"] > way.fates["passed"] + way.fates["slow"]
