"""A part of the contract of backends: a job whose hosts are gone is begun again in its folder."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from bandstand.backends.backend import Backend, JobState
from bandstand.errors import InputError

from .jobs import Job, MakeBackend, eventually, make_plan

COUNTS = """
import os, pathlib, signal, sys
folder = pathlib.Path(os.environ.get("SAGEMAKER_BASE_DIR", "/opt/ml"))
saved = folder / "checkpoints" / "begun"
begun = int(saved.read_text()) + 1 if saved.exists() else 1
saved.write_text(str(begun))
left = sorted(path.name for path in (folder / "model").iterdir())
(folder / "model" / f"model-{begun}").touch()
print("begun", begun, "left", left, flush=True)
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
if begun == 1:
    signal.pause()
"""


def said(job: Job) -> list[str]:
    """What the script itself has printed."""
    return [text for text in job.texts() if text.startswith("begun")]


class RestartContract:
    """A job that lost its owner is begun again: its logs go on, its checkpoints stay, all else is new."""

    image = "bandstand:latest"

    @pytest.fixture
    def lost(self, submit: Callable[..., Job], make_backend: MakeBackend) -> Job:
        """A job that was stopped since nobody renewed its lease."""
        with closing(make_backend(lease_seconds=0.5, lease_grace=30.0)) as impatient:
            job = submit(COUNTS, backend=impatient)
            with job.owned():
                eventually(lambda: said(job), "the first word")
            assert job.ends().cause == "owner"
        return job

    def again(self, backend: Backend, job: Job, tmp_path: Path, **changes: object) -> JobState:
        plan = make_plan(tmp_path, "job-1", COUNTS, image=self.image, **changes)
        backend.restart(plan, job.folder, threads=1, attempt=2, spent=1.5)
        job.backend = backend
        return job.ends()

    def test_its_logs_and_its_time_go_on_and_its_checkpoints_stay(
        self, lost: Job, backend: Backend, tmp_path: Path
    ) -> None:
        assert lost.state.status == "Stopped"
        begin = lost.state.created
        state = self.again(backend, lost, tmp_path)
        assert (state.status, state.cause, state.attempt) == ("Completed", "", 2), lost.report()
        assert said(lost) == ["begun 1 left []", "begun 2 left []"]
        assert state.had_checkpoints
        assert (state.created, state.spent) == (begin, 1.5)
        assert state.billable_seconds >= 2
        names = [step.status for step in state.transitions]
        assert names.count("Training") == 2
        assert names[names.index("Starting", 1) :][:3] == ["Starting", "Downloading", "Training"]

    def test_half_a_line_that_a_kill_has_left_is_not_continued(
        self, lost: Job, backend: Backend, tmp_path: Path
    ) -> None:
        with (lost.folder / "logs" / "algo-1.log").open("a") as log:
            log.write("1.0 half a li")
        self.again(backend, lost, tmp_path)
        assert said(lost) == ["begun 1 left []", "begun 2 left []"]

    def test_what_it_has_used_of_its_time_limit_counts(
        self, lost: Job, backend: Backend, tmp_path: Path
    ) -> None:
        state = self.again(backend, lost, tmp_path, max_runtime=1)
        assert state.secondary_status == "MaxRuntimeExceeded", (state, lost.report())

    def test_a_stop_that_was_asked_for_before_does_not_stop_it(
        self, lost: Job, backend: Backend, tmp_path: Path
    ) -> None:
        (lost.folder / "stop.json").write_text('{"grace": 0}')
        assert self.again(backend, lost, tmp_path).status == "Completed"

    def test_a_job_that_runs_is_not_begun_again(
        self, submit: Callable[..., Job], backend: Backend, tmp_path: Path
    ) -> None:
        job = submit("import signal; signal.pause()")
        with pytest.raises(InputError, match="cannot be started again"):
            backend.restart(
                make_plan(tmp_path, image=self.image), job.folder, threads=1, attempt=2, spent=0.0
            )
        assert job.state.attempt == 1

    def test_a_folder_in_which_it_was_never_begun_will_do(self, backend: Backend, tmp_path: Path) -> None:
        folder = tmp_path / "home" / "jobs" / "job-1"
        folder.mkdir(parents=True)
        (folder / "plan.json").write_text("{")
        plan = make_plan(tmp_path, script="print('here')", image=self.image)
        backend.restart(plan, folder, threads=1, attempt=1, spent=0.0)
        job = Job(backend, folder)
        assert job.ends().status == "Completed", job.report()
        assert not job.state.had_checkpoints
        assert job.texts()[-1] == "here"
