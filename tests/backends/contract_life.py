"""A part of the contract of backends: the life of a job."""

from __future__ import annotations

import stat
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from bandstand.backends.backend import Backend
from bandstand.errors import InputError, PlatformError

from .jobs import Job, MakeBackend, channel, eventually
from .scripts import POLITE


class LifeContract:
    """A job goes through its states; what cannot be run is refused."""

    def test_a_job_goes_through_its_states_and_keeps_their_times(self, submit: Callable[..., Job]) -> None:
        job = submit("print('hello')", hosts=2)
        state = job.ends()
        assert (state.status, state.secondary_status) == ("Completed", "Completed"), job.report()
        names = [step.status for step in state.transitions]
        assert names == ["Starting", "Downloading", "Training", "Uploading", "Completed"]
        times = [step.time for step in state.transitions]
        assert times == sorted(times)
        assert all(step.message for step in state.transitions)
        assert state.created <= times[0]
        assert (state.started, state.ended) == (times[1], times[-1])
        assert state.billable_seconds >= 1
        assert state.failure_reason is None
        assert not state.stop_requested

    def test_a_job_is_in_progress_as_soon_as_it_is_handed_in(self, submit: Callable[..., Job]) -> None:
        job = submit("import signal; signal.pause()")
        state = job.state
        assert state.status == "InProgress"
        assert state.transitions[0].status == "Starting"
        assert [host.name for host in state.hosts] == ["algo-1"]
        assert state.ended is None

    def test_each_host_tells_its_exit_code_and_peak_memory(self, submit: Callable[..., Job]) -> None:
        state = submit("held = bytearray(64 << 20)", hosts=2).ends()
        assert [(host.name, host.exit_code, host.signal) for host in state.hosts] == [
            ("algo-1", 0, None),
            ("algo-2", 0, None),
        ]
        for host in state.hosts:
            assert host.peak_memory is not None
            assert 64 << 20 < host.peak_memory < 1 << 30
        assert [host.exit_code for host in submit("exit(3)", "job-2").ends().hosts] == [3]

    def test_whoever_looks_while_a_job_is_being_handed_in_sees_none_or_a_living_one(
        self, submit: Callable[..., Job], backend: Backend, tmp_path: Path
    ) -> None:
        folder = tmp_path / "home" / "jobs" / "job-1"
        over = threading.Event()
        seen: set[str] = set()

        def look() -> None:
            while not over.is_set():
                try:
                    seen.add(backend.describe(folder).status)
                except InputError:
                    seen.add("none")

        watchers = [threading.Thread(target=look) for _ in range(2)]
        for watcher in watchers:
            watcher.start()
        try:
            eventually(lambda: "none" in seen, "a first look")
            job = submit("import signal; signal.pause()")
            eventually(lambda: job.state.secondary_status == "Training", "the training")
        finally:
            over.set()
            for watcher in watchers:
                watcher.join()
        assert seen == {"none", "InProgress"}

    def test_an_unknown_folder_holds_no_job(self, backend: Backend, tmp_path: Path) -> None:
        for ask in (
            backend.describe,
            backend.stop,
            backend.kill,
            backend.renew,
            lambda path: backend.lines(path, {}),
        ):
            with pytest.raises(InputError, match="no training job"):
                ask(tmp_path / "nothing")  # type: ignore[operator]

    def test_a_folder_takes_one_job_only(self, submit: Callable[..., Job]) -> None:
        submit().ends()
        with pytest.raises(InputError, match="holds a training job already"):
            submit()

    def test_data_that_is_elsewhere_is_refused(self, submit: Callable[..., Job]) -> None:
        with pytest.raises(PlatformError, match="s3://bucket/out"):
            submit(output="s3://bucket/out")

    def test_jobs_are_listed_by_name(
        self, submit: Callable[..., Job], backend: Backend, tmp_path: Path
    ) -> None:
        home = tmp_path / "home"
        assert backend.list(home) == ()
        jobs = [submit(name=name) for name in ("job-2", "job-1")]
        (home / "jobs" / "something else").mkdir()
        assert backend.list(home) == tuple(sorted(job.folder for job in jobs))

    def test_missing_data_fails_the_job_with_every_fault(
        self, submit: Callable[..., Job], tmp_path: Path
    ) -> None:
        (tmp_path / "empty").mkdir()
        job = submit(channels=(channel("train", tmp_path / "gone"), channel("test", tmp_path / "empty")))
        state = job.ends()
        assert state.status == "Failed"
        assert state.failure_reason is not None
        assert f"'train': found {tmp_path / 'gone'}, which is no folder" in state.failure_reason
        assert f"'test': found {tmp_path / 'empty'}, which holds no file" in state.failure_reason
        assert [step.status for step in state.transitions] == ["Starting", "Downloading", "Failed"]

    def test_another_object_can_ask_and_stop_and_closing_ends_nothing(
        self, submit: Callable[..., Job], make_backend: MakeBackend
    ) -> None:
        job = submit(POLITE, backend=make_backend(lease_seconds=60.0))
        job.says("ready")
        job.backend.close()
        assert job.state.status == "InProgress"
        with closing(make_backend()) as other:
            other.stop(job.folder)
            eventually(lambda: other.describe(job.folder).is_ended, "the end")
            assert other.describe(job.folder).status == "Stopped"

    def test_many_jobs_started_in_the_same_moment_do_not_clash(self, submit: Callable[..., Job]) -> None:
        script = """
            import os
            print("world", os.environ["BANDSTAND_WORLD_SIZE"])
        """
        jobs = [submit(script, f"job-{number}", hosts=2) for number in range(8)]
        for job in jobs:
            assert job.ends().status == "Completed", job.report()
        blocks = [job.state.hosts[0].address for job in jobs]
        assert len(blocks) == 8

    def test_values_of_the_environment_are_in_no_log_and_the_folder_is_the_users_own(
        self, submit: Callable[..., Job]
    ) -> None:
        job = submit("print('quiet')", environment=(("PASSWORD", "corect-horse"),))
        assert job.ends().status == "Completed"
        assert stat.S_IMODE(job.folder.stat().st_mode) == 0o700
        logs = [path for path in job.folder.rglob("*.log") if path.is_file()]
        assert logs
        for path in logs:
            assert "corect-horse" not in path.read_text(encoding="utf-8")
        assert "corect-horse" not in str(job.state)
