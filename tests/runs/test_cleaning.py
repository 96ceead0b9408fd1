from __future__ import annotations

import pytest

from bandstand.errors import InputError, PlatformError
from bandstand.runs.cleaning import clean
from bandstand.runs.jobs import TrainingJob, TuningJob
from bandstand.runs.live import StopFlag, train, tune
from bandstand.runs.ownership import Claim
from bandstand.runs.reconcile import reconcile
from bandstand.runs.record import Record
from bandstand.runs.stored import add_training_job, add_tuning_job
from bandstand.runs.views import jobs, show

ONCE = "print('iteration=1 score=0.5')"


@pytest.fixture
def ended(record, backend, watcher, training, tuning):
    """One tuning job with two training jobs, and a training job of its own, all over."""
    tune(tuning(ONCE, jobs=2), record, backend, watcher, StopFlag())
    train(training(ONCE), record, backend, watcher, StopFlag())


@pytest.fixture
def busy(record, training, left_folder):
    """A job that runs."""
    with Claim.make(record) as claim:
        folder = record.folder("busy")
        job = TrainingJob("busy", None, 1, claim.owner, "processes", folder, training(""), {}, 1.0, 0.0)
        with record.transaction() as connection:
            add_training_job(connection, job)
        left_folder(folder)
        yield job


def test_what_would_be_removed_is_said_first(record, ended, busy):
    said = clean(record, all_ended=True, dry_run=True)
    assert said == ["tuning job tuning with 2 training jobs", "training job job"]
    assert len(jobs(record)) == 3


def test_all_that_is_over_goes_and_models_and_running_jobs_stay(record, ended, busy, tmp_path):
    stray = record.home / "jobs" / "left-by-a-crash"
    stray.mkdir()
    models = sorted((tmp_path / "out").rglob("model.tar.gz"))
    said = clean(record, all_ended=True)
    assert said[-1] == f"folder {stray}, which belongs to no job"
    assert [job["name"] for job in jobs(record)] == ["busy"]
    assert [path.name for path in (record.home / "jobs").iterdir()] == ["busy"]
    assert sorted((tmp_path / "out").rglob("model.tar.gz")) == models
    assert record.read("SELECT * FROM points") == []
    assert record.read("SELECT * FROM events") == []
    assert record.free_name("tuning", 32) == "tuning"


def test_a_running_job_keeps_its_folder_whatever_path_its_home_is_given_as(record, busy, tmp_path):
    alias = tmp_path / "alias"
    alias.symlink_to(record.home)
    with Record.open(alias) as again:
        assert clean(again, all_ended=True) == []
    assert [path.name for path in (record.home / "jobs").iterdir()] == ["busy"]


def test_one_job_goes_by_its_name_and_the_others_stay(record, ended):
    assert clean(record, ["job"]) == ["training job job"]
    assert [job["name"] for job in jobs(record)] == ["tuning"]
    assert len(show(record, "tuning")["training_jobs"]) == 2


def test_every_name_that_cannot_be_removed_is_told_at_once(record, ended, busy):
    part = show(record, "tuning")["training_jobs"][0]["name"]
    with pytest.raises(InputError) as error:
        clean(record, ["busy", "nobody", part, "job"])
    told = str(error.value).splitlines()
    assert told[0] == "busy is InProgress. Stop it first: bandstand stop busy"
    assert "no job 'nobody'" in told[1]
    assert told[2] == f"{part} belongs to tuning job tuning. Remove that: bandstand clean tuning"
    assert len(jobs(record)) == 3


def test_a_full_disk_does_not_keep_a_job_from_being_removed(record, training, tuning, left_folder, caplog):
    for number, plan in enumerate((training("", name="lone"), training("", name="part"))):
        with Claim.make(record) as claim, record.transaction() as connection:
            if number:
                add_tuning_job(connection, TuningJob("tuning", claim.owner, tuning(""), 7, 1.0, 0.0))
            group = "tuning" if number else None
            folder = record.folder(plan.name)
            add_training_job(
                connection,
                TrainingJob(plan.name, group, 1, claim.owner, "processes", folder, plan, {}, 1.0, 0.0),
            )
        left = left_folder(folder)
        left.prints(*(f"iteration={n} score=0.5 other={'9' * 30}" for n in range(1, 3000)))
        left.state("Failed", reason="No space left on device")
    record.read("PRAGMA max_page_count = 1")
    with pytest.raises(PlatformError, match="the disk is full"):
        reconcile(record)
    assert {job["name"]: job["status"] for job in jobs(record)} == {
        "lone": "InProgress",
        "tuning": "InProgress",
    }
    assert caplog.text.count("What is shown may be old.") == 1
    assert clean(record, ["lone"], dry_run=True) == ["training job lone"]
    assert clean(record, ["lone"]) == ["training job lone"]
    assert clean(record, all_ended=True) == ["tuning job tuning with 1 training job"]
    assert list((record.home / "jobs").iterdir()) == []
