"""What every backend must do, as a suite to be subclassed: give it `make_backend`, and all of it runs.

class TestMine(BackendContract):
    @pytest.fixture
    def make_backend(self) -> MakeBackend:
        return MyBackend
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from bandstand.backends.backend import Backend
from bandstand.request.plan import TrainingPlan

from .contract_channels import ChannelsContract
from .contract_ends import EndsContract
from .contract_hosts import HostsContract
from .contract_interruption import InterruptionContract
from .contract_life import LifeContract
from .contract_logs import LogsContract
from .contract_restart import RestartContract
from .contract_stopping import StoppingContract
from .jobs import Alarm, Job, MakeBackend, make_plan


class Submitting:
    """Hands jobs in by the backend that is tried, and ends them."""

    image = "bandstand:latest"
    """The image of the jobs; a backend that opens images needs it."""

    def asked(self, plan: TrainingPlan) -> TrainingPlan:
        """Make of a plan the one that the backend takes."""
        return plan

    @pytest.fixture
    def make_backend(self) -> MakeBackend:
        """Return what makes the backend; takes `lease_seconds` and `lease_grace`."""
        raise NotImplementedError

    @pytest.fixture
    def backend(self, make_backend: MakeBackend) -> Iterator[Backend]:
        with closing(make_backend(lease_seconds=60.0)) as made:
            yield made

    @pytest.fixture
    def submit(self, backend: Backend, tmp_path: Path) -> Iterator[Callable[..., Job]]:
        jobs = []

        def handed_in(script: str = "", name: str = "job-1", *, threads: int = 1, **changes: object) -> Job:
            by = changes.pop("backend", backend)
            plan = self.asked(make_plan(tmp_path, name, script, **{"image": self.image, **changes}))
            job = Job(by, tmp_path / "home" / "jobs" / name)  # type: ignore[arg-type]
            job.backend.submit(plan, job.folder, threads=threads)
            jobs.append(job)
            return job

        yield handed_in
        for job in jobs:
            job.backend.kill(job.folder)
            job.ends()

    @pytest.fixture
    def alarm(self, tmp_path: Path) -> Iterator[Alarm]:
        (tmp_path / "checkpoints").mkdir()
        with closing(Alarm(tmp_path / "checkpoints" / "alarm")) as made:
            yield made


class BackendContract(
    Submitting,
    LifeContract,
    HostsContract,
    ChannelsContract,
    LogsContract,
    StoppingContract,
    EndsContract,
    RestartContract,
    InterruptionContract,
):
    """The behaviour of a backend; one that cannot do a thing overrides the test with what it does."""
