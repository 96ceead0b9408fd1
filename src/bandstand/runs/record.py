"""The record: one SQLite store that every verb reads and the live loop writes."""

from __future__ import annotations

import errno
import hashlib
import sqlite3
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from bandstand.errors import InputError, PlatformError
from bandstand.runs.jobs import KINDS, Kind
from bandstand.runs.schema import is_current, migrate

FILE = "bandstand.db"
BUSY_SECONDS = 30.0

_WORDS = {
    "SQLITE_READONLY": "it is on a read-only file system, or this user may not write it. {other}",
    "SQLITE_FULL": "the disk is full. Free some space (`bandstand clean` helps), or {other_small}",
    "SQLITE_CANTOPEN": "the file cannot be opened or made. {other}",
    "SQLITE_BUSY": f"another process has kept it locked for {BUSY_SECONDS:.0f} s. Try again later",
    "SQLITE_IOERR": "the disk reports an error, or is full. Check the disk, or {other_small}",
    "SQLITE_NOTADB": "it is no record of Bandstand's. Move the file away, or {other_small}",
    "SQLITE_CORRUPT": "it is damaged. Move the file away, or {other_small}",
}


class NameTakenError(InputError):
    """Another job of the same kind has the name; whoever chose it for the user may choose another."""


class Record:
    """The store of one home: jobs, points, events and decisions.

    Use one per thread; any number of processes may have the same home open.

    Args:
        home: The folder that holds all state.
        connection: The open store, in autocommit mode.

    Attributes:
        is_stale: Whether it was found that it cannot be brought up to date, which a person is told once.
    """

    def __init__(self, home: Path, connection: sqlite3.Connection) -> None:
        self.home = home
        self.is_stale = False
        self._connection = connection

    @classmethod
    def open(cls, home: Path) -> Record:
        """Open the record of a home, making folders and bringing the schema up to date.

        Args:
            home: The folder that holds all state; made where it is missing.

        Raises:
            PlatformError: The home cannot be made, read or written, or a newer Bandstand wrote the record.
        """
        home = home.expanduser().absolute()
        path = home / FILE
        try:
            home.mkdir(mode=0o700, parents=True, exist_ok=True)  # requests are kept there, and secrets
            (home / "jobs").mkdir(exist_ok=True)
        except OSError as error:
            raise PlatformError(unusable(home, error)) from error
        with _explained(path):
            connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
        try:
            with _explained(path):
                connection.row_factory = sqlite3.Row
                write_ahead(connection)
                migrate(connection, path)
        except BaseException:
            connection.close()
            raise
        return cls(home, connection)

    @classmethod
    def open_to_read(cls, home: Path) -> Record:
        """Open the record of a home to read it; as it stands on the disk, where nothing can be written there.

        Args:
            home: The folder that holds all state.

        Raises:
            PlatformError: It cannot be read either, or what was written last is not in its file yet.
        """
        try:
            return cls.open(home)
        except PlatformError:
            home = home.expanduser().absolute()
            connection = _as_it_stands(home / FILE)
            if connection is None:
                raise
            return cls(home, connection)

    def close(self) -> None:
        """Close the store."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def path(self) -> Path:
        """The file of the store."""
        return self.home / FILE

    def folder(self, name: str, kind: Kind = "training") -> Path:
        """The folder of a training job, or of a tuning job that runs on SageMaker; no name has a dot."""
        return self.home / "jobs" / (name if kind == "training" else f"{name}.{kind}")

    def read(self, sql: str, parameters: Sequence[Any] | Mapping[str, Any] = ()) -> list[sqlite3.Row]:
        """All rows of a query.

        Args:
            sql: The query, with a question mark or a name for each parameter.
            parameters: The parameters' values.

        Raises:
            PlatformError: The store cannot be read.
        """
        with _explained(self.path):
            return self._connection.execute(sql, parameters).fetchall()

    @contextmanager
    def transaction(self, *, durable: bool = False) -> Iterator[sqlite3.Connection]:
        """Write all of a block, or nothing of it; other writers wait meanwhile.

        Args:
            durable: Whether it has to outlast a loss of power, for which the disk is waited for; that of a
                process it outlasts in any case.

        Raises:
            PlatformError: The store cannot be written.
        """
        with _explained(self.path):
            self._connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def changes(self) -> int:
        """A number that changes when another connection has written to the store."""
        return int(self.read("PRAGMA data_version")[0][0])

    def free_name(self, base: str, limit: int, taken_elsewhere: Collection[str] = ()) -> str:
        """A name that no job of any kind has yet: the base itself, else base-2, base-3, ... within a limit.

        A name that is chosen for a person stands for one job, so that no verb has to ask for the kind.

        Args:
            base: The wished-for name.
            limit: The greatest length, in characters; a longer base is shortened with a hash of itself.
            taken_elsewhere: Names that somebody else has.
        """
        elsewhere = {name.casefold() for name in taken_elsewhere}
        taken = " UNION ALL ".join(f"SELECT 1 FROM {kind}_jobs WHERE name = :name" for kind in KINDS)  # noqa: S608
        name, count = _shortened(base, limit), 1
        while name.casefold() in elsewhere or self.read(taken, {"name": name}):
            count += 1
            ending = f"-{count}"
            name = _shortened(base, limit - len(ending)) + ending
        return name


def _as_it_stands(path: Path) -> sqlite3.Connection | None:
    """Open a store without its log and locks, for which files are made; None where that would tell less."""
    log = path.with_name(f"{path.name}-wal")
    if not path.is_file() or (log.exists() and log.stat().st_size):
        return None
    connection = sqlite3.connect(f"{path.as_uri()}?immutable=1", uri=True, isolation_level=None)
    try:
        if is_current(connection):
            connection.row_factory = sqlite3.Row
            return connection
    except sqlite3.DatabaseError:
        pass  # it is no store; why it could not be opened is told
    connection.close()
    return None


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Turn what SQLite says into words for a person."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        code = getattr(error, "sqlite_errorname", "")
        words = next((text for key, text in _WORDS.items() if code.startswith(key)), None)
        if words is None:
            raise
        other = "name another folder with --home or BANDSTAND_HOME"
        advice = words.format(other=other[0].upper() + other[1:], other_small=other)
        raise PlatformError(f"The record {path} cannot be used: {advice} ({error}).") from error


def unusable(home: Path, error: OSError) -> str:
    """Say why nothing can be written below a home, and what to do."""
    causes = {
        errno.EROFS: "the file system is read-only",
        errno.ENOSPC: "the disk is full",
        errno.EEXIST: "it, or its folder jobs, is no folder",
        errno.ENOTDIR: "a part of its path is no folder",
    }
    cause = causes.get(error.errno or 0, error.strerror or str(error))
    return f"The home {home} cannot be written: {cause}. Name another folder with --home or BANDSTAND_HOME."


def write_ahead(connection: sqlite3.Connection) -> None:
    """Switch to write-ahead logging, so that readers and the writer do not wait for each other.

    The switch itself needs the store alone and does not honour the busy time-out, so that two processes that
    open a new home in the same moment may have to try more than once.
    """
    deadline = time.monotonic() + BUSY_SECONDS
    while connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
        try:
            if connection.execute("PRAGMA journal_mode = WAL").fetchone()[0] != "wal":
                return
        except sqlite3.OperationalError as error:
            if not error.sqlite_errorname.startswith("SQLITE_BUSY") or time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def _shortened(base: str, limit: int) -> str:
    if len(base) <= limit:
        return base
    mark = hashlib.sha256(base.encode()).hexdigest()[:8]
    return f"{base[: limit - 9].rstrip('-')}-{mark}"
