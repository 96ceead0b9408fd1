"""A part of the contract of backends: how a job is stopped."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from .jobs import Alarm, Job, MakeBackend, eventually, unpacked
from .scripts import POLITE, STUBBORN


class StoppingContract:
    """Stop means stop."""

    runtime_limit = 5
    """Seconds in which a job is up, its handlers standing, on a busy machine."""

    def test_a_stopped_job_saves_its_model_and_is_stopped(self, submit: Callable[..., Job]) -> None:
        for code in (0, 3):
            environment = (("CODE", str(code)),)
            job = submit(POLITE, f"job-{code}", hosts=2, environment=environment)
            job.says("ready", 2)
            job.backend.stop(job.folder)
            assert job.state.stop_requested
            state = job.ends()
            assert (state.status, state.secondary_status) == ("Stopped", "Stopped"), job.report()
            assert [step.status for step in state.transitions][-4:] == [
                "Training",
                "Stopping",
                "Uploading",
                "Stopped",
            ]
            assert state.failure_reason is None
            assert state.stop_requested
            assert unpacked(state.model) == {"weights": b"saved on the way out"}

    def test_a_job_is_stopping_while_its_hosts_take_their_time(
        self, submit: Callable[..., Job], alarm: Alarm, tmp_path: Path
    ) -> None:
        job = submit(STUBBORN, checkpoints=(tmp_path / "checkpoints").as_uri())
        job.says("grandchild")
        job.backend.stop(job.folder, 3600)
        eventually(lambda: job.state.status == "Stopping", "the status Stopping")
        assert job.state.secondary_status == "Stopping"
        job.backend.stop(job.folder, 0.2)
        assert job.ends().status == "Stopped"

    def test_after_the_grace_time_nothing_is_left_of_children_that_ignore_signals(
        self, submit: Callable[..., Job], alarm: Alarm, tmp_path: Path
    ) -> None:
        job = submit(STUBBORN, hosts=2, checkpoints=(tmp_path / "checkpoints").as_uri())
        job.says("grandchild", 2)
        assert not alarm.is_over()
        job.backend.stop(job.folder, 0.3)
        state = job.ends()
        assert state.status == "Stopped"
        assert all(host.exit_code is not None for host in state.hosts)
        assert alarm.is_over()

    def test_a_killed_job_is_gone_at_once_and_keeps_what_it_had_saved(
        self, submit: Callable[..., Job], alarm: Alarm, tmp_path: Path
    ) -> None:
        job = submit(STUBBORN, checkpoints=(tmp_path / "checkpoints").as_uri())
        job.says("grandchild")
        job.backend.stop(job.folder, 3600)
        job.backend.kill(job.folder)
        state = job.ends()
        assert state.status == "Stopped"
        assert alarm.is_over()
        assert unpacked(state.model) == {"weights": b"early"}

    def test_a_job_can_be_stopped_before_its_hosts_have_started(self, submit: Callable[..., Job]) -> None:
        job = submit(POLITE, hosts=2)
        job.backend.stop(job.folder, 20)
        assert job.ends().status == "Stopped"

    def test_stopping_an_ended_job_changes_nothing(self, submit: Callable[..., Job]) -> None:
        job = submit()
        state = job.ends()
        job.backend.stop(job.folder)
        job.backend.kill(job.folder)
        assert job.state == state
        assert state.status == "Completed"

    def test_the_runtime_limit_stops_a_job(self, submit: Callable[..., Job]) -> None:
        job = submit(POLITE, max_runtime=self.runtime_limit)
        state = job.ends()
        assert (state.status, state.secondary_status) == ("Stopped", "MaxRuntimeExceeded"), job.report()
        assert state.transitions[-3].status == "Stopping"
        assert unpacked(state.model)
        assert state.failure_reason is None

    def test_a_job_that_nobody_owns_any_more_is_stopped(
        self, submit: Callable[..., Job], make_backend: MakeBackend, alarm: Alarm, tmp_path: Path
    ) -> None:
        owned = make_backend(lease_seconds=0.6, lease_grace=0.2)
        job = submit(STUBBORN, backend=owned, checkpoints=(tmp_path / "checkpoints").as_uri())
        with job.owned():
            job.says("grandchild")
            eventually(lambda: job.lines()[-1].time + 1.2 < _renewed(job.folder), "twice the lease")
            assert job.state.status == "InProgress"
        state = job.ends()
        assert (state.status, state.stop_requested) == ("Stopped", True)
        assert "lease" in next(step for step in state.transitions if step.status == "Stopping").message
        assert alarm.is_over()


def _renewed(folder: Path) -> float:
    return (folder / "lease").stat().st_mtime
