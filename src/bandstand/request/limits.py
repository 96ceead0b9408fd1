"""What each host may use where hosts are containers: `BANDSTAND_HOST_*` of the job's environment."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

MEMORY = "BANDSTAND_HOST_MEMORY"
SHARED_MEMORY = "BANDSTAND_HOST_SHM"
CORES = "BANDSTAND_HOST_CPUS"
GPUS = "BANDSTAND_HOST_GPUS"
USER = "BANDSTAND_HOST_USER"
LIMITS = (MEMORY, SHARED_MEMORY, CORES, GPUS, USER)

LEAST_MEMORY = 6 << 20
"""The least that a container engine takes as a limit, in bytes."""

_UNITS = {"": 1, "b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([bkmgt]?)(?:i?b)?", re.IGNORECASE)
_CORES = re.compile(r"[0-9]*\.?[0-9]+")
_COUNT = re.compile(r"[0-9]{1,3}")
_USERS = re.compile(r"[0-9]+(?::[0-9]+)?")

Value = TypeVar("Value")


@dataclass(frozen=True)
class HostLimits:
    """What one host may use.

    Args:
        memory: Bytes, or None for no limit.
        shared_memory: Bytes of `/dev/shm`, or None for half of the machine's memory.
        cores: Processor cores, or None for all.
        gpus: How many GPUs of its own.
        user: Whom process 1 runs as: `caller`, `UID` or `UID:GID`; empty for the image's own user.
    """

    memory: int | None = None
    shared_memory: int | None = None
    cores: float | None = None
    gpus: int = 0
    user: str = ""


@dataclass(frozen=True)
class LimitFault:
    """A variable that does not hold what it should.

    Args:
        name: The variable.
        found: Its text.
        allowed: What it may be.
        fix: What to do.
    """

    name: str
    found: str
    allowed: str
    fix: str


def read_limits(environment: Mapping[str, str]) -> tuple[HostLimits, tuple[LimitFault, ...]]:
    """Return the limits that an environment asks for, and all that is wrong with them.

    Args:
        environment: The job's variables; an empty one counts as not set.
    """
    faults: list[LimitFault] = []

    def read(name: str, default: Value, convert: Callable[[str], Value], allowed: str, fix: str) -> Value:
        text = environment.get(name, "").strip()
        if not text:
            return default
        try:
            return convert(text)
        except ValueError:
            faults.append(LimitFault(name, text, allowed, fix))
            return default

    size = "a size of 6m or more, such as 512m or 4g"
    limits = HostLimits(
        memory=read(MEMORY, None, _size, size, "Give bytes, or a number with k, m, g or t."),
        shared_memory=read(SHARED_MEMORY, None, _size, size, "Give bytes, or a number with k, m, g or t."),
        cores=read(CORES, None, _cores, "a number of cores, 0.01 or more", "Give a number such as 1.5."),
        gpus=read(GPUS, 0, _count, "a whole number, 0 to 64", "Give the number of GPUs for each host."),
        user=read(USER, "", _user, "caller, UID or UID:GID", "Leave it out to run as the image's own user."),
    )
    return limits, tuple(faults)


def _size(text: str) -> int:
    found = _SIZE.fullmatch(text)
    size = int(float(found[1]) * _UNITS[found[2].lower()]) if found else 0
    if not LEAST_MEMORY <= size < 1 << 60:
        raise ValueError(text)
    return size


def _cores(text: str) -> float:
    cores = float(text) if _CORES.fullmatch(text) else 0.0
    if not 0.01 <= cores <= 4096:
        raise ValueError(text)
    return cores


def _count(text: str) -> int:
    count = int(text) if _COUNT.fullmatch(text) else -1
    if not 0 <= count <= 64:
        raise ValueError(text)
    return count


def _user(text: str) -> str:
    if text != "caller" and not _USERS.fullmatch(text):
        raise ValueError(text)
    return text
