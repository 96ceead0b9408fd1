"""How the hosts of a job are made containers, as plain text and numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class ContainerTask:
    """How the hosts of a job are made containers.

    Args:
        image: The image.
        entrypoint: What runs in place of the image's own entry point; None for that.
        arguments: What it is given.
        archive: Absolute path of the code's tar.gz, or None.
        isolated: Whether hosts reach nothing but each other.
        is_ours: Whether process 1 is Bandstand's, which ends when its standard input does.
        has_root: Whether the image's own user is root.
        memory: Bytes for each host, or None.
        shared_memory: Bytes of `/dev/shm`.
        cores: Cores for each host, or None.
        gpus: GPUs for each host.
        user: Whom process 1 runs as, or empty for the image's own user.
    """

    image: str
    entrypoint: tuple[str, ...] | None = None
    arguments: tuple[str, ...] = ("train",)
    archive: str | None = None
    isolated: bool = False
    is_ours: bool = False
    has_root: bool = True
    memory: int | None = None
    shared_memory: int = 64 << 20
    cores: float | None = None
    gpus: int = 0
    user: str = ""

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> ContainerTask:
        """Return the task that was written down as JSON."""
        entrypoint = values["entrypoint"]
        return cls(
            **{
                **values,
                "entrypoint": None if entrypoint is None else tuple(entrypoint),
                "arguments": tuple(values["arguments"]),
            }
        )
