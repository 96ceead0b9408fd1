"""The `BANDSTAND_*` variables of hosts and ranks: what each may hold, told once for all who use them."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

_SECONDS = re.compile(r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?", re.ASCII)

_Value = TypeVar("_Value")


@dataclass(frozen=True)
class HostVariable(Generic[_Value]):
    """One variable.

    Args:
        name: Of the environment.
        expected: What it may hold, for people.
        read: Makes a value of its text; raises ValueError for any other text.
        is_secret: Whether its text is not to be shown.
    """

    name: str
    expected: str
    read: Callable[[str], _Value]
    is_secret: bool = False

    def accepts(self, text: str) -> bool:
        """Whether a text is one that it may hold."""
        try:
            self.read(text)
        except ValueError:
            return False
        return True


def _between(least: int, most: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not (text.isascii() and text.isdigit() and len(text) < 10 and least <= int(text) <= most):
            raise ValueError(text)
        return int(text)

    return read


def _seconds(text: str) -> float:
    seconds = float(text) if _SECONDS.fullmatch(text) else 0.0
    if not 0 < seconds < math.inf:
        raise ValueError(text)
    return seconds


def _addresses(text: str) -> Mapping[str, str]:
    try:
        found = json.loads(text)
    except RecursionError:
        raise ValueError(text) from None
    if not isinstance(found, dict):
        raise ValueError(text)
    import ipaddress  # costs 4 ms, which every start of a host would pay

    return {str(host): str(ipaddress.ip_address(address)) for host, address in found.items()}


def _install(text: str) -> bool:
    if text != "install":
        raise ValueError(text)
    return True


def _goal(text: str) -> str:
    if text not in ("maximize", "minimize"):
        raise ValueError(text)
    return text


RANKS_PER_HOST = HostVariable("BANDSTAND_RANKS_PER_HOST", "a whole number, 1 to 1024", _between(1, 1024))
THREADS = HostVariable("BANDSTAND_THREADS", "a whole number, 1 to 4096", _between(1, 4096))
START_TIMEOUT = HostVariable("BANDSTAND_START_TIMEOUT", "seconds, more than 0", _seconds)
PORT = HostVariable("BANDSTAND_PORT", "a port, 0 to 65535", _between(0, 65_535))
GOAL = HostVariable("BANDSTAND_GOAL", "maximize or minimize", _goal)
REQUIREMENTS = HostVariable("BANDSTAND_REQUIREMENTS", "install, or nothing", _install)
LISTEN_FD = HostVariable("BANDSTAND_LISTEN_FD", "the number of a descriptor", _between(0, 1 << 20))
KEY = HostVariable("BANDSTAND_KEY", "hexadecimal digits, two for each byte", bytes.fromhex, is_secret=True)
HOST_MAP = HostVariable("BANDSTAND_HOST_MAP", 'JSON such as {"algo-1": "127.0.0.2"}', _addresses)
REPORTED = HostVariable(
    "BANDSTAND_REPORTED", "the last iteration whose report has arrived, from 0", _between(0, 999_999_999)
)

LIFE_FD = HostVariable(
    "BANDSTAND_LIFE_FD", "the number of a descriptor that ends with the supervisor", _between(0, 1 << 20)
)
PEAK_FILE = HostVariable("BANDSTAND_PEAK_FILE", "the file for the greatest memory of any process", str)
"""In bytes; the supervisor cannot see it from outside."""

OF_PROCESS_1 = (LISTEN_FD, LIFE_FD, PEAK_FILE)
"""Those that its ranks do not get."""

RANK = HostVariable("BANDSTAND_RANK", "the number of a rank, from 0", _between(0, 999_999_999))
WORLD_SIZE = HostVariable("BANDSTAND_WORLD_SIZE", "the number of all ranks", _between(1, 999_999_999))
LOCAL_RANK = HostVariable("BANDSTAND_LOCAL_RANK", "the number of a rank of a host, from 0", _between(0, 1023))
LOCAL_SIZE = HostVariable("BANDSTAND_LOCAL_SIZE", "the number of ranks of a host", _between(1, 1024))
MEET = HostVariable("BANDSTAND_MEET", "address:port of the leader's hub", str)

RING_PORT = HostVariable("BANDSTAND_RING_PORT", "a port that is free at the leader", _between(1, 65_535))

SET_BY_USERS = (RANKS_PER_HOST, THREADS, START_TIMEOUT, PORT, GOAL)
"""Those that a request may set; the others are for images and for programs that start hosts."""
