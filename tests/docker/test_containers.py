"""The containers backend: all that any backend does, and what only containers do."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.backends.contract import BackendContract
from tests.backends.jobs import Alarm, Job, MakeBackend, channel, eventually, supervisor_of, unpacked
from tests.backends.scripts import POLITE, STUBBORN
from tests.docker.images import IMAGE, changed_image, docker, idle_volumes

from bandstand.backends.containers import ContainerBackend


def at_the_engine(folder: Path) -> dict[str, list[str]]:
    """What the engine has of a job, or of all jobs below a folder's home."""
    label = f"label=bandstand.folder={folder}"
    return {
        "containers": docker("ps", "--all", "--quiet", "--filter", label).split(),
        "networks": docker("network", "ls", "--quiet", "--filter", label).split(),
    }


NOTHING: dict[str, list[str]] = {"containers": [], "networks": []}


class TestContainers(BackendContract):
    image = IMAGE
    runtime_limit = 20

    @pytest.fixture
    def make_backend(self) -> MakeBackend:
        return ContainerBackend

    @pytest.fixture(autouse=True)
    def leaves_nothing(self, tmp_path: Path) -> Iterator[None]:
        volumes = idle_volumes()
        yield
        folders = list((tmp_path / "home" / "jobs").glob("*"))
        eventually(lambda: all(at_the_engine(each) == NOTHING for each in folders), "the end of all networks")
        assert idle_volumes() <= volumes

    def test_hosts_are_containers_with_the_services_names_in_a_network_of_their_own(
        self, submit: Callable[..., Job]
    ) -> None:
        job = submit(POLITE, hosts=2)
        job.says("ready", 2)
        containers = json.loads(docker("inspect", *at_the_engine(job.folder)["containers"]))
        by_host = {each["Config"]["Labels"]["bandstand.host"]: each for each in containers}
        assert sorted(by_host) == ["algo-1", "algo-2"]
        for host, facts in by_host.items():
            assert facts["Config"]["Hostname"] == host
            assert facts["Config"]["Labels"]["bandstand.job"] == "job-1"
            assert facts["Config"]["Labels"]["bandstand.owner"] == str(os.geteuid())
            assert len(facts["NetworkSettings"]["Networks"]) == 1
            assert facts["HostConfig"]["ShmSize"] > 1 << 30
        job.backend.stop(job.folder)
        assert job.ends().status == "Stopped"

    def test_what_a_host_changes_of_sdk_3s_own_channel_stays_with_the_host(
        self, submit: Callable[..., Job], tmp_path: Path
    ) -> None:
        script = """
            import os
            path = "/opt/ml/input/data/sm_drivers/sm_train.sh"
            os.chmod(path, 0o755)
            with open(path, "a") as file:
                file.write("more")
            print(oct(os.stat(path).st_mode), open(path).read())
        """
        brought = tmp_path / "drivers" / "sm_train.sh"
        brought.parent.mkdir()
        brought.write_text("exit 0\n")
        brought.chmod(0o644)
        job = submit(script, hosts=2, channels=(channel("sm_drivers", brought.parent),))
        assert job.ends().status == "Completed", job.report()
        for host in ("algo-1", "algo-2"):
            assert job.texts(host)[-2:] == ["0o100755 exit 0", "more"]
        assert (brought.read_text(), brought.stat().st_mode & 0o777) == ("exit 0\n", 0o644)

    def test_a_horovod_script_for_mpirun_finds_all_ranks_of_all_hosts(
        self, submit: Callable[..., Job]
    ) -> None:
        script = """
            import horovod.torch as hvd
            import torch
            hvd.init()
            print(hvd.rank(), hvd.size(), hvd.allreduce(torch.ones(1), op=hvd.Sum).item())
        """
        asked = {"sagemaker_mpi_enabled": "true", "sagemaker_mpi_num_of_processes_per_host": "2"}
        job = submit(script, hosts=2, hyperparameters=asked)
        assert job.ends().status == "Completed", job.report()
        told = [text for host in ("algo-1", "algo-2") for text in job.texts(host)]
        assert sorted(text for text in told if text.endswith(" 4.0")) == [
            f"{rank} 4 4.0" for rank in range(4)
        ]

    def test_the_interface_that_is_named_leads_to_the_other_hosts(self, submit: Callable[..., Job]) -> None:
        script = """
            import json, os, socket
            name = json.load(open("/opt/ml/input/config/resourceconfig.json"))["network_interface_name"]
            print(name, sorted(os.listdir("/sys/class/net")), os.environ["SM_NETWORK_INTERFACE_NAME"])
            assert "BANDSTAND_LIFE_FD" not in os.environ
        """
        job = submit(script, hosts=2)
        assert job.ends().status == "Completed", job.report()
        assert job.texts("algo-2")[-1] == "eth0 ['eth0', 'lo'] eth0"

    def test_a_job_that_is_over_has_no_containers_and_soon_no_network(
        self, submit: Callable[..., Job]
    ) -> None:
        job = submit("print('done')", hosts=2)
        assert job.ends().status == "Completed", job.report()
        assert at_the_engine(job.folder)["containers"] == []
        job.backend.close()
        assert at_the_engine(job.folder) == NOTHING

    def test_nothing_of_the_launchers_shell_is_inside(
        self, submit: Callable[..., Job], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "of the launcher")
        job = submit("import os; print('secret', os.environ.get('AWS_SECRET_ACCESS_KEY'))")
        assert job.ends().status == "Completed", job.report()
        assert "secret None" in job.texts()

    def test_containers_end_by_themselves_when_their_supervisor_is_killed(
        self, submit: Callable[..., Job], alarm: Alarm, tmp_path: Path
    ) -> None:
        job = submit(STUBBORN, hosts=2, checkpoints=(tmp_path / "checkpoints").as_uri())
        job.says("grandchild", 2)
        os.kill(supervisor_of(job), signal.SIGKILL)
        eventually(alarm.is_over, "the end of all processes")
        state = job.ends()
        assert state.status == "Failed"
        assert "supervisor ended without a word" in (state.failure_reason or "")
        assert at_the_engine(job.folder) == NOTHING

    def test_whoever_looks_next_ends_containers_of_other_images_that_lost_their_supervisor(
        self, submit: Callable[..., Job]
    ) -> None:
        with changed_image("bandstand-test-sleep:1", "ENTRYPOINT []", 'CMD ["sleep"]') as image:
            document = json.dumps({"AlgorithmSpecification": {"ContainerEntrypoint": ["sleep", "600"]}})
            job = submit(image=image, document=document)
            eventually(lambda: job.state.secondary_status == "Training", "the training")
            eventually(
                lambda: docker("ps", "-q", "--filter", f"label=bandstand.folder={job.folder}"), "a host"
            )
            os.kill(supervisor_of(job), signal.SIGKILL)
            assert job.ends().status == "Failed"
            assert at_the_engine(job.folder) == NOTHING

    def test_a_host_that_reaches_its_memory_limit_fails_with_that_reason(
        self, submit: Callable[..., Job]
    ) -> None:
        limits = (("BANDSTAND_HOST_MEMORY", "96m"),)
        state = submit("held = bytearray(300 << 20)", environment=limits).ends()
        assert state.status == "Failed"
        assert (state.failure_reason or "").startswith("algo-1 reached its memory limit of 96 MiB")

    def test_limits_are_those_that_the_environment_asks_for(self, submit: Callable[..., Job]) -> None:
        limits = (
            ("BANDSTAND_HOST_MEMORY", "256m"),
            ("BANDSTAND_HOST_CPUS", "0.5"),
            ("BANDSTAND_HOST_SHM", "80m"),
        )
        job = submit(POLITE, environment=limits)
        job.says("ready")
        found = json.loads(docker("inspect", *at_the_engine(job.folder)["containers"]))[0]["HostConfig"]
        assert (found["Memory"], found["NanoCpus"], found["ShmSize"]) == (256 << 20, 500_000_000, 80 << 20)
        assert found["MemorySwap"] == found["Memory"]
        job.backend.kill(job.folder)
        assert job.ends().status == "Stopped"

    def test_a_line_of_a_megabyte_arrives_whole_but_for_the_cuts_of_the_log_service(
        self, submit: Callable[..., Job]
    ) -> None:
        script = "import os; os.write(1, b'begin' + b'x' * (1 << 20) + b'end\\n'); print('after')"
        job = submit(script)
        assert job.ends().status == "Completed", job.report()
        texts = job.texts()
        assert (
            "".join(texts[texts.index("after") - 5 : texts.index("after")])
            == "begin" + "x" * (1 << 20) + "end"
        )

    def test_hosts_of_an_isolated_job_reach_each_other_and_nothing_else(
        self, submit: Callable[..., Job]
    ) -> None:
        script = """
            import socket
            print("peer", socket.gethostbyname("algo-2"), flush=True)
            with socket.socket() as attempt:
                attempt.settimeout(2)
                print("outside", attempt.connect_ex(("1.1.1.1", 53)) == 0)
        """
        job = submit(script, hosts=2, document=json.dumps({"EnableNetworkIsolation": True}))
        assert job.ends().status == "Completed", job.report()
        assert job.texts("algo-1")[-1] == "outside False"

    def test_code_in_an_archive_runs(self, submit: Callable[..., Job], tmp_path: Path) -> None:
        import tarfile

        (tmp_path / "train.py").write_text("open('/opt/ml/model/weights', 'w').write('x')")
        with tarfile.open(tmp_path / "source dir.tar.gz", "w:gz") as archive:
            archive.add(tmp_path / "train.py", "train.py")
        submitted = (tmp_path / "source dir.tar.gz").as_uri()
        job = submit(hyperparameters={"sagemaker_submit_directory": submitted})
        assert job.ends().status == "Completed", job.report()
        assert unpacked(job.state.model) == {"weights": b"x"}

    def test_code_that_cannot_be_laid_over_is_shown_as_it_is(
        self, submit: Callable[..., Job], tmp_path: Path
    ) -> None:
        (tmp_path / "train.py").write_text(
            "try:\n    open('note', 'w')\nexcept OSError as error:\n    print('refused', error.errno)\n"
        )
        job = submit(hyperparameters={"sagemaker_submit_directory": tmp_path.as_uri()})
        assert job.ends().status == "Completed", job.report()
        assert "refused 30" in job.texts()
        assert not (tmp_path / "note").exists()
