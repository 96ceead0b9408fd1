"""What a rank finds around it: its place in the job, its files, its settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bandstand.cores import usable_cores
from bandstand.errors import PlatformError
from bandstand.host_variables import GOAL, KEY, LOCAL_RANK, LOCAL_SIZE, MEET, RANK, THREADS
from bandstand.hyperparameter_schema import Settings
from bandstand.hyperparameters import Hyperparameters
from bandstand.sagemaker_files import (
    Channel,
    Cluster,
    Folders,
    read_channels,
    read_cluster,
    read_hyperparameters,
)


@dataclass(frozen=True)
class Surroundings:
    """One rank's view of its training job.

    Args:
        inside: Whether there is a job at all, or only a script that somebody tries out.
        folders: Where files are found and left.
        cluster: The hosts.
        hyperparameters: As given to the job.
        channels: Name to channel.
        rank: From 0, over all hosts.
        local_rank: From 0, on this host.
        local_size: Ranks on this host, the same on every host.
        threads: How many threads this rank should use.
        job_name: The training job's name; empty if it has none.
        goal: `maximize` or `minimize`, of the tuning objective, if that is known.
        meet: `address:port` of the rendezvous, if there are several ranks.
        key: The job's key, in hex.
        settings: The values of declared hyperparameters.
    """

    inside: bool
    folders: Folders
    cluster: Cluster
    hyperparameters: Hyperparameters
    channels: Mapping[str, Channel]
    rank: int
    local_rank: int
    local_size: int
    threads: int
    job_name: str
    goal: str | None
    meet: str | None
    key: str
    settings: Settings = field(default_factory=Settings)

    @property
    def world_size(self) -> int:
        """Ranks in the whole job."""
        return len(self.cluster.hosts) * self.local_size


def look_around(environ: Mapping[str, str]) -> Surroundings:
    """Read a rank's surroundings from its environment and files.

    Raises:
        InputError: If a configuration file cannot be read.
        PlatformError: If the job has several ranks, but this process was not started as one of them.
    """
    folders = Folders.from_environment(environ)
    started = RANK.name in environ
    inside = started or folders.config.is_dir()
    if not inside:
        here = Path.cwd()
        folders = Folders(here)
    cluster = read_cluster(folders) if inside else Cluster("algo-1", ("algo-1",))
    if not started and len(cluster.hosts) > 1:
        raise PlatformError(
            f"This job has {len(cluster.hosts)} hosts, but this process was not started as one of its ranks. "
            "Make `python -m bandstand.training` the image's entry point; it starts the script on every host."
        )
    local_size = int(environ.get(LOCAL_SIZE.name, "1"))
    threads = environ.get(THREADS.name)
    return Surroundings(
        inside=inside,
        folders=folders,
        cluster=cluster,
        hyperparameters=Hyperparameters(read_hyperparameters(folders) if inside else {}),
        channels=read_channels(folders) if inside else {},
        rank=int(environ.get(RANK.name, "0")),
        local_rank=int(environ.get(LOCAL_RANK.name, "0")),
        local_size=local_size,
        threads=int(threads) if threads else max(1, usable_cores() // local_size),
        job_name=environ.get("TRAINING_JOB_NAME", ""),
        goal=environ.get(GOAL.name) or None,
        meet=environ.get(MEET.name),
        key=environ.get(KEY.name, ""),
    )
