from __future__ import annotations

import json
from dataclasses import replace

import pytest

from bandstand.errors import InputError
from bandstand.runs.billing import billable_seconds
from bandstand.runs.documents import best_row
from bandstand.runs.jobs import TrainingJob
from bandstand.runs.live import StopFlag, train
from bandstand.runs.ownership import Claim
from bandstand.runs.reconcile import reconcile
from bandstand.runs.stored import add_training_job
from bandstand.runs.views import jobs, log_lines, show


@pytest.fixture
def claim(record):
    with Claim.make(record) as made:
        yield made


@pytest.fixture
def stored(record, training, left_folder, claim):
    """Makes a job that a live launcher owns, and its folder."""

    def make(name="job", hosts=2, **members):
        plan = training("", name=name, hosts=hosts, **members)
        folder = record.folder(name)
        job = TrainingJob(name, None, 1, claim.owner, "processes", folder, plan, {}, 1.0, 999.0)
        with record.transaction() as connection:
            add_training_job(connection, job)
        return job, left_folder(folder, hosts)

    return make


def test_lines_of_all_hosts_come_in_order_of_time_and_of_one_host_alone(record, stored):
    _, folder = stored()
    folder.prints("one")
    folder.prints("two", host="algo-2")
    folder.prints("three")
    assert [line.text for line in log_lines(record, "job")] == ["one", "two", "three"]
    assert [line.text for line in log_lines(record, "job", "algo-2")] == ["two"]


def test_a_host_or_a_job_that_is_not_there_is_answered_with_those_that_are(record, stored):
    stored()
    with pytest.raises(InputError, match="has no host 'algo-3'; it has algo-1, algo-2"):
        log_lines(record, "job", "algo-3")
    with pytest.raises(InputError, match="Did you mean 'job'"):
        log_lines(record, "jub")


def test_following_goes_on_until_the_job_is_over(record, stored):
    _, folder = stored()
    folder.prints("first")
    seen = []
    for line in log_lines(record, "job", follow=True):
        seen.append(line.text)
        if line.text == "first":
            folder.prints("second")
        else:
            folder.state("Completed")
    assert seen == ["first", "second"]


def test_following_waits_for_a_job_that_is_written_down_and_not_handed_in_yet(
    record, training, left_folder, claim
):
    plan = training("")
    with record.transaction() as connection:
        add_training_job(
            connection,
            TrainingJob("job", None, 1, claim.owner, "processes", record.folder("job"), plan, {}, 1.0, 999.0),
        )
    looks = []

    def look() -> bool:
        looks.append(1)
        if len(looks) == 3:
            folder = left_folder(record.folder("job"))
            folder.prints("first")
            folder.state("Completed")
        return False

    assert [line.text for line in log_lines(record, "job", follow=True, stopped=look)] == ["first"]
    assert len(looks) > 3


def test_following_ends_when_the_reader_has_had_enough(record, stored):
    _, folder = stored()
    folder.prints("first")
    seen = []
    for line in log_lines(record, "job", follow=True, stopped=lambda: bool(seen)):
        seen.append(line.text)
    assert seen == ["first"]


def test_a_job_that_another_process_owns_is_shown_as_it_stands(record, stored):
    _, folder = stored()
    folder.prints("iteration=1 score=0.5")
    document = show(record, "job")
    assert (document["status"], document["metrics"]) == ("InProgress", [])
    assert [host["name"] for host in document["hosts"]] == ["algo-1", "algo-2"]
    assert document["billable_seconds"] == 0
    assert document["final_objective"] is None


def test_documents_are_plain_json_whatever_was_reported(record, stored, claim):
    _, folder = stored(metrics=(("score", r" score=(\S+)"),))
    folder.prints("epoch: score=nan", "epoch: score=inf", "epoch: score=0.25", "epoch: score=nan")
    folder.state("Completed")
    claim.drop()
    document = json.loads(json.dumps(show(record, "job"), allow_nan=False))
    assert [point["value"] for point in document["metrics"]] == [None, None, 0.25, None]
    assert document["final_objective"] is None
    assert document["iterations"] == 4
    assert document["billable_seconds"] == 11
    assert document["instance_seconds"] == 22
    assert document["ended"] == "1970-01-01T00:16:50.500Z"


def test_nothing_is_shown_of_an_unknown_job(record):
    with pytest.raises(InputError, match="There is no job 'nobody'"):
        show(record, "nobody")


def test_jobs_are_listed_oldest_first(record, backend, watcher, training):
    for name in ("zebra", "ant"):
        train(training("print('iteration=1 score=2.5')", name=name), record, backend, watcher, StopFlag())
    assert [(job["name"], job["best"]) for job in jobs(record)] == [("zebra", 2.5), ("ant", 2.5)]


def test_reconciling_twice_changes_nothing(record, stored, claim):
    _, folder = stored()
    folder.prints("iteration=1 score=0.5")
    folder.state("Completed")
    claim.drop()
    reconcile(record)
    first = show(record, "job")
    reconcile(record)
    assert show(record, "job") == first
    assert record.read("SELECT * FROM owners") == []


def test_the_best_job_is_over_succeeded_and_finite_and_of_equals_the_first(training, record):
    plan = training("")
    blank = TrainingJob("", None, 1, "", "processes", record.home, plan, {}, 1.0, 0.0)
    rows = [
        replace(blank, number=number, status=status, objective=objective)
        for number, (status, objective) in enumerate(
            [
                ("Failed", 9.0),
                ("InProgress", 8.0),
                ("Completed", float("nan")),
                ("Completed", 3.4028235e38),
                ("Stopped", 2.0),
                ("Completed", 2.0),
                ("Completed", 1.0),
                ("Completed", None),
            ],
            start=1,
        )
    ]
    assert best_row("maximize", rows).number == 5
    assert best_row("minimize", rows).number == 7
    assert best_row("maximize", rows[:4]) is None


def test_billable_time_runs_from_downloading_to_the_end_and_is_rounded_up(training, record):
    job = TrainingJob("", None, 1, "", "processes", record.home, training(""), {}, 1.0, 0.0)
    assert billable_seconds(job, 50.0) == 0
    assert billable_seconds(replace(job, started=10.0), 12.5) == 3
    assert billable_seconds(replace(job, started=10.0, ended=10.0), 50.0) == 1
    assert billable_seconds(replace(job, started=10.0, ended=11.25), 50.0) == 2
