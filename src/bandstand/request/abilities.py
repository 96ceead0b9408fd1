"""Where jobs can run, and what each place is able to do: known before anything is asked of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True)
class Abilities:
    """What a place can do with a job.

    Args:
        name: The place, as `--on` has it.
        summary: What hosts are there; continues "Where hosts run:".
        opens_images: Whether the image of the request is what runs; else it is a name, and the program is
            found without it.
        lifted: Rules of the chapter of refusals that do not hold there.
        limits_hosts: Whether hosts have limits of their own, by `BANDSTAND_HOST_*` of the environment.
        is_service: Whether SageMaker itself runs them: it takes every request of its API, and an address of
            this machine means nothing to it.
        serves_clients: Whether requests come by this machine's service, from code that is to run unchanged:
            what is doubtful and SageMaker takes is noted there, and not refused.
        buckets: The folder with the buckets of this machine's S3, for channels; None without it.
        roots: The folders that a manifest's `file://` may reach; any, if there are none.
    """

    name: str
    summary: str
    opens_images: bool
    lifted: frozenset[int] = frozenset()
    limits_hosts: bool = False
    is_service: bool = False
    serves_clients: bool = False
    buckets: str | None = None
    roots: tuple[str, ...] = ()


PROCESSES = Abilities("processes", "processes of this machine", opens_images=False)
CONTAINERS = Abilities(
    "containers",
    "containers of this machine's engine",
    opens_images=True,
    lifted=frozenset({617, 618}),
    limits_hosts=True,
)

SAGEMAKER = Abilities(
    "sagemaker",
    "instances of SageMaker, which cost money",
    opens_images=True,
    lifted=frozenset(range(601, 624)),
    is_service=True,
)

LOCAL_PLACES: Mapping[str, Abilities] = MappingProxyType(
    {each.name: each for each in (PROCESSES, CONTAINERS)}
)
"""The places on this machine, by name."""

PLACES: Mapping[str, Abilities] = MappingProxyType({**LOCAL_PLACES, SAGEMAKER.name: SAGEMAKER})
"""Every place where this release runs jobs, by name."""
