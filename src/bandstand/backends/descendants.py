"""Ends whole families of processes where the kernel does not do it: without a PID name space."""

from __future__ import annotations

import os
import signal
from collections.abc import Collection, Iterable
from pathlib import Path

_PROC = Path("/proc")


def kill_descendants(ancestor: int, spared: Collection[int] = ()) -> bool:
    """Send SIGKILL to everything below a process, all at the same moment.

    The family is halted first, so that no member can start another one unseen. Members whose parent died
    belong to the family if the ancestor adopts orphans.

    Args:
        ancestor: Its own number is not among those killed.
        spared: Children that are left alone, with all that is below them.

    Returns:
        Whether there was anything to kill that could be killed; another user's processes (of a setuid
        program) cannot.
    """
    halted: set[int] = set()
    seen: set[int] = set()
    while fresh := _below(ancestor, spared) - seen:
        seen |= fresh
        halted |= _send(fresh, signal.SIGSTOP)
    _send(halted, signal.SIGKILL)
    return bool(halted)


def _send(processes: Iterable[int], number: signal.Signals) -> set[int]:
    reached = set()
    for process in processes:
        try:
            os.kill(process, number)
        except (ProcessLookupError, PermissionError):
            continue
        reached.add(process)
    return reached


def _below(ancestor: int, spared: Collection[int]) -> set[int]:
    children: dict[int, list[int]] = {}
    for entry in _PROC.iterdir() if _PROC.is_dir() else ():
        if entry.name.isdecimal():
            parent = _parent_of_living(entry)
            if parent is not None:
                children.setdefault(parent, []).append(int(entry.name))
    family: set[int] = set()
    waiting = [ancestor]
    while waiting:
        members = [child for child in children.get(waiting.pop(), ()) if child not in spared]
        family.update(members)
        waiting += members
    return family


def _parent_of_living(process: Path) -> int | None:
    try:
        text = (process / "stat").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return None
    state, parent = text[text.rindex(b")") + 2 :].split(b" ", 2)[:2]
    return None if state in (b"Z", b"X") else int(parent)
