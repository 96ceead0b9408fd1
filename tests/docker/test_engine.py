"""What goes wrong with an engine or an image: each has its own message, with what to do."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import subprocess
import threading
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest
from tests.backends.jobs import Job, eventually, make_plan, supervisor_of
from tests.backends.scripts import POLITE
from tests.docker.images import IMAGE, changed_image, docker, foreign_image

from bandstand.backends.containers import ContainerBackend
from bandstand.backends.engine import Engine, EngineLostError
from bandstand.backends.engine_address import DEFAULT_SOCKET, find_engine
from bandstand.backends.leftovers import left_behind, remove
from bandstand.errors import PlatformError

SOCKET = find_engine(os.environ).address.removeprefix("unix://")


@pytest.fixture
def backend() -> Iterator[ContainerBackend]:
    with closing(ContainerBackend(lease_seconds=60.0, peer_grace=1.0)) as made:
        yield made


def failed(backend: ContainerBackend, root: Path, **changes: object) -> str:
    job = Job(backend, root / "home" / "jobs" / "job-1")
    backend.submit(make_plan(root, **{"image": IMAGE, **changes}), job.folder, threads=1)
    state = job.ends()
    assert state.status == "Failed"
    assert docker("ps", "--all", "--quiet", "--filter", f"label=bandstand.folder={job.folder}") == ""
    backend.close()
    assert docker("network", "ls", "--quiet", "--filter", f"label=bandstand.folder={job.folder}") == ""
    return state.failure_reason or ""


def test_an_image_that_is_not_there_is_told_before_anything_begins(
    backend: ContainerBackend, tmp_path: Path
) -> None:
    with pytest.raises(PlatformError, match=r"The image none:1 is not in the container engine\. Build it"):
        backend.check(make_plan(tmp_path, image="none:1"))
    with pytest.raises(PlatformError, match="none:1"):
        backend.submit(make_plan(tmp_path, image="none:1"), tmp_path / "home" / "jobs" / "job-1", threads=1)
    assert not (tmp_path / "home").exists()


def test_an_image_for_another_processor_is_told_before_anything_begins(
    backend: ContainerBackend, tmp_path: Path
) -> None:
    with (
        foreign_image("bandstand-test-foreign:1", "s390x") as image,
        pytest.raises(PlatformError, match="is for linux/s390x; this container engine runs linux/"),
    ):
        backend.check(make_plan(tmp_path, image=image))


def test_an_image_that_does_not_take_the_word_train_says_so(
    backend: ContainerBackend, tmp_path: Path
) -> None:
    with changed_image("bandstand-test-plain:1", "ENTRYPOINT []") as image:
        reason = failed(backend, tmp_path, image=image, hosts=2)
    assert reason.startswith("algo-1 could not be started: The image bandstand-test-plain:1 cannot start")
    assert "its ENTRYPOINT must take it" in reason


def test_a_limit_that_does_not_fit_the_machine_says_so(backend: ContainerBackend, tmp_path: Path) -> None:
    reason = failed(backend, tmp_path, environment=(("BANDSTAND_HOST_CPUS", "4000"),))
    assert "The limits of a host do not fit this machine" in reason
    assert "BANDSTAND_HOST_CPUS" in reason


def test_gpus_that_the_engine_does_not_have_are_told(backend: ContainerBackend, tmp_path: Path) -> None:
    reason = failed(backend, tmp_path, environment=(("BANDSTAND_HOST_GPUS", "64"),))
    assert "BANDSTAND_HOST_GPUS" in reason


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("unix:///no/such/socket", "There is no container engine at /no/such/socket: No such file"),
        ("unix:///etc/hosts", "There is no container engine at /etc/hosts: Connection refused"),
        ("tcp://127.0.0.1:1", "There is no container engine at tcp://127.0.0.1:1: Connection refused"),
        ("ssh://far.example", "expected one on this machine"),
    ],
)
def test_an_engine_that_is_not_there_is_told(
    address: str, expected: str, backend: ContainerBackend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_HOST", address)
    with pytest.raises(PlatformError, match=expected) as caught:
        backend.check(make_plan(tmp_path))
    assert "--on processes" in str(caught.value)


def test_an_engine_whose_socket_may_not_be_used_is_told(tmp_path: Path) -> None:
    script = "from bandstand.backends.engine import Engine; Engine('unix://{}').ask('GET', '/version')"
    place = tmp_path / "engine.sock"
    with closing(socket.socket(socket.AF_UNIX)) as listener:
        listener.bind(str(place))
        listener.listen()
        place.chmod(stat.S_IRUSR)
        for folder in (tmp_path, *list(tmp_path.parents)[:3]):
            folder.chmod(0o755)
        done = subprocess.run(
            ["/usr/bin/env", "python3", "-c", script.format(place)],
            env={"PYTHONPATH": str(Path(__file__).parents[2] / "src"), "PATH": "/usr/bin:/bin"},
            user=65534 if os.geteuid() == 0 else None,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
    assert "may not be used by this user (id " in done.stderr
    assert "sudo usermod -aG docker $USER" in done.stderr


def test_the_engine_is_the_one_that_the_docker_command_uses(tmp_path: Path) -> None:
    import hashlib

    named = hashlib.sha256(b"mine").hexdigest()
    meta = tmp_path / "contexts" / "meta" / named / "meta.json"
    meta.parent.mkdir(parents=True)
    meta.write_text(json.dumps({"Name": "mine", "Endpoints": {"docker": {"Host": "unix:///run/mine.sock"}}}))
    (tmp_path / "config.json").write_text('{"currentContext": "mine"}')
    own = {"DOCKER_CONFIG": str(tmp_path)}
    assert find_engine(own) == Engine("unix:///run/mine.sock")
    assert find_engine({**own, "DOCKER_CONTEXT": "default"}) == Engine(DEFAULT_SOCKET)
    assert find_engine({**own, "DOCKER_HOST": "unix:///other.sock"}) == Engine("unix:///other.sock")
    assert find_engine({}) == Engine(DEFAULT_SOCKET)


def test_an_engine_that_says_nothing_is_given_up(tmp_path: Path) -> None:
    with closing(socket.socket(socket.AF_UNIX)) as listener:
        listener.bind(str(tmp_path / "silent.sock"))
        listener.listen()
        with pytest.raises(EngineLostError, match="did not answer in time"):
            Engine(f"unix://{tmp_path / 'silent.sock'}").ask("GET", "/version", patience=0.1)


class Passage:
    """A socket that leads to the engine until it is cut."""

    def __init__(self, place: Path) -> None:
        self.address = f"unix://{place}"
        self._place = place
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(place))
        self._listener.listen(64)
        self._open: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """End all connections, and take no more."""
        self._place.unlink()
        for each in [self._listener, *self._open]:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                far = socket.socket(socket.AF_UNIX)
                far.connect(SOCKET)
                self._open += [near, far]
                for source, target in ((near, far), (far, near)):
                    threading.Thread(target=self._carry, args=(source, target), daemon=True).start()

    def _carry(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(1 << 16):
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)


def test_an_engine_that_is_lost_in_the_middle_fails_the_job_and_the_next_look_clears_up(
    backend: ContainerBackend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    passage = Passage(tmp_path / "passage.sock")
    with monkeypatch.context() as surroundings:
        surroundings.setenv("DOCKER_HOST", passage.address)
        job = Job(backend, tmp_path / "home" / "jobs" / "job-1")
        backend.submit(make_plan(tmp_path, "job-1", POLITE, image=IMAGE, hosts=2), job.folder, threads=1)
        job.says("ready", 2)
        passage.cut()
        state = job.ends()
        assert state.status == "Failed"
        assert (state.failure_reason or "").startswith("algo-1 was lost. ")
        assert "Start it again and look into its log" in (state.failure_reason or "")

    def alive() -> str:
        return docker("ps", "--quiet", "--filter", f"label=bandstand.folder={job.folder}")

    eventually(lambda: not alive(), "the end of the containers, whose input has ended")
    backend.close()
    from bandstand.runs.cleaning import clean
    from bandstand.runs.record import Record

    with Record.open(tmp_path / "home") as record:
        removed = clean(record, all_ended=True)
    assert "2 containers and 1 network of job-1, which nobody owns" in removed
    assert docker("network", "ls", "--quiet", "--filter", f"label=bandstand.folder={job.folder}") == ""


def test_what_is_supervised_is_left_and_networks_that_were_never_attached_are_removed(
    backend: ContainerBackend, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    labels = [f"--label=bandstand.home={home}", f"--label=bandstand.folder={home / 'jobs' / 'gone'}"]
    network = docker("network", "create", *labels, "bandstand-test-stray")
    job = Job(backend, home / "jobs" / "job-1")
    backend.submit(make_plan(tmp_path, "job-1", POLITE, image=IMAGE), job.folder, threads=1)
    job.says("ready")
    (found,) = left_behind(os.environ, home)
    assert str(found) == "1 network of gone, which nobody owns"
    remove(find_engine(os.environ), found)
    assert network not in docker("network", "ls", "--quiet", "--no-trunc")
    assert left_behind(os.environ, home) == []
    os.kill(supervisor_of(job), signal.SIGTERM)
    assert job.ends().status == "Stopped"
