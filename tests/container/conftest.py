"""Real training jobs on this machine: one process 1 for each host, with folders and an address of its own."""

from __future__ import annotations

import csv
import json
import os
import re
import secrets
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np
import pytest
from numpy.typing import NDArray

from bandstand.sagemaker_files import Channel, Cluster, Distribution, Folders, write_config

DEADLINE = 240.0
LINE = re.compile(r"iteration=([0-9]+) (.+)")

Files = Mapping[str, bytes]
"""Name to content."""


class Output:
    """What a process writes to one pipe, read as it comes."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._data = bytearray()
        self._changed = threading.Condition()
        self._ended = False
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        with self._stream:
            while data := os.read(self._stream.fileno(), 1 << 16):
                with self._changed:
                    self._data += data
                    self._changed.notify_all()
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def wait_for(self, text: str) -> None:
        """Wait until a text has been written."""
        with self._changed:
            assert self._changed.wait_for(lambda: text in self.text or self._ended, DEADLINE), self.text
        assert text in self.text, self.text

    def wait_for_end(self) -> str:
        """Wait until nobody can write any more; all that was written."""
        with self._changed:
            assert self._changed.wait_for(lambda: self._ended, DEADLINE), self.text
        return self.text

    @property
    def text(self) -> str:
        return bytes(self._data).decode(errors="replace")


@dataclass
class Host:
    """One host of a job: its folders, its process and what that has written."""

    name: str
    folders: Folders
    process: subprocess.Popen[bytes]
    stdout: Output
    stderr: Output

    @property
    def out(self) -> str:
        return self.stdout.text

    @property
    def err(self) -> str:
        return self.stderr.text

    @property
    def failure(self) -> str:
        return self.folders.failure.read_text() if self.folders.failure.exists() else ""

    @property
    def model(self) -> Path:
        return self.folders.model / "xgboost-model"


@dataclass
class Job:
    """The hosts of one job."""

    hosts: list[Host]

    def wait(self) -> list[int]:
        """Wait until all hosts have ended; their exit codes."""
        codes = [host.process.wait(DEADLINE) for host in self.hosts]
        for host in self.hosts:
            host.stdout.wait_for_end()
            host.stderr.wait_for_end()
        return codes

    def signal(self, number: int = signal.SIGTERM) -> None:
        for host in self.hosts:
            host.process.send_signal(number)

    @property
    def log(self) -> str:
        return "\n".join(f"--- {host.name}\n{host.out}\n{host.err}" for host in self.hosts)

    @property
    def leader(self) -> Host:
        return self.hosts[0]

    @property
    def reports(self) -> list[dict[str, float]]:
        """The metric lines of the job, in order; the first one is that of iteration 1."""
        lines = [match for match in map(LINE.fullmatch, self.leader.out.splitlines()) if match]
        assert [int(line[1]) for line in lines] == list(range(1, len(lines) + 1)), self.log
        return [
            {name: float(value) for name, _, value in (part.rpartition("=") for part in line[2].split(" "))}
            for line in lines
        ]


class Launcher:
    """Starts jobs in a folder, and ends whatever a test leaves running; `last` is the newest job."""

    last: Job

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._processes: list[subprocess.Popen[bytes]] = []
        self._jobs = 0

    def start(
        self,
        hyperparameters: Mapping[str, object],
        hosts: int = 3,
        *,
        replicated: Mapping[str, Files] | None = None,
        sharded: Mapping[str, Sequence[Files | None]] | None = None,
        declared: Distribution = "ShardedByS3Key",
        content_type: str | None = "text/csv",
        environment: Mapping[str, str] | None = None,
        checkpoints: Path | None = None,
    ) -> Job:
        """Start all hosts of a job.

        Args:
            hyperparameters: Name to value; `algorithm` is added.
            hosts: How many.
            replicated: Channel to the files that every host has.
            sharded: Channel to the files of each host; None for a host that lacks the channel.
            declared: What the job says of the sharded channels.
            content_type: Of all channels.
            environment: More variables for all hosts.
            checkpoints: A folder that keeps the checkpoints of host N in `algo-N`, for a restart.
        """
        self._jobs += 1
        base = self._folder / f"job-{self._jobs}"
        names = tuple(f"algo-{number}" for number in range(1, hosts + 1))
        a, b = secrets.randbelow(254) + 1, secrets.randbelow(256)
        addresses = {name: f"127.{a}.{b}.{number}" for number, name in enumerate(names, 1)}
        listener = socket.create_server((addresses[names[0]], 0))
        common = {
            **{n: v for n, v in os.environ.items() if not n.startswith(("BANDSTAND_", "SM_", "SAGEMAKER_"))},
            "TRAINING_JOB_NAME": "a-job",
            "BANDSTAND_HOST_MAP": json.dumps(addresses),
            "BANDSTAND_PORT": str(listener.getsockname()[1]),
            "BANDSTAND_KEY": secrets.token_hex(16),
            "BANDSTAND_START_TIMEOUT": "200",
            "BANDSTAND_THREADS": "1",
            **(environment or {}),
        }
        given = {name: str(value) for name, value in {"algorithm": "xgboost", **hyperparameters}.items()}
        started = []
        for index, name in enumerate(names):
            folders = Folders(base / name)
            channels = []
            for channel, files in (replicated or {}).items():
                channels.append(Channel(channel, folders.data / channel, content_type))
                _fill(folders.data / channel, files)
            for channel, shares in (sharded or {}).items():
                share = shares[index]
                if share is not None:
                    path = folders.data / channel
                    channels.append(Channel(channel, path, content_type, declared))
                    _fill(path, share)
            write_config(folders, given, Cluster(name, names), channels)
            if checkpoints:
                (checkpoints / name).mkdir(parents=True, exist_ok=True)
                folders.checkpoints.symlink_to(checkpoints / name)
            own = {"SAGEMAKER_BASE_DIR": str(folders.base)}
            passed: tuple[int, ...] = ()
            if index == 0:
                own["BANDSTAND_LISTEN_FD"] = str(listener.fileno())
                passed = (listener.fileno(),)
            process = subprocess.Popen(
                [sys.executable, "-m", "bandstand.training", "train"],
                env={**common, **own},
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=passed,
                start_new_session=True,
            )
            assert process.stdout is not None
            assert process.stderr is not None
            self._processes.append(process)
            started.append(Host(name, folders, process, Output(process.stdout), Output(process.stderr)))
        listener.close()
        self.last = Job(started)
        return self.last

    def run(self, hyperparameters: Mapping[str, object], hosts: int = 3, **more: object) -> Job:
        """Start a job and wait until it has ended well."""
        job = self.start(hyperparameters, hosts, **more)  # type: ignore[arg-type]
        codes = job.wait()
        assert codes == [0] * hosts, job.log
        return job

    def fail(self, hyperparameters: Mapping[str, object], hosts: int = 3, **more: object) -> str:
        """Start a job and wait until it has failed on all hosts, for one reason, which is returned."""
        job = self.start(hyperparameters, hosts, **more)  # type: ignore[arg-type]
        codes = job.wait()
        assert 0 not in codes, job.log
        reasons = {host.failure for host in job.hosts}
        assert len(reasons) == 1, job.log
        assert job.reports == []
        return reasons.pop()

    def close(self) -> None:
        for process in self._processes:
            process.kill()
            process.wait()


def _fill(folder: Path, files: Files) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)


@pytest.fixture
def jobs(tmp_path: Path) -> Iterator[Launcher]:
    """Starts training jobs of the built-in algorithms."""
    launcher = Launcher(tmp_path)
    yield launcher
    launcher.close()


def as_csv(rows: NDArray[np.float32]) -> bytes:
    """Rows as label-first CSV: numbers in shortest form."""
    return b"".join(b",".join(_number(float(value)) for value in row) + b"\n" for row in rows)


def _number(value: float) -> bytes:
    if value != value:
        return b""
    return b"%d" % value if value.is_integer() else repr(value).encode()


@pytest.fixture(scope="session")
def to_csv() -> Callable[[NDArray[np.float32]], bytes]:
    """Writes rows as label-first CSV."""
    return as_csv


@pytest.fixture(scope="session")
def campaign() -> NDArray[np.float32]:
    """Rows of a bank's telephone campaign, sorted by age: label first; made-up ones without the data."""
    root = Path(__file__).parents[2]
    folder = Path(os.environ.get("BANDSTAND_TEST_DATA", root.parent / "shared" / "data"))
    path = folder / "bank-marketing" / "bank-additional.csv"
    rng = np.random.default_rng(7)
    if not path.exists():
        features = rng.normal(size=(4000, 12)).round(3)
        labels = features[:, 0] + features[:, 1] ** 2 + rng.normal(size=4000) > 1.5
        rows = np.column_stack([labels, features])
        return rows[np.argsort(features[:, 0], kind="stable")].astype(np.float32)
    with path.open(newline="") as source:
        records = list(csv.DictReader(source, delimiter=";"))
    columns = [[float(record["y"] == "yes") for record in records]]
    for name in ("age", "campaign", "previous", "emp.var.rate", "euribor3m"):
        columns.append([float(record[name]) for record in records])
    for name in ("job", "marital", "contact", "poutcome"):
        for value in sorted({record[name] for record in records}):
            columns.append([float(record[name] == value) for record in records])
    rows = np.array(columns, np.float32).T
    return rows[np.argsort(rows[:, 1], kind="stable")]
