"""The contract of backends, held by jobs that are handed in over HTTP to what stands in for a region."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.backends.contract import Submitting
from tests.backends.contract_ends import EndsContract
from tests.backends.contract_hosts import HostsContract
from tests.backends.contract_life import LifeContract
from tests.backends.contract_logs import LogsContract
from tests.backends.contract_stopping import StoppingContract
from tests.backends.jobs import Alarm, Job, MakeBackend, channel, eventually, make_plan
from tests.backends.scripts import POLITE
from tests.service.served import Server

from bandstand.backends.backend import Backend
from bandstand.backends.sagemaker.backend import SageMakerBackend
from bandstand.errors import InputError, PlatformError
from bandstand.request.plan import TrainingPlan

from .region import ACCOUNT, NAME, document_of, enter, served

ROUND_SECONDS = 0.05


class SageMakerContract(
    Submitting, LifeContract, HostsContract, LogsContract, StoppingContract, EndsContract
):
    """What SageMaker does otherwise stands in the tests that are overridden here."""

    region_and_account = f"{NAME}:{ACCOUNT}"

    @pytest.fixture(scope="class")
    @classmethod
    def server(cls, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
        with served(tmp_path_factory.mktemp("aws")) as server:
            yield server

    @pytest.fixture(autouse=True)
    def endpoint(self, server: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
        """The way to the region; what the jobs of a test have left there is removed."""
        enter(monkeypatch, server.url)
        yield server.url
        forget_jobs(server)

    @pytest.fixture
    def make_backend(self) -> MakeBackend:
        return lambda **_leases: SageMakerBackend(seconds=ROUND_SECONDS)

    def asked(self, plan: TrainingPlan) -> TrainingPlan:
        return replace(plan, document=json.dumps(document_of(plan)))

    def test_a_job_that_saved_nothing_has_no_archives(
        self, submit: Callable[..., Job], tmp_path: Path
    ) -> None:
        """Describe names the place of the model all the same; nothing is there to be fetched."""
        state = submit().ends()
        assert state.model == tmp_path / "out" / "job-1" / "output" / "model.tar.gz"
        assert not state.model.exists()

    def test_each_host_tells_its_exit_code_and_peak_memory(self, submit: Callable[..., Job]) -> None:
        """SageMaker tells neither."""
        state = submit(hosts=2).ends()
        assert [(host.name, host.exit_code, host.peak_memory) for host in state.hosts] == [
            ("algo-1", None, None),
            ("algo-2", None, None),
        ]

    test_a_job_tells_the_addresses_that_the_names_of_its_hosts_stand_for = None
    """They are SageMaker's own affair."""

    test_a_host_is_told_how_many_threads_a_rank_may_use = None
    """The job's own affair, by its environment."""

    test_a_job_tells_where_its_output_data_is_and_which_files_of_the_model_several_hosts_had = None
    """Describe tells of the model only."""

    def test_data_that_is_elsewhere_is_refused(self, submit: Callable[..., Job], server: Server) -> None:
        """Here it is where it should be."""
        server.plain("s3").create_bucket(
            Bucket="kept", CreateBucketConfiguration={"LocationConstraint": NAME}
        )
        script = """
            import os
            open(os.environ.get("SAGEMAKER_BASE_DIR", "/opt/ml") + "/model/weights", "w").write("x")
        """
        state = submit(script, output="s3://kept/out").ends()
        assert state.model == "s3://kept/out/job-1/output/model.tar.gz"

    def test_missing_data_fails_the_job_with_every_fault(
        self, submit: Callable[..., Job], tmp_path: Path
    ) -> None:
        """The service refuses the request, and nothing was begun."""
        with pytest.raises(InputError, match=str(tmp_path / "gone")):
            submit(channels=(channel("train", tmp_path / "gone"),))

    def test_an_output_folder_that_cannot_be_made_fails_the_job(
        self, submit: Callable[..., Job], tmp_path: Path
    ) -> None:
        """The service refuses the request."""
        (tmp_path / "out").write_text("a file")
        with pytest.raises(InputError, match=str(tmp_path / "out")):
            submit()

    def test_a_job_is_stopping_while_its_hosts_take_their_time(
        self, submit: Callable[..., Job], alarm: Alarm, tmp_path: Path
    ) -> None:
        """The grace time is SageMaker's own 120 s, whatever is asked for."""
        (tmp_path / "checkpoints" / "go").touch()
        script = """
            import os, signal, time
            def leave(number, frame):
                while os.path.exists("/opt/ml/checkpoints/go"):
                    time.sleep(0.01)
                raise SystemExit
            signal.signal(signal.SIGTERM, leave)
            print("ready", flush=True)
            while True:
                signal.pause()
        """
        job = submit(script, checkpoints=(tmp_path / "checkpoints").as_uri())
        job.says("ready")
        job.backend.stop(job.folder, 0.0)
        eventually(lambda: job.state.status == "Stopping", "the status Stopping")
        assert job.state.stop_requested
        (tmp_path / "checkpoints" / "go").unlink()
        assert job.ends().status == "Stopped"

    test_after_the_grace_time_nothing_is_left_of_children_that_ignore_signals = None
    """SageMaker's 120 s are the service's own test."""

    def test_a_killed_job_is_gone_at_once_and_keeps_what_it_had_saved(
        self, submit: Callable[..., Job]
    ) -> None:
        """There is no kill: it is a stop."""
        job = submit(POLITE)
        job.says("ready")
        job.backend.kill(job.folder)
        assert job.ends().status == "Stopped"

    def test_a_job_that_nobody_owns_any_more_is_stopped(
        self, submit: Callable[..., Job], make_backend: MakeBackend
    ) -> None:
        """Nobody owns it, and it goes on."""
        job = submit(POLITE)
        job.says("ready")
        job.backend.renew(job.folder)
        job.backend.close()
        assert make_backend().describe(job.folder).status == "InProgress"

    def test_the_service_begins_jobs_again_by_itself(
        self, submit: Callable[..., Job], backend: Backend, tmp_path: Path
    ) -> None:
        job = submit()
        job.ends()
        with pytest.raises(PlatformError, match="begins jobs again by itself"):
            backend.restart(make_plan(tmp_path), job.folder, threads=1, attempt=2, spent=0.0)

    def test_many_jobs_are_followed_with_few_calls(
        self, submit: Callable[..., Job], make_backend: MakeBackend, tmp_path: Path
    ) -> None:
        """One List call a round, and one Describe for each job that has ended."""
        backend = make_backend()
        calls: list[str] = []
        client = backend.region.client("sagemaker")  # type: ignore[attr-defined]
        note = lambda model, **_: calls.append(model.name)  # noqa: E731
        client.meta.events.register("before-call.sagemaker", note)
        try:
            jobs = [submit(POLITE, f"job-{number}", backend=backend) for number in range(4)]
            for job in jobs:
                job.says("ready")
            calls.clear()
            backend.refresh([job.folder for job in jobs])  # type: ignore[attr-defined]
            assert calls == ["ListTrainingJobs"]
            for job in jobs:
                job.backend.stop(job.folder)
            for job in jobs:
                job.ends()
        finally:
            client.meta.events.unregister("before-call.sagemaker", note)
        assert calls.count("StopTrainingJob") == 4
        assert calls.count("DescribeTrainingJob") <= 8


def forget_jobs(server: Server) -> None:
    """Delete all training jobs, so that their names are free."""
    client = server.plain("sagemaker")
    for each in client.list_training_jobs(MaxResults=100)["TrainingJobSummaries"]:
        client.delete_training_job(TrainingJobName=each["TrainingJobName"])
