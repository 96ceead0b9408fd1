"""Real agents on this machine: one process for each host, with folders and a loopback address of its own."""

from __future__ import annotations

import json
import os
import secrets
import select
import signal
import socket
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from bandstand.sagemaker_files import Channel, Cluster, Folders, write_config

DEADLINE = 60.0


@dataclass
class Host:
    """One host's agent, and what it has written."""

    name: str
    folders: Folders
    process: subprocess.Popen[bytes]
    stdout: bytearray = field(default_factory=bytearray)
    stderr: bytearray = field(default_factory=bytearray)
    changed: threading.Condition = field(default_factory=threading.Condition)
    readers: list[threading.Thread] = field(default_factory=list)

    def read(self) -> None:
        for stream, into in ((self.process.stdout, self.stdout), (self.process.stderr, self.stderr)):
            if stream is not None:
                thread = threading.Thread(target=self._pump, args=(stream, into), daemon=True)
                thread.start()
                self.readers.append(thread)

    def _pump(self, stream, into: bytearray) -> None:
        with stream:
            while data := os.read(stream.fileno(), 1 << 16):
                with self.changed:
                    into += data
                    self.changed.notify_all()
        with self.changed:
            self.changed.notify_all()

    def wait_for(self, text: str, *, times: int = 1) -> None:
        """Wait until the host has written a text on either stream."""
        assert self.writes(text, times=times), f"no {text!r} in: {self.output}"

    def writes(self, text: str, *, times: int = 1) -> bool:
        """Wait until a text is there, or nothing more can come; whether it is there."""

        def seen() -> bool:
            return self.output.count(text) >= times or not any(t.is_alive() for t in self.readers)

        with self.changed:
            assert self.changed.wait_for(seen, DEADLINE), f"no {text!r} in: {self.output}"
        return self.output.count(text) >= times

    @property
    def output(self) -> str:
        return self.out + self.err

    @property
    def out(self) -> str:
        return bytes(self.stdout).decode(errors="replace")

    @property
    def err(self) -> str:
        return bytes(self.stderr).decode(errors="replace")

    @property
    def failure(self) -> str:
        return self.folders.failure.read_text() if self.folders.failure.exists() else ""

    def signal(self, number: int = signal.SIGTERM) -> None:
        self.process.send_signal(number)

    def wait(self) -> int:
        code = self.process.wait(DEADLINE)
        for thread in self.readers:
            thread.join(DEADLINE)
        return code


@dataclass
class Hosts:
    """The hosts of one job."""

    hosts: list[Host]

    def __getitem__(self, index: int) -> Host:
        return self.hosts[index]

    def __iter__(self) -> Iterator[Host]:
        return iter(self.hosts)

    def wait(self) -> list[int]:
        return [host.wait() for host in self.hosts]

    def wait_for(self, text: str) -> None:
        for host in self.hosts:
            host.wait_for(text)

    def signal(self, number: int = signal.SIGTERM) -> None:
        for host in self.hosts:
            host.signal(number)

    @property
    def log(self) -> str:
        return "\n".join(f"--- {host.name}\n{host.out}\n{host.err}" for host in self.hosts)


def lay_out(
    base: Path,
    hosts: tuple[str, ...],
    host: str,
    hyperparameters: Mapping[str, str],
    channels: tuple[str, ...] = (),
) -> Folders:
    folders = Folders(base)
    write_config(
        folders,
        hyperparameters,
        Cluster(host, hosts),
        [Channel(name, folders.data / name) for name in channels],
    )
    for folder in (folders.model, folders.output_data, folders.checkpoints, folders.code):
        folder.mkdir(parents=True, exist_ok=True)
    return folders


def alive(pid: int) -> bool:
    """Whether a process runs, and is not only waiting to be collected."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def clean_environment(**more: str) -> dict[str, str]:
    kept = {n: v for n, v in os.environ.items() if not n.startswith(("BANDSTAND_", "SM_", "SAGEMAKER_"))}
    kept.pop("OMP_NUM_THREADS", None)
    return {**kept, "PYTHONDONTWRITEBYTECODE": "1", **more}


class Launcher:
    """Starts jobs, and ends whatever a test leaves running."""

    def __init__(self, tmp_path: Path) -> None:
        self._tmp_path = tmp_path
        self._processes: list[subprocess.Popen[bytes]] = []
        self._sockets: list[socket.socket] = []

    def __call__(
        self,
        count: int = 1,
        script: str | None = None,
        *,
        name: str = "train.py",
        start: Callable[[str], bool] = lambda host: True,
        hyperparameters: Mapping[str, str] | None = None,
        environment: Mapping[str, str] | None = None,
        per_host: Callable[[str], Mapping[str, str]] = lambda host: {},
        channels: tuple[str, ...] = (),
        words: tuple[str, ...] = ("train",),
        stdout: int | None = subprocess.PIPE,
        prepare: Callable[[Folders], object] = lambda folders: None,
    ) -> Hosts:
        """Start `count` hosts (but those that `start` leaves out) with one script on all of them."""
        names = tuple(f"algo-{number}" for number in range(1, count + 1))
        addresses = {host: f"127.0.1.{number}" for number, host in enumerate(names, 1)}
        given = dict(hyperparameters or {})
        if script is not None:
            given["sagemaker_program"] = name
        listener = socket.create_server((addresses["algo-1"], 0))
        self._sockets.append(listener)
        common = {
            "TRAINING_JOB_NAME": "a-job",
            "BANDSTAND_HOST_MAP": json.dumps(addresses),
            "BANDSTAND_PORT": str(listener.getsockname()[1]),
            "BANDSTAND_KEY": secrets.token_hex(16),
            "BANDSTAND_START_TIMEOUT": "30",
            **(environment or {}),
        }
        descriptor = self.descriptor = listener.fileno()

        def run(host: str) -> Host:
            folders = Folders(self._tmp_path / host)
            own = {"SAGEMAKER_BASE_DIR": str(folders.base)}
            if host == "algo-1":
                own["BANDSTAND_LISTEN_FD"] = str(descriptor)
            process = subprocess.Popen(
                [sys.executable, "-m", "bandstand.training", *words],
                env=clean_environment(**{**common, **own, **per_host(host)}),
                stdout=stdout,
                stderr=subprocess.PIPE,
                stdin=subprocess.DEVNULL,
                cwd=self._tmp_path,
                pass_fds=(descriptor,) if host == "algo-1" else (),
            )
            self._processes.append(process)
            found = Host(host, folders, process)
            found.read()
            return found

        for host in names:
            folders = lay_out(self._tmp_path / host, names, host, given, channels)
            if script is not None:
                folders.code.joinpath(name).write_bytes(textwrap.dedent(script).encode())
            prepare(folders)
        hosts = [run(host) for host in names if start(host)]
        self.address = listener.getsockname()
        self.start_host = run
        listener.close()
        return Hosts(hosts)

    def kill(self) -> None:
        """Kill every process of every job, agents and ranks, and wait until none is left."""
        for process in self._processes:
            if process.poll() is None:
                process.kill()
                process.wait(DEADLINE)
        mark = f"SAGEMAKER_BASE_DIR={self._tmp_path}/".encode()
        ranks = []
        for entry in Path("/proc").glob("[0-9]*"):  # ranks of agents that were killed
            try:
                if mark in (entry / "environ").read_bytes():
                    descriptor = os.pidfd_open(int(entry.name))
                    os.kill(int(entry.name), signal.SIGKILL)
                    ranks.append(descriptor)
            except OSError:
                continue  # it has ended meanwhile, or is somebody else's
        for descriptor in ranks:
            select.select([descriptor], [], [], DEADLINE)  # readable once the process has ended
            os.close(descriptor)

    def close(self) -> None:
        for sock in self._sockets:
            sock.close()
        self.kill()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Launcher]:
    launcher = Launcher(tmp_path)
    yield launcher
    launcher.close()
