"""The overview of all jobs: page by page, each job once, with what `show` says of it."""

from __future__ import annotations

import dataclasses

import pytest

from bandstand.runs.jobs import TrainingJob
from bandstand.runs.live import StopFlag, tune
from bandstand.runs.overview import overview
from bandstand.runs.stored import add_training_job
from bandstand.runs.views import jobs, show


@pytest.fixture
def many(record, training):
    """130 jobs, pairs of them created in the same moment."""
    plan = training("print('unused')", name="any")
    with record.transaction() as connection:
        for number in range(130):
            name = f"job-{number:04}"
            job = TrainingJob(
                name=name,
                tuning_job=None,
                number=1,
                owner="nobody",
                backend="processes",
                folder=record.folder(name),
                plan=dataclasses.replace(plan, name=name),
                settings={},
                grace=1.0,
                created=1000.0 + number // 2,
            )
            add_training_job(connection, job)
    return [f"job-{number:04}" for number in range(130)]


def test_pages_hold_each_job_once_the_newest_first(record, many):
    seen: list[str] = []
    mark = None
    while page := overview(record, after=mark, most=25):
        assert len(page) <= 25
        seen += [document["name"] for _, document in page]
        mark = page[-1][0]
    assert seen == many[::-1]


def test_jobs_are_found_by_a_part_of_their_name_and_by_state(record, many):
    assert [document["name"] for _, document in overview(record, words="B-001")] == many[19:9:-1]
    assert overview(record, status="Completed") == []
    assert len(overview(record, status="InProgress", words="job-012", most=4)) == 4


def test_a_tuning_job_is_told_as_show_tells_it(record, backend, watcher, tuning):
    script = "import sys; [print(f'iteration={i} score={i}') for i in range(1, 4)]"
    plan = tuning(script, jobs=3)
    tune(plan, record, backend, watcher, StopFlag())
    (found,) = jobs(record)
    whole = show(record, plan.name)
    for key in (
        "name",
        "kind",
        "status",
        "created",
        "ended",
        "billable_seconds",
        "instance_seconds",
        "objective",
    ):
        assert found[key] == whole[key], key
    assert found["best"] == whole["best"]["final_objective"] == 3
    assert (found["training_jobs"], found["over"], found["planned"]) == (3, 3, 3)
