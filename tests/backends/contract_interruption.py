"""A part of the contract of backends: a job's hosts are taken away, as spot instances are, and it goes on."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from bandstand.backends.backend import Backend, JobState
from bandstand.backends.job_folder import JobFolder
from bandstand.backends.requests import Interruption, request_interruption

from .jobs import Job, MakeBackend, eventually, make_plan

SAVES = """
import os, pathlib, signal, sys
folder = pathlib.Path(os.environ.get("SAGEMAKER_BASE_DIR", "/opt/ml"))
(folder / "model" / "weights").touch()
saved = folder / "checkpoints" / "begun"
if saved.exists():
    print("found", saved.read_text(), flush=True)
    sys.exit(0)
def save(number, frame):
    saved.write_text("what was saved at SIGTERM")
    sys.exit(0)
signal.signal(signal.SIGTERM, save)
print("ready", flush=True)
while True:
    signal.pause()
"""

DEAF = """
import signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("ready", flush=True)
while True:
    signal.pause()
"""


def interrupted(job: Job, grace: float = 600.0, away: float = 0.0) -> JobState:
    job.says("ready")
    request_interruption(JobFolder(job.folder), Interruption(grace, away))
    return job.ends()


class InterruptionContract:
    """An interrupted job has ended as far as its hosts go, and says that it is to begin again."""

    image = "bandstand:latest"

    def goes_on(
        self, backend: Backend, job: Job, tmp_path: Path, attempt: int = 2, **changes: object
    ) -> None:
        plan = make_plan(tmp_path, "job-1", SAVES, image=self.image, **changes)
        backend.restart(plan, job.folder, threads=1, attempt=attempt, spent=job.state.seconds)

    def test_an_interrupted_job_goes_on_from_what_it_saved_in_its_checkpoint_path(
        self, submit: Callable[..., Job], backend: Backend, tmp_path: Path
    ) -> None:
        place = {"checkpoints": (tmp_path / "kept").as_uri()}
        job = submit(SAVES, **place)
        state = interrupted(job)
        assert (state.status, state.secondary_status, state.cause) == (
            "Stopped",
            "Interrupted",
            "interruption",
        )
        assert state.model is None, job.report()
        assert not state.stop_requested
        self.goes_on(backend, job, tmp_path, **place)
        state = job.ends()
        assert state.status == "Completed", job.report()
        assert job.texts()[-1] == "found what was saved at SIGTERM"
        assert [step.status for step in state.transitions] == [
            *("Starting", "Downloading", "Training", "Interrupted"),
            *("Starting", "Downloading", "Training", "Uploading", "Completed"),
        ]
        assert "for attempt 2, from what is in its checkpoint path" in state.transitions[4].message

    def test_an_interrupted_job_without_a_checkpoint_path_begins_from_nothing_and_says_so(
        self, submit: Callable[..., Job], backend: Backend, tmp_path: Path
    ) -> None:
        job = submit(SAVES)
        interrupted(job)
        self.goes_on(backend, job, tmp_path)
        job.says("ready", 2)
        assert not job.state.had_checkpoints
        assert "from nothing: it has no CheckpointConfig" in job.state.transitions[4].message

    def test_hosts_that_do_not_leave_an_interrupted_job_are_killed_after_their_grace(
        self, submit: Callable[..., Job]
    ) -> None:
        job = submit(DEAF, hosts=2)
        job.says("ready", 2)
        state = interrupted(job, grace=0.3)
        assert (state.secondary_status, [host.signal for host in state.hosts]) == (
            "Interrupted",
            ["SIGKILL", "SIGKILL"],
        )

    def test_a_job_that_is_stopped_while_it_is_interrupted_has_stopped_and_keeps_its_model(
        self, submit: Callable[..., Job]
    ) -> None:
        job = submit(DEAF)
        job.says("ready")
        request_interruption(JobFolder(job.folder), Interruption(600.0))
        eventually(lambda: job.state.secondary_status == "Interrupted", "the interruption")
        assert job.state.status == "InProgress"
        job.backend.stop(job.folder, 0.1)
        state = job.ends()
        assert (state.status, state.cause) == ("Stopped", "stop")
        assert [step.status for step in state.transitions[3:]] == [
            *("Interrupted", "Stopping", "Uploading", "Stopped"),
        ]

    def test_a_job_for_which_there_is_no_capacity_waits_until_its_longest_wait_is_over(
        self, submit: Callable[..., Job], backend: Backend, tmp_path: Path
    ) -> None:
        job = submit(SAVES)
        spent = interrupted(job, away=600.0).seconds
        self.goes_on(backend, job, tmp_path, max_wait=1)
        state = job.ends()
        assert (state.status, state.secondary_status) == ("Stopped", "MaxWaitTimeExceeded"), job.report()
        assert [step.status for step in state.transitions[4:]] == [
            *("Starting", "Stopping", "MaxWaitTimeExceeded"),
        ]
        assert (state.started, state.seconds) == (None, spent)

    @pytest.mark.parametrize("away", [600.0, 4.0])
    def test_a_job_that_loses_its_owner_while_it_waits_for_capacity_waits_for_the_rest_with_the_next_one(
        self,
        submit: Callable[..., Job],
        backend: Backend,
        make_backend: MakeBackend,
        tmp_path: Path,
        away: float,
    ) -> None:
        place = {"checkpoints": (tmp_path / "kept").as_uri()}
        job = submit(SAVES, **place)
        gone = interrupted(job, away=away).ended or 0.0
        with closing(make_backend(lease_seconds=0.5, lease_grace=30.0)) as impatient:
            self.goes_on(impatient, job, tmp_path, **place)
            state = job.ends()
        assert (state.cause, state.started) == ("owner", None)
        self.goes_on(backend, job, tmp_path, attempt=3, max_wait=1 if away > 60 else 3600, **place)
        state = job.ends()
        if away > 60:
            assert state.secondary_status == "MaxWaitTimeExceeded", job.report()
            assert state.started is None
        else:
            assert state.status == "Completed", job.report()
            assert (state.started or 0.0) >= gone + away
            assert job.texts()[-1] == "found what was saved at SIGTERM"

    def test_the_longest_wait_ends_a_job_that_runs(self, submit: Callable[..., Job]) -> None:
        state = submit(SAVES, max_wait=2).ends()
        assert (state.status, state.secondary_status) == ("Stopped", "MaxWaitTimeExceeded")

    def test_a_job_whose_hosts_have_ended_cannot_be_interrupted_any_more(
        self, submit: Callable[..., Job]
    ) -> None:
        job = submit("print('ready', flush=True)")
        job.says("ready")
        eventually(lambda: job.state.secondary_status in ("Uploading", "Completed"), "the end of the host")
        request_interruption(JobFolder(job.folder), Interruption(0.0))
        assert job.ends().status == "Completed"
