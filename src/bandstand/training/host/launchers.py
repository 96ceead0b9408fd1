"""Launchers that the SDKs' `distribution=` asks for, and how many ranks they start on a host.

The hyperparameters are those that SageMaker's SDK 2 writes (sagemaker 2.257, estimator.py and
pytorch/estimator.py). Its own containers hand them to mpirun or torchrun; here the ranks are started already,
and find in their environment what they would find under the launcher.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from bandstand.errors import InputError
from bandstand.host_variables import RANKS_PER_HOST, RING_PORT
from bandstand.hyperparameters import decode
from bandstand.training.host.program import Program

RING_PORTS = 2
"""Ports that the leader keeps for rings: of the master, and of Horovod's rendezvous."""

MPI = "sagemaker_mpi_enabled"
MPI_OPTIONS = "sagemaker_mpi_custom_mpi_options"
MPI_RANKS = "sagemaker_mpi_num_of_processes_per_host"
TORCHRUN = ("sagemaker_torch_distributed_enabled", "sagemaker_pytorch_ddp_enabled")
NOT_HERE = {
    "sagemaker_distributed_dataparallel_enabled": "SageMaker's data parallel library",
    "sagemaker_multi_worker_mirrored_strategy_enabled": "TensorFlow's MultiWorkerMirroredStrategy",
    "sagemaker_parameter_server_enabled": "TensorFlow's parameter servers",
    "sagemaker_pytorch_xla_multi_worker_enabled": "PyTorch's XLA",
}
"""Hyperparameters of launchers that nothing stands in for."""


@dataclass(frozen=True)
class Launcher:
    """A launcher that ranks are to find themselves under.

    Args:
        name: Which one.
        ranks_per_host: How many ranks it starts on each host.
        options: More words for its command line, which nothing here reads.
    """

    name: Literal["mpirun", "torchrun"]
    ranks_per_host: int
    options: str = ""


def find_launcher(raw: Mapping[str, str], gpus: int) -> Launcher | None:
    """Find the launcher that the hyperparameters ask for.

    Args:
        raw: The hyperparameters as they came, those of the platform included.
        gpus: How many GPUs this host has; torchrun starts a rank for each.

    Raises:
        InputError: They ask for one that nothing stands in for here, or for no number of ranks.
    """
    for name, words in NOT_HERE.items():
        if _is_on(raw, name):
            raise InputError(
                f"The hyperparameter {name} asks for {words}, which Bandstand does not start. Take its"
                " distribution out of the estimator, or take mpi or torch_distributed instead."
            )
    if _is_on(raw, MPI):
        options = decode(raw.get(MPI_OPTIONS, ""))
        return Launcher(
            "mpirun", _count(raw.get(MPI_RANKS, "1")), options if isinstance(options, str) else ""
        )
    if any(_is_on(raw, name) for name in TORCHRUN):
        return Launcher("torchrun", max(1, gpus))
    return None


@dataclass(frozen=True)
class Place:
    """A rank's place among all ranks.

    Args:
        rank: From 0, over all hosts.
        size: Ranks in the whole job.
        local_rank: From 0, on its host.
        local_size: Ranks on its host.
    """

    rank: int
    size: int
    local_rank: int
    local_size: int


def launched(
    launcher: Launcher | None,
    place: Place,
    meet: str | None,
    ports: Sequence[int],
    environ: Mapping[str, str],
) -> dict[str, str]:
    """Return what a rank finds in its environment as if a launcher had started it.

    With several ranks, all find the master's address, as in SageMaker's container for PyTorch; the rest is
    what torchrun tells (https://docs.pytorch.org/docs/stable/elastic/run.html), or Open MPI's mpirun
    (https://docs.open-mpi.org/en/v5.0.x/tuning-apps/environment-var.html).

    Args:
        launcher: The launcher, if one is asked for.
        place: The rank's place.
        meet: `address:port` of the leader's hub, None if the job has one rank.
        ports: What the leader has free: for the master, and for what Horovod needs.
        environ: This process's environment, whose master counts.
    """
    if meet is None and launcher is None:
        return {}
    address = "127.0.0.1" if meet is None else meet.rpartition(":")[0].strip("[]")
    if not ports:
        from bandstand.training.meet.sockets import free_ports

        ports = free_ports(RING_PORTS)
    master, ring = ports
    found = {
        "MASTER_ADDR": environ.get("MASTER_ADDR", address),
        "MASTER_PORT": environ.get("MASTER_PORT", str(master)),
    }
    if launcher is None:
        return found
    if launcher.name == "torchrun":
        return found | {
            "RANK": str(place.rank),
            "WORLD_SIZE": str(place.size),
            "LOCAL_RANK": str(place.local_rank),
            "LOCAL_WORLD_SIZE": str(place.local_size),
            "GROUP_RANK": str(place.rank // place.local_size),
            "GROUP_WORLD_SIZE": str(place.size // place.local_size),
        }
    return found | {
        RING_PORT.name: str(ring),
        "OMPI_COMM_WORLD_RANK": str(place.rank),
        "OMPI_COMM_WORLD_SIZE": str(place.size),
        "OMPI_COMM_WORLD_LOCAL_RANK": str(place.local_rank),
        "OMPI_COMM_WORLD_LOCAL_SIZE": str(place.local_size),
    }


def under(launcher: Launcher | None, program: Program) -> Program:
    """Return a program of the user's as a launcher starts it.

    Raises:
        InputError: It is to be under mpirun and is no Python script.
    """
    if launcher is None or launcher.name != "mpirun" or not program.takes_arguments:
        return program
    if not program.name.endswith(".py"):
        raise InputError(
            f"The hyperparameter {MPI} is true and the program is {program.name!r}; expected a Python script,"
            " whose ranks Bandstand starts itself, without MPI. Name a *.py, or take the hyperparameter out."
        )
    python, *words = program.command
    return replace(program, command=(python, "-u", "-P", "-m", "bandstand.training.under_mpirun", words[-1]))


def _is_on(raw: Mapping[str, str], name: str) -> bool:
    return decode(raw.get(name, "false")) in (True, "true", "True", 1)


def _count(text: str) -> int:
    value = decode(text)
    if isinstance(value, str) and RANKS_PER_HOST.accepts(value):
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool) and RANKS_PER_HOST.accepts(str(value)):
        return value
    raise InputError(f"The hyperparameter {MPI_RANKS} is {text!r}; expected {RANKS_PER_HOST.expected}.")
