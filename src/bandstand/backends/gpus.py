"""GPUs for the hosts of jobs, each to one host at a time, whichever home or user the jobs are of."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bandstand.errors import PlatformError

_LIST = ("nvidia-smi", "--query-gpu=uuid", "--format=csv,noheader")
_SECONDS = 30.0


def list_gpus() -> tuple[str, ...]:
    """Return the identifiers of this machine's GPUs; none where there is no driver."""
    if shutil.which(_LIST[0]) is None:
        return ()
    try:
        done = subprocess.run(_LIST, capture_output=True, text=True, check=True, timeout=_SECONDS)
    except (OSError, subprocess.SubprocessError):
        return ()
    return tuple(line.strip() for line in done.stdout.splitlines() if line.strip())


def lock_folder() -> Path:
    """The folder in which each GPU in use has a locked file."""
    return Path(tempfile.gettempdir(), "bandstand-gpus")


class Gpus:
    """The GPUs of one job, held for it as long as this process lives, or until they are let go.

    Args:
        hosts: How many hosts.
        each: How many GPUs each of them gets.
        there: This machine's GPUs.
        folder: Where GPUs in use are marked.

    Raises:
        PlatformError: There are not so many, or not so many free.
    """

    def __init__(self, hosts: int, each: int, there: Sequence[str], folder: Path) -> None:
        self._locks: list[int] = []
        wanted = hosts * each
        asked = f"{each} GPUs for each of {hosts} hosts" if hosts > 1 else f"{each} GPUs"
        if wanted > len(there):
            raise PlatformError(
                f"BANDSTAND_HOST_GPUS asks for {asked}; this machine has {len(there)}. Ask for fewer, or "
                "leave it out to train on the processor."
            )
        free = self._take(there, wanted, folder)
        if len(free) < wanted:
            self.close()
            raise PlatformError(
                f"BANDSTAND_HOST_GPUS asks for {asked}; {len(free)} of {len(there)} are free, other jobs "
                "have the rest. Run fewer jobs at a time."
            )
        self.of_hosts = tuple(tuple(free[start : start + each]) for start in range(0, wanted, each))

    def close(self) -> None:
        """Let them go."""
        while self._locks:
            os.close(self._locks.pop())

    def _take(self, there: Sequence[str], wanted: int, folder: Path) -> list[str]:
        folder.mkdir(exist_ok=True)
        if folder.stat().st_uid == os.geteuid():
            folder.chmod(0o1777)  # other users' jobs share the GPUs, too
        taken: list[str] = []
        for gpu in there:
            if len(taken) == wanted:
                break
            lock = os.open(folder / gpu, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(lock)
                continue
            self._locks.append(lock)
            taken.append(gpu)
        return taken
