"""Training jobs for the tests of backends: a script each, handed in, watched with deadlines."""

from __future__ import annotations

import io
import os
import tarfile
import textwrap
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from bandstand.backends.backend import Backend, JobState, LogLine
from bandstand.request.plan import ChannelPlan, TrainingPlan

MakeBackend = Callable[..., Backend]

DEADLINE_SECONDS = 180.0


def eventually(condition: Callable[[], object], what: str, seconds: float = DEADLINE_SECONDS) -> None:
    """Return as soon as a condition holds; fail when it does not within the deadline."""
    deadline = time.monotonic() + seconds
    pause = threading.Event()
    while not condition():
        assert time.monotonic() < deadline, f"waited {seconds:g} s in vain: {what}"
        pause.wait(0.005)


def make_plan(root: Path, name: str = "job-1", script: str = "", **changes: object) -> TrainingPlan:
    """Return the plan of a job whose program is a script, with all of its folders below a root."""
    code = root / f"code of {name}"
    code.mkdir(parents=True, exist_ok=True)
    (code / "train.py").write_text(textwrap.dedent(script), encoding="utf-8")
    hyperparameters = {
        "sagemaker_program": "train.py",
        "sagemaker_submit_directory": code.as_uri(),
        **dict(changes.pop("hyperparameters", {})),  # type: ignore[call-overload]
    }
    values: dict[str, object] = {
        "name": name,
        "image": "bandstand:latest",
        "hosts": 1,
        "instance_type": "ml.m5.xlarge",
        "volume_gb": 1,
        "role": "arn:aws:iam::111122223333:role/Training",
        "hyperparameters": tuple(hyperparameters.items()),
        "channels": (),
        "output": (root / "out").as_uri(),
        "checkpoints": None,
        "environment": (),
        "max_runtime": None,
        "metrics": (),
        "tags": (),
        "document": "{}",
    }
    return TrainingPlan(**(values | changes))  # type: ignore[arg-type]


def channel(name: str, path: Path, distribution: str = "FullyReplicated", **changes: str) -> ChannelPlan:
    return ChannelPlan(name, path.as_uri(), distribution=distribution, **changes)  # type: ignore[arg-type]


@dataclass
class Job:
    """A job that was handed in."""

    backend: Backend
    folder: Path
    offsets: Mapping[str, int] = field(default_factory=dict)
    seen: list[LogLine] = field(default_factory=list)

    @property
    def state(self) -> JobState:
        return self.backend.describe(self.folder)

    def lines(self) -> list[LogLine]:
        """Return all lines so far."""
        while True:
            fresh, self.offsets = self.backend.lines(self.folder, self.offsets)
            if not fresh:
                return self.seen
            self.seen += fresh

    def texts(self, host: str | None = None) -> list[str]:
        return [line.text for line in self.lines() if host in (None, line.host)]

    def says(self, text: str, times: int = 1) -> None:
        """Wait until lines with a text have come."""

        def said() -> bool:
            assert self.texts().count(text) >= times or not self.state.is_ended, self.report()
            return self.texts().count(text) >= times

        eventually(said, f"{times} x {text!r} in the log; it has {self.texts()}")

    def ends(self) -> JobState:
        """Wait for the end."""
        eventually(lambda: self.state.is_ended, f"the end of {self.folder.name}: {self.report()}")
        return self.state

    def report(self) -> str:
        supervisor = self.folder / "supervisor.log"
        own = supervisor.read_text(encoding="utf-8") if supervisor.exists() else ""
        return "\n".join([str(self.state), *(f"{line.host}: {line.text}" for line in self.lines()), own])

    @contextmanager
    def owned(self) -> Iterator[None]:
        """Renew the lease while the block runs."""
        over = threading.Event()

        def renew() -> None:
            while not over.wait(0.05):
                self.backend.renew(self.folder)

        owner = threading.Thread(target=renew)
        owner.start()
        try:
            yield
        finally:
            over.set()
            owner.join()


def supervisor_of(job: Job) -> int:
    """Return the process that supervises a job."""
    for path in Path("/proc").iterdir():
        if path.name.isdecimal():
            try:
                command = (path / "cmdline").read_bytes().split(b"\0")
            except (FileNotFoundError, ProcessLookupError):
                continue
            if (
                os.fsencode(job.folder) in command
                and b"-S" in command
                and os.getsid(int(path.name)) == int(path.name)
            ):
                return int(path.name)
    raise AssertionError(f"no supervisor of {job.folder}")


def unpacked(archive: Path | None) -> dict[str, bytes]:
    """Return the files of a tar.gz by name."""
    assert archive is not None
    with tarfile.open(fileobj=io.BytesIO(archive.read_bytes())) as packed:
        files = {}
        for member in packed.getmembers():
            content = packed.extractfile(member)
            if content is not None:
                files[member.name] = content.read()
        return files


class Alarm:
    """A FIFO that comes to its end when the last process that has it open for writing is gone."""

    def __init__(self, path: Path) -> None:
        self.path = path
        os.mkfifo(path)
        self._descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)

    def is_over(self) -> bool:
        """Whether everybody is gone; to be asked when somebody is known to have opened it."""
        try:
            return os.read(self._descriptor, 1) == b""
        except BlockingIOError:
            return False

    def close(self) -> None:
        os.close(self._descriptor)
