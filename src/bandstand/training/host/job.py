"""One training job as process 1 of a host finds it, and the environment that its ranks get."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from bandstand.cores import usable_cores
from bandstand.errors import InputError
from bandstand.host_variables import (
    KEY,
    LOCAL_RANK,
    LOCAL_SIZE,
    MEET,
    OF_PROCESS_1,
    RANK,
    RANKS_PER_HOST,
    THREADS,
    WORLD_SIZE,
)
from bandstand.hyperparameters import Hyperparameters
from bandstand.sagemaker_files import (
    Channel,
    Cluster,
    Folders,
    read_channels,
    read_cluster,
    read_hyperparameters,
)
from bandstand.training.host.launchers import Launcher, Place, find_launcher, launched
from bandstand.training.host.program import Program
from bandstand.training.host.script_mode import gpus, variables
from bandstand.training.host.settings import HostSettings, read_settings

_HIDDEN = frozenset(variable.name for variable in OF_PROCESS_1)


@dataclass(frozen=True)
class Job:
    """What a host knows of its job before it has met the others.

    Args:
        folders: Where files are found and left; absolute.
        cluster: The hosts.
        raw: The hyperparameters as they came, those of the platform included.
        channels: Name to channel.
        settings: The `BANDSTAND_*` variables.
        environ: This process's environment.
        launcher: The launcher that its ranks are to find themselves under.
    """

    folders: Folders
    cluster: Cluster
    raw: Mapping[str, str]
    channels: Mapping[str, Channel]
    settings: HostSettings
    environ: Mapping[str, str]
    launcher: Launcher | None = None

    @property
    def hyperparameters(self) -> Hyperparameters:
        """The hyperparameters, those of the platform apart."""
        return Hyperparameters(self.raw)

    @property
    def world_size(self) -> int:
        """Ranks in the whole job."""
        return len(self.cluster.hosts) * self.settings.ranks_per_host

    @property
    def key(self) -> bytes:
        """What only this job's hosts have; without BANDSTAND_KEY, what they can work out from its documents.

        A derived key keeps jobs apart; it does not keep out somebody who can read the documents.
        """
        if self.settings.key:
            return self.settings.key
        import hashlib

        facts = [self.environ.get("TRAINING_JOB_NAME", ""), self.cluster.hosts, sorted(self.raw.items())]
        return hashlib.sha256(json.dumps(facts).encode()).digest()

    def rank_environment(
        self, local_rank: int, program: Program, meet: str | None, ports: Sequence[int] = ()
    ) -> dict[str, str]:
        """The environment of one rank.

        Args:
            local_rank: From 0, on this host.
            program: What it runs.
            meet: `address:port` of the leader's hub, None if the job has one rank.
            ports: What the leader has free, for a ring's rendezvous.
        """
        environ = {name: text for name, text in self.environ.items() if name not in _HIDDEN}
        environ.update(
            variables(program, self.hyperparameters, self.cluster, self.channels, self.folders, self.environ)
        )
        per_host = self.settings.ranks_per_host
        threads = self.settings.threads or max(1, usable_cores() // per_host)
        if self.settings.threads or per_host > 1:  # else a library may use what it finds
            environ.setdefault("OMP_NUM_THREADS", str(threads))
        if program.folder is not None:
            environ["PYTHONPATH"] = ":".join(
                filter(None, (str(program.folder), self.environ.get("PYTHONPATH")))
            )
        rank = self.cluster.index * per_host + local_rank
        environ |= {
            RANK.name: str(rank),
            WORLD_SIZE.name: str(self.world_size),
            LOCAL_RANK.name: str(local_rank),
            LOCAL_SIZE.name: str(per_host),
            THREADS.name: str(threads),
            "PYTHONUNBUFFERED": "1",
            "SAGEMAKER_BASE_DIR": str(self.folders.base),
        }
        if meet is not None:
            environ |= {MEET.name: meet, KEY.name: self.key.hex()}
        place = Place(rank, self.world_size, local_rank, per_host)
        return {**environ, **launched(self.launcher, place, meet, ports, self.environ)}


def read_job(environ: Mapping[str, str]) -> Job:
    """Read the job's documents and variables.

    Raises:
        InputError: If one of them does not hold what it should.
    """
    folders = Folders(Folders.from_environment(environ).base.absolute())
    try:
        raw = read_hyperparameters(folders)
        launcher = find_launcher(raw, gpus(environ))
        return Job(
            folders=folders,
            cluster=read_cluster(folders),
            raw=raw,
            channels=read_channels(folders),
            settings=_with_ranks(read_settings(environ), raw, environ, launcher),
            environ=environ,
            launcher=launcher,
        )
    except OSError as error:
        raise InputError(
            f"The job's documents in {folders.config} cannot be read by this user (id {os.getuid()}): "
            f"{error}. Run the image as a user who may read them, such as root."
        ) from None


def _with_ranks(
    settings: HostSettings, raw: Mapping[str, str], environ: Mapping[str, str], launcher: Launcher | None
) -> HostSettings:
    """Have as many ranks as the job says, else as its launcher starts, else one (per GPU if built in)."""
    if environ.get(RANKS_PER_HOST.name):
        return settings
    if launcher is not None:
        return replace(settings, ranks_per_host=launcher.ranks_per_host)
    program = environ.get("SAGEMAKER_PROGRAM") or raw.get("sagemaker_program")
    if program or Hyperparameters(raw).text("algorithm", None) != "horovod":
        return settings
    return replace(settings, ranks_per_host=max(1, gpus(environ)))
