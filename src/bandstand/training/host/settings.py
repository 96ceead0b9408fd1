"""The `BANDSTAND_*` variables that a backend or a user sets for a host."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from bandstand.errors import InputError

PORT = 7777
START_TIMEOUT = 600.0

_Value = TypeVar("_Value")


@dataclass(frozen=True)
class Settings:
    """How this host takes part in its job.

    Args:
        port: Where the leader listens.
        listen_fd: On the leader: a listening socket that was inherited, None to open one.
        key: The job's key, None to derive it from the job's documents.
        host_map: Host name to IP address, for names that do not resolve.
        start_timeout: Seconds in which all hosts must have joined.
        ranks_per_host: Ranks that every host starts.
        threads: Threads per rank, None to share this host's cores.
        goal: `maximize` or `minimize` of the tuning objective, None if not told.
    """

    port: int = PORT
    listen_fd: int | None = None
    key: bytes | None = None
    host_map: Mapping[str, str] | None = None
    start_timeout: float = START_TIMEOUT
    ranks_per_host: int = 1
    threads: int | None = None
    goal: str | None = None


def read_settings(environ: Mapping[str, str]) -> Settings:
    """Read the variables; an empty one counts as not set.

    Raises:
        InputError: With every variable that does not hold what it should.
    """
    problems: list[str] = []

    def read(name: str, default: _Value, convert: Callable[[str], _Value], expected: str) -> _Value:
        text = environ.get(name, "")
        if not text:
            return default
        try:
            return convert(text)
        except ValueError:
            shown = "something else" if name == "BANDSTAND_KEY" else repr(text[:100])
            problems.append(f"{name} is {shown}; expected {expected}.")
            return default

    settings = Settings(
        port=read("BANDSTAND_PORT", PORT, _between(0, 65535), "a port, 0 to 65535"),
        listen_fd=read("BANDSTAND_LISTEN_FD", None, _between(0, 1 << 20), "the number of a descriptor"),
        key=read("BANDSTAND_KEY", None, bytes.fromhex, "hexadecimal digits, two for each byte"),
        host_map=read("BANDSTAND_HOST_MAP", None, _addresses, 'JSON such as {"algo-1": "127.0.0.2"}'),
        start_timeout=read("BANDSTAND_START_TIMEOUT", START_TIMEOUT, _seconds, "seconds, more than 0"),
        ranks_per_host=read("BANDSTAND_RANKS_PER_HOST", 1, _between(1, 1024), "a whole number, 1 to 1024"),
        threads=read("BANDSTAND_THREADS", None, _between(1, 4096), "a whole number, 1 to 4096"),
        goal=read("BANDSTAND_GOAL", None, _goal, "maximize or minimize"),
    )
    if problems:
        raise InputError("\n".join(problems))
    return settings


def _between(least: int, most: int) -> Callable[[str], int]:
    def convert(text: str) -> int:
        number = int(text)
        if not least <= number <= most:
            raise ValueError(text)
        return number

    return convert


def _seconds(text: str) -> float:
    seconds = float(text)
    if not (math.isfinite(seconds) and seconds > 0):
        raise ValueError(text)
    return seconds


def _addresses(text: str) -> Mapping[str, str]:
    found = json.loads(text)
    if not isinstance(found, dict):
        raise ValueError(text)
    import ipaddress

    return {str(host): str(ipaddress.ip_address(address)) for host, address in found.items()}


def _goal(text: str) -> str:
    goal = text.lower()
    if goal not in ("maximize", "minimize"):
        raise ValueError(text)
    return goal
