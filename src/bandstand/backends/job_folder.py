"""Where the files of one training job lie."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from bandstand.backends.locks import is_locked


@dataclass(frozen=True)
class JobFolder:
    """The folder of one training job; it is all that outlives the processes.

    Args:
        path: `HOME/jobs/<training job name>`.
    """

    path: Path

    @property
    def plan(self) -> Path:
        """The plan as it was handed in."""
        return self.path / "plan.json"

    @property
    def task(self) -> Path:
        """What the supervisor was told."""
        return self.path / "task.json"

    @property
    def state(self) -> Path:
        """Where the job stands; replaced whole at each change."""
        return self.path / "state.json"

    @property
    def stop(self) -> Path:
        """The wish that the job end, with its time of grace."""
        return self.path / "stop.json"

    @property
    def interruption(self) -> Path:
        """The wish that the job be interrupted as spot instances are, with its time of grace."""
        return self.path / "interruption.json"

    @property
    def control(self) -> Path:
        """A FIFO: a byte in it wakes the supervisor at once."""
        return self.path / "control"

    @property
    def lease(self) -> Path:
        """A file whose time of change the owner renews."""
        return self.path / "lease"

    @property
    def lock(self) -> Path:
        """Locked from before the supervisor starts until it is gone, however it goes."""
        return self.path / "lock"

    @property
    def supervisor_log(self) -> Path:
        """What the supervisor itself had to say: nothing, unless it is broken."""
        return self.path / "supervisor.log"

    @property
    def logs(self) -> Path:
        """One file for each host."""
        return self.path / "logs"

    @property
    def checkpoints(self) -> Path:
        """The hosts' checkpoints, unless the plan names a folder for them."""
        return self.path / "checkpoints"

    def log(self, host: str) -> Path:
        """Return one host's log."""
        return self.logs / f"{host}.log"

    @property
    def hosts(self) -> Path:
        """The hosts' own folders."""
        return self.path / "hosts"

    def host(self, host: str) -> Path:
        """Return one host's own folder; `ml` in it stands for `/opt/ml`."""
        return self.hosts / host

    def process(self, host: str) -> Path:
        """Return the file that tells which process one host is, where hosts are processes."""
        return self.host(host) / "process"

    def is_supervised(self) -> bool:
        """Whether the job's supervisor lives (or is just being started)."""
        return is_locked(self.lock)
