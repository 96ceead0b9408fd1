from __future__ import annotations

import math
import shutil

import pytest

from bandstand.errors import PlatformError
from bandstand.runs.followed import NO_FOLDER, Followed
from bandstand.runs.intake import take_in
from bandstand.runs.jobs import TrainingJob
from bandstand.runs.stored import add_training_job, training_job


@pytest.fixture
def followed(record, training, left_folder):
    """Makes a job in the record with a folder of its own; gives what follows it, and the folder."""

    def make(hosts=1, **members):
        plan = training("", hosts=hosts, **members)
        job = TrainingJob(
            name=plan.name,
            tuning_job=None,
            number=1,
            owner="nobody",
            backend="processes",
            folder=record.folder(plan.name),
            plan=plan,
            settings={},
            grace=1.0,
            created=999.0,
        )
        with record.transaction() as connection:
            add_training_job(connection, job)
        return Followed(record, job), left_folder(job.folder, hosts)

    return make


def take(record, backend, job):
    news = job.look(backend)
    if news is not None:
        with record.transaction() as connection:
            take_in(connection, [(job, news)], None, 0.0)
    return news


def points(record):
    rows = record.read("SELECT name, iteration, value, host FROM points ORDER BY seq")
    return [(row["name"], row["iteration"], row["value"], row["host"]) for row in rows]


def test_points_are_written_with_the_place_up_to_which_the_log_is_read(record, backend, followed):
    job, folder = followed()
    folder.prints("iteration=1 score=0.5 loss=2.0", "some words", "iteration=2 score=0.75 loss=1.5")
    take(record, backend, job)
    assert points(record) == [
        ("score", 1, 0.5, "algo-1"),
        ("loss", 1, 2.0, "algo-1"),
        ("score", 2, 0.75, "algo-1"),
        ("loss", 2, 1.5, "algo-1"),
    ]
    stored = training_job(record, "job")
    assert (stored.reports, stored.iterations, stored.objective) == (2, 2, 0.75)
    assert stored.offsets == {"algo-1": folder.files.log("algo-1").stat().st_size}


def test_nothing_new_is_no_news(record, backend, followed):
    job, folder = followed()
    folder.prints("iteration=1 score=0.5")
    assert take(record, backend, job) is not None
    assert take(record, backend, job) is None
    folder.prints("words without a number")
    assert take(record, backend, job) is None


def test_a_second_process_goes_on_where_the_first_one_died(record, backend, followed):
    job, folder = followed()
    folder.prints("epoch: score=0.5", "epoch: score=0.6")
    take(record, backend, job)
    folder.prints("epoch: score=0.7")
    again = Followed(record, training_job(record, "job"))
    take(record, backend, again)
    assert points(record) == [
        ("score", 1, 0.5, "algo-1"),
        ("score", 2, 0.6, "algo-1"),
        ("score", 3, 0.7, "algo-1"),
    ]
    assert training_job(record, "job").reports == 3


def test_news_that_another_process_has_written_is_not_written_twice(record, backend, followed):
    job, folder = followed()
    other = Followed(record, training_job(record, "job"))
    folder.prints("epoch: score=0.5")
    take(record, backend, job)
    with pytest.raises(PlatformError, match="another process"):
        take(record, backend, other)
    assert len(points(record)) == 1


def test_a_second_writer_is_no_progress_and_is_warned_of(record, backend, followed):
    job, folder = followed(hosts=2)
    folder.prints("iteration=1 score=0.5", "iteration=2 score=0.6")
    folder.prints("iteration=1 score=0.1", "iteration=2 score=0.2", host="algo-2")
    news = take(record, backend, job)
    assert [report.value for report in news.reports] == [0.5, 0.6]
    stored = training_job(record, "job")
    assert (stored.reports, stored.objective) == (2, 0.6)
    assert len(points(record)) == 4
    (warning,) = stored.warnings
    assert "score" in warning
    assert "algo-1" in warning
    assert "algo-2" in warning


def test_the_same_fault_is_warned_of_once_however_often_the_job_is_taken_up_again(record, backend, followed):
    _, folder = followed(hosts=2)
    for iteration in range(1, 4):
        folder.prints(f"iteration={iteration} score=0.5")
        folder.prints(f"iteration={iteration} score=0.5", host="algo-2")
        take(record, backend, Followed(record, training_job(record, "job")))
    assert len(training_job(record, "job").warnings) == 1
    assert training_job(record, "job").reports == 3


def test_an_iteration_printed_twice_counts_once_and_is_warned_of(record, backend, followed):
    job, folder = followed()
    folder.prints("iteration=1 score=0.5", "iteration=1 score=0.5", "iteration=2 score=0.6")
    news = take(record, backend, job)
    assert [report.iteration for report in news.reports] == [1, 2]
    (warning,) = training_job(record, "job").warnings
    assert "algo-1 printed metric 'score' at iteration 1 twice" in warning


def test_a_job_that_ends_without_its_objective_is_told_with_the_closest_lines(record, backend, followed):
    job, folder = followed()
    folder.prints("loading", "validation Score: 0.93", "bye")
    folder.state("Completed")
    take(record, backend, job)
    (warning,) = training_job(record, "job").warnings
    assert "'score' was never reported" in warning
    assert job.job.plan.metrics[0][1] in warning
    assert "validation Score: 0.93" in warning


@pytest.mark.parametrize(("line", "warned"), [("loading", False), ("validation Score: 0.93", True)])
def test_a_job_that_was_cut_short_is_told_of_its_objective_only_if_a_line_comes_close(
    record, backend, followed, line, warned
):
    job, folder = followed()
    folder.prints(line)
    folder.state("Stopped")
    take(record, backend, job)
    assert bool(training_job(record, "job").warnings) is warned


def test_a_job_that_failed_has_its_reason_and_no_advice_about_metrics(record, backend, followed):
    job, folder = followed()
    folder.state("Failed", reason="ValueError: no rows (train.py, line 3) on algo-1")
    take(record, backend, job)
    stored = training_job(record, "job")
    assert stored.failure_reason == "ValueError: no rows (train.py, line 3) on algo-1"
    assert stored.warnings == ()
    assert stored.over


def test_a_running_job_has_more_to_read_only_where_a_look_left_lines_behind(record, backend, followed):
    job, folder = followed()
    folder.prints("iteration=1 score=0.5")
    assert not take(record, backend, job).more
    folder.prints(*(f"iteration={number} score=0.5 " + "x" * 500 for number in range(2, 3002)))
    assert take(record, backend, job).more
    while (news := take(record, backend, job)) and news.more:
        pass
    assert training_job(record, "job").reports == 3001


def test_a_final_state_comes_with_every_line_however_many(record, backend, followed):
    job, folder = followed()
    folder.prints(*(f"epoch: score={number}.5 " + "x" * 500 for number in range(5000)))
    folder.state("Completed")
    take(record, backend, job)
    assert job.over
    assert training_job(record, "job").reports == 5000


def test_values_that_are_not_finite_are_kept_as_such(record, backend, followed):
    job, folder = followed(metrics=(("score", r" score=(\S+)"),))
    folder.prints("epoch: score=-inf", "epoch: score=nan")
    news = take(record, backend, job)
    assert news.reports[0].value == -math.inf
    stored = record.read("SELECT value FROM points ORDER BY seq")
    assert [row["value"] for row in stored] == [-math.inf, None]
    again = training_job(record, "job")
    assert again.reports == 2
    assert math.isnan(again.objective)


def test_a_job_whose_folder_is_gone_has_failed(record, backend, followed):
    job, folder = followed()
    folder.prints("iteration=1 score=0.5")
    take(record, backend, job)
    shutil.rmtree(folder.files.path)
    take(record, backend, job)
    stored = training_job(record, "job")
    assert (stored.status, stored.failure_reason) == ("Failed", NO_FOLDER)
    assert stored.reports == 1


def test_files_that_do_not_change_are_not_read(followed):
    job, folder = followed()
    assert job.stirred()
    assert not job.stirred()
    folder.prints("a line")
    assert job.stirred()
    assert not job.stirred()
    folder.state("Completed")
    assert job.stirred()
