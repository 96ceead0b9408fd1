"""Hosts that outlive a killed supervisor for a moment: written down, and waited for before a restart."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path

GONE_SECONDS = 30.0
"""How long the hosts of an attempt whose supervisor is gone may take to be gone as well."""

_PAUSE_SECONDS = 0.01
_PROC = Path("/proc")
_STATE, _BEGIN = 2, 21
"""Places of the state and the time of begin among the words of /proc/N/stat, see proc(5)."""


def write_down(path: Path, process: int) -> None:
    """Write down the process whose end is a host's end.

    Args:
        path: The file; removed with the host's folder.
        process: Its number; that of a process 1 is gone once all of its name space is.
    """
    path.write_text(f"{process} {_begin(process)}", encoding="ascii")


def wait_until_gone(paths: Iterable[Path], seconds: float = GONE_SECONDS) -> list[int]:
    """Wait until the processes that were written down are gone.

    Args:
        paths: The files; one that is not there stands for no process.
        seconds: How long to wait at most.

    Returns:
        The numbers of those that live on.
    """
    left = [words for path in paths if (words := _words(path))]
    deadline = time.monotonic() + seconds
    while True:
        left = [words for words in left if _begin(int(words[0])) == words[1]]
        if not left or time.monotonic() > deadline:
            return [int(words[0]) for words in left]
        time.sleep(_PAUSE_SECONDS)


def _words(path: Path) -> list[str]:
    try:
        words = path.read_text(encoding="ascii").split()
    except (FileNotFoundError, NotADirectoryError, UnicodeDecodeError):
        return []
    return words if len(words) == 2 and all(word.isdecimal() for word in words) else []


def _begin(process: int) -> str:
    """When a process began, in ticks since the machine did; empty for one that has ended."""
    try:
        text = (_PROC / str(process) / "stat").read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return ""
    before, _, rest = text.rpartition(")")
    words = [before, "", *rest.split()]
    return "" if words[_STATE] in "ZX" else words[_BEGIN]
