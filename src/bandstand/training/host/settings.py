"""The `BANDSTAND_*` variables that a backend or a user sets for a host."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from bandstand.errors import InputError
from bandstand.host_variables import (
    GOAL,
    HOST_MAP,
    KEY,
    LISTEN_FD,
    PORT,
    RANKS_PER_HOST,
    REQUIREMENTS,
    START_TIMEOUT,
    THREADS,
    HostVariable,
)

DEFAULT_PORT = 7777
DEFAULT_START_TIMEOUT = 600.0

_Value = TypeVar("_Value")
_Default = TypeVar("_Default")


@dataclass(frozen=True)
class HostSettings:
    """How this host takes part in its job.

    Args:
        port: Where the leader listens.
        listen_fd: On the leader: a listening socket that was inherited, None to open one.
        key: The job's key, None to derive it from the job's documents.
        host_map: Host name to IP address, for names that do not resolve.
        start_timeout: Seconds in which all hosts must have joined.
        ranks_per_host: Ranks that every host starts.
        threads: Threads per rank, None to share this host's cores.
        requirements: Whether a program's requirements.txt is installed before it starts.
        goal: `maximize` or `minimize` of the tuning objective, None if not told.
    """

    port: int = DEFAULT_PORT
    listen_fd: int | None = None
    key: bytes | None = None
    host_map: Mapping[str, str] | None = None
    start_timeout: float = DEFAULT_START_TIMEOUT
    ranks_per_host: int = 1
    threads: int | None = None
    requirements: bool = False
    goal: str | None = None


def read_settings(environ: Mapping[str, str]) -> HostSettings:
    """Read the variables; an empty one counts as not set.

    Raises:
        InputError: With every variable that does not hold what it should.
    """
    problems: list[str] = []

    def read(variable: HostVariable[_Value], default: _Default) -> _Value | _Default:
        text = environ.get(variable.name, "")
        if not text:
            return default
        try:
            return variable.read(text)
        except ValueError:
            shown = "something else" if variable.is_secret else repr(text[:100])
            problems.append(f"{variable.name} is {shown}; expected {variable.expected}.")
            return default

    settings = HostSettings(
        port=read(PORT, DEFAULT_PORT),
        listen_fd=read(LISTEN_FD, None),
        key=read(KEY, None),
        host_map=read(HOST_MAP, None),
        start_timeout=read(START_TIMEOUT, DEFAULT_START_TIMEOUT),
        ranks_per_host=read(RANKS_PER_HOST, 1),
        threads=read(THREADS, None),
        requirements=read(REQUIREMENTS, False),
        goal=read(GOAL, None),
    )
    if problems:
        raise InputError("\n".join(problems))
    return settings
