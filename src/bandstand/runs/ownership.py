"""Who owns a job: a claim that ends with the process that made it, however that process ends."""

from __future__ import annotations

import fcntl
import logging
import os
import socket
import threading
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from bandstand.backends.locks import is_locked
from bandstand.errors import BandstandError, PlatformError
from bandstand.runs.record import Record, unusable
from bandstand.runs.stored import OPEN

RENEW_SECONDS = 1.0

logger = logging.getLogger(__name__)


class Claim:
    """This process's claim on the jobs it starts: a locked file below the home.

    The kernel drops the lock when the process is gone, so that a claim can neither outlive its process nor be
    mistaken for another one's that got the same process number.

    Args:
        owner: The claim's identifier, which jobs are recorded with.
        path: The locked file.
        descriptor: The open file that holds the lock.
    """

    def __init__(self, owner: str, path: Path, descriptor: int) -> None:
        self.owner = owner
        self._path = path
        self._descriptor: int | None = descriptor

    @classmethod
    def make(cls, record: Record) -> Claim:
        """Make a claim and write it into the record.

        Raises:
            PlatformError: The home cannot be written.
        """
        owner = uuid.uuid4().hex
        path = _path(record, owner)
        try:
            path.parent.mkdir(exist_ok=True)
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise PlatformError(unusable(record.home, error)) from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with record.transaction() as connection:
                connection.execute(
                    "INSERT INTO owners (id, pid, machine, began) VALUES (?, ?, ?, ?)",
                    (owner, os.getpid(), socket.gethostname(), time.time()),
                )
        except BaseException:
            os.close(descriptor)
            raise
        return cls(owner, path, descriptor)

    def drop(self) -> None:
        """Give the claim up; jobs that are not over have no owner from now on. May be called again."""
        if self._descriptor is None:
            return
        self._path.unlink(missing_ok=True)
        os.close(self._descriptor)
        self._descriptor = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.drop()


def alive(record: Record, owner: str) -> bool:
    """Whether the process that made a claim still runs."""
    return is_locked(_path(record, owner))


def owner_words(record: Record, owner: str) -> str:
    """The process that made a claim, in words."""
    rows = record.read("SELECT pid, machine FROM owners WHERE id = ?", (owner,))
    return f"process {rows[0]['pid']} on {rows[0]['machine']}" if rows else "its process"


def owners(record: Record) -> set[str]:
    """The claims that jobs which are not over were started under."""
    tuning = f"SELECT owner FROM tuning_jobs WHERE {OPEN}"  # noqa: S608 - the condition is a constant
    training = f"SELECT owner FROM training_jobs WHERE {OPEN}"  # noqa: S608 - the condition is a constant
    return {row["owner"] for row in record.read(f"{tuning} UNION {training}")}


def forget(record: Record) -> None:
    """Remove the claims of dead processes that own nothing any more."""
    busy = owners(record)
    known = [row["id"] for row in record.read("SELECT id FROM owners")]
    gone = [owner for owner in known if owner not in busy and not alive(record, owner)]
    if not gone:
        return
    with record.transaction() as connection:
        connection.executemany("DELETE FROM owners WHERE id = ?", [(owner,) for owner in gone])
    for owner in gone:
        _path(record, owner).unlink(missing_ok=True)


class Renewal:
    """Renews the leases of running jobs once a second, in a thread of its own.

    A launcher whose terminal is paused still owns its jobs; only one that is gone or frozen does not.

    Args:
        renew: Renews the lease of the job with this folder.
        seconds: Time between two renewals.
    """

    def __init__(self, renew: Callable[[Path], None], seconds: float = RENEW_SECONDS) -> None:
        self._renew = renew
        self._seconds = seconds
        self._folders: set[Path] = set()
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="bandstand-leases", daemon=True)

    def add(self, folder: Path) -> None:
        """Renew this job's lease from now on."""
        with self._lock:
            self._folders.add(folder)

    def remove(self, folder: Path) -> None:
        """Leave this job's lease alone from now on."""
        with self._lock:
            self._folders.discard(folder)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._over.wait(self._seconds):
            with self._lock:
                folders = tuple(self._folders)
            for folder in folders:
                try:
                    self._renew(folder)
                except (BandstandError, OSError) as error:
                    logger.warning("the lease of %s was not renewed: %s", folder.name, error)


def _path(record: Record, owner: str) -> Path:
    return record.home / "owners" / owner
