"""The running work: what happens to a job when what follows it fails."""

from __future__ import annotations

import threading

import pytest

from bandstand.backends.processes import ProcessBackend
from bandstand.errors import PlatformError
from bandstand.request import load
from bandstand.runs.jobs import TrainingJob
from bandstand.runs.record import NameTakenError, Record
from bandstand.runs.stored import add_training_job, training_job
from bandstand.service.work import Work

from .served import training_request, until


class Flaky(ProcessBackend):
    """A backend that cannot be asked a few times, after the job has begun."""

    failures = 2
    lock = threading.Lock()

    def describe(self, folder):
        state = super().describe(folder)
        with self.lock:
            if state.started is not None and Flaky.failures:
                Flaky.failures -= 1
                raise PlatformError("the disk is full")
        return state


def status(home, name):
    with Record.open(home) as record:
        return training_job(record, name).status


def test_a_job_whose_follower_fails_is_taken_up_again_and_is_not_begun_twice(tmp_path, place, caplog):
    home = tmp_path / "home"
    plan = load(training_request(place, "flaky"))
    work = Work(home, Flaky)
    work.start(plan)
    until(lambda: status(home, "flaky") == "Completed")
    assert Flaky.failures == 0
    with Record.open(home) as record:
        assert training_job(record, "flaky").attempt == 1
        points = record.read("SELECT iteration FROM points ORDER BY seq")
    assert [row["iteration"] for row in points] == [1, 2, 3]
    until(lambda: work.running == 0)
    told = [entry.getMessage() for entry in caplog.records if "flaky" in entry.getMessage()]
    assert [text.rpartition(": ")[2] for text in told] == ["the disk is full"] * 2
    assert "Traceback" not in caplog.text


def test_a_fault_of_our_own_behind_a_job_comes_with_its_traceback(tmp_path, place, caplog):
    class Faulty(ProcessBackend):
        faults = iter([ZeroDivisionError("ours")])

        def describe(self, folder):
            state = super().describe(folder)
            if state.started is not None:
                for fault in self.faults:
                    raise fault
            return state

    home = tmp_path / "home"
    work = Work(home, Faulty)
    work.start(load(training_request(place, "faulty")))
    until(lambda: status(home, "faulty") == "Completed")
    until(lambda: work.running == 0)
    assert "ZeroDivisionError: ours" in caplog.text
    assert "Traceback" in caplog.text


def test_whoever_asks_for_a_name_that_is_taken_is_told_at_once(tmp_path, place):
    plan = load(training_request(place, "twice"))
    work = Work(tmp_path / "home", ProcessBackend)
    work.start(plan)
    with pytest.raises(NameTakenError):
        work.start(plan)
    until(lambda: status(tmp_path / "home", "twice") == "Completed")


def test_a_job_whose_code_is_gone_does_not_go_on_and_says_so(tmp_path, place):
    code = tmp_path / "code"
    code.mkdir()
    (code / "train.py").write_text((place / "code" / "train.py").read_text())
    home = tmp_path / "home"
    request = training_request(place, "orphan")
    request["HyperParameters"]["sagemaker_submit_directory"] = code.as_uri()
    with Record.open(home) as record, record.transaction() as connection:
        plan = load(request)
        job = TrainingJob(
            plan.name,
            None,
            1,
            "nobody",
            "processes",
            record.folder("orphan"),
            plan,
            {},
            120.0,
            0.0,
            served=True,
        )
        add_training_job(connection, job)
    (code / "train.py").unlink()
    (trouble,) = Work(home, ProcessBackend).take_up()
    assert trouble.startswith("orphan does not go on: orphan cannot go on.")
    assert status(home, "orphan") == "Failed"
