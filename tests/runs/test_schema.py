"""Homes of older versions: they open, keep what they hold, and can hold what the present version can."""

from __future__ import annotations

import fcntl
import json
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bandstand.backends.sagemaker.service_file import Served, read_served, write_served
from bandstand.errors import PlatformError
from bandstand.runs.finding import find
from bandstand.runs.record import FILE, NameTakenError, Record
from bandstand.runs.schema import MIGRATIONS, VERSION
from bandstand.runs.stored import add_training_job, add_tuning_job
from bandstand.runs.views import jobs, show

SHARED_NAMES = 4
"""The last version in which both kinds of jobs shared their names."""


@pytest.fixture
def older(tmp_path, training, tuning) -> Callable[[int], Path]:
    """Makes a home as a version wrote it: a training job, and a tuning job with one training job."""

    def make(version: int) -> Path:
        home = tmp_path / "older"
        (home / "jobs").mkdir(parents=True)
        with sqlite3.connect(home / FILE) as connection:
            for statements in MIGRATIONS[:version]:
                for statement in statements:
                    connection.execute(statement)
            fill(connection, home, training, tuning)
            connection.execute(f"PRAGMA user_version = {version}")
        connection.close()
        return home

    return make


def fill(connection: sqlite3.Connection, home: Path, training: Any, tuning: Any) -> None:
    for name, tuning_job in (("lone", None), ("tuned-001", "tuned")):
        plan = json.dumps(training("", name=name).to_dict())
        connection.execute("INSERT INTO names VALUES (?, 'training')", (name,))
        connection.execute(
            "INSERT INTO training_jobs (name, tuning_job, number, owner, backend, folder, plan, settings,"
            " grace, status, secondary_status, created)"
            " VALUES (?, ?, 1, 'nobody', 'processes', ?, ?, '{}', 1, 'Completed', 'Completed', 1000)",
            (name, tuning_job, str(home / "jobs" / name), plan),
        )
        connection.execute("INSERT INTO tags VALUES (?, 'team', 'a')", (name,))
        connection.execute("INSERT INTO points VALUES (?, 1, 'score', 1, 0.5, 'algo-1', 1000, 1)", (name,))
    connection.execute("INSERT INTO names VALUES ('tuned', 'tuning')")
    connection.execute(
        "INSERT INTO tuning_jobs (name, owner, plan, seed, grace, status, created, backend)"
        " VALUES ('tuned', 'sagemaker', ?, 7, 1, 'Completed', 1000, 'sagemaker')",
        (json.dumps(tuning("", name="tuned").to_dict()),),
    )
    connection.execute("INSERT INTO tags VALUES ('tuned', 'team', 'b')")
    write_served(home / "jobs" / "tuned", Served("tuned", "tuning", "eu-west-1", arn="arn"))


def test_a_home_in_which_names_were_shared_opens_and_keeps_jobs_and_tags(older):
    with Record.open(older(SHARED_NAMES)) as record:
        assert record.read("PRAGMA user_version")[0][0] == VERSION
        assert {(job["name"], job["kind"], job["status"]) for job in jobs(record)} == {
            ("lone", "training", "Completed"),
            ("tuned", "tuning", "Completed"),
        }
        assert [row["name"] for row in show(record, "tuned")["training_jobs"]] == ["tuned-001"]
        assert [point["value"] for point in show(record, "lone")["metrics"]] == [0.5]
        tags = record.read("SELECT kind, job, key, value FROM tags ORDER BY job")
        assert [tuple(tag) for tag in tags] == [
            ("training", "lone", "team", "a"),
            ("tuning", "tuned", "team", "b"),
            ("training", "tuned-001", "team", "a"),
        ]


def test_a_home_in_which_names_were_shared_can_hold_two_jobs_of_one_name(older, training, tuning):
    with Record.open(older(SHARED_NAMES)) as record:
        lone, tuned = find(record, "lone", "training"), find(record, "tuned", "tuning")
        with record.transaction() as connection:
            add_training_job(connection, renamed(lone, "tuned"))
            add_tuning_job(connection, renamed(tuned, "lone"))
        for name in ("lone", "tuned"):
            assert show(record, name, "training")["kind"] == "training"
            assert show(record, name, "tuning")["kind"] == "tuning"
        with pytest.raises(NameTakenError), record.transaction() as connection:
            add_training_job(connection, lone)


def test_the_folder_of_an_older_tuning_job_on_sagemaker_gets_out_of_the_way(older):
    home = older(SHARED_NAMES)
    for _ in range(2):
        with Record.open(home) as record:
            served = read_served(record.folder("tuned", "tuning"))
            assert served is not None
            assert served.arn == "arn"
            assert not record.folder("tuned", "training").exists()


def renamed(job: Any, name: str) -> Any:
    return replace(job, name=name, plan=job.plan.renamed(name))


@pytest.mark.parametrize("file", ["service.lock", "owners/0123abcd"])
def test_a_home_that_an_older_version_works_with_is_left_as_it_is(older, file):
    home = older(SHARED_NAMES)
    lock = home / file
    lock.parent.mkdir(exist_ok=True)
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(PlatformError, match="still works with it: a `bandstand local`, or a command"):
            Record.open(home)
        with sqlite3.connect(home / FILE) as connection:
            assert connection.execute("PRAGMA user_version").fetchone() == (SHARED_NAMES,)
        connection.close()
    with Record.open(home) as record:
        assert find(record, "lone").status == "Completed"
