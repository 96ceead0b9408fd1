"""The record: one SQLite store that every verb reads and the live loop writes."""

from __future__ import annotations

import difflib
import errno
import hashlib
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from bandstand.errors import InputError, PlatformError
from bandstand.runs.schema import migrate

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
    """Another job has the name; whoever chose it for the user may choose another."""


class Record:
    """The store of one home: jobs, points, events and decisions.

    Use one per thread; any number of processes may have the same home open.

    Args:
        home: The folder that holds all state.
        connection: The open store, in autocommit mode.
    """

    def __init__(self, home: Path, connection: sqlite3.Connection) -> None:
        self.home = home
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
            (home / "jobs").mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise PlatformError(unusable(home, error)) from error
        with _explained(path):
            connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
        try:
            with _explained(path):
                connection.row_factory = sqlite3.Row
                _write_ahead(connection)
                connection.execute("PRAGMA synchronous = NORMAL")
                migrate(connection, path)
        except BaseException:
            connection.close()
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

    def folder(self, name: str) -> Path:
        """The folder of a training job."""
        return self.home / "jobs" / name

    def read(self, sql: str, parameters: Sequence[Any] = ()) -> list[sqlite3.Row]:
        """All rows of a query.

        Args:
            sql: The query, with a question mark for each parameter.
            parameters: The parameters' values.

        Raises:
            PlatformError: The store cannot be read.
        """
        with _explained(self.path):
            return self._connection.execute(sql, parameters).fetchall()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Write all of a block, or nothing of it; other writers wait meanwhile.

        Raises:
            PlatformError: The store cannot be written.
        """
        with _explained(self.path):
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

    def free_name(self, base: str, limit: int) -> str:
        """A name nobody has yet: the base itself, else base-2, base-3, ... within a limit.

        Args:
            base: The wished-for name.
            limit: The greatest length, in characters; a longer base is shortened with a hash of itself.
        """
        taken = {row["name"].casefold() for row in self.read("SELECT name FROM names")}
        name, count = _shortened(base, limit), 1
        while name.casefold() in taken:
            count += 1
            ending = f"-{count}"
            name = _shortened(base, limit - len(ending)) + ending
        return name

    def kind(self, name: str) -> str:
        """Whether a name is a `tuning` job's or a `training` job's.

        Raises:
            InputError: Nobody has this name; the message has the nearest one.
        """
        found = self.read("SELECT kind FROM names WHERE name = ?", (name,))
        if found:
            return str(found[0]["kind"])
        names = [row["name"] for row in self.read("SELECT name FROM names ORDER BY name")]
        near = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
        advice = f"Did you mean '{near[0]}'?" if near else "`bandstand list` shows the jobs there are."
        raise InputError(f"There is no job '{name}' in {self.home}. {advice}")


def take_name(connection: sqlite3.Connection, name: str, kind: str) -> None:
    """Give a name to a job, within a transaction.

    Raises:
        NameTakenError: The name is taken; letter case makes no difference.
    """
    try:
        connection.execute("INSERT INTO names (name, kind) VALUES (?, ?)", (name, kind))
    except sqlite3.IntegrityError as error:
        raise NameTakenError(
            f"The name '{name}' is taken by another job (upper and lower case count as equal)."
            " Choose another name, or remove the old job with `bandstand clean`."
        ) from error


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
    causes = {errno.EROFS: "the file system is read-only", errno.ENOSPC: "the disk is full"}
    cause = causes.get(error.errno or 0, error.strerror or str(error))
    return f"The home {home} cannot be written: {cause}. Name another folder with --home or BANDSTAND_HOME."


def _write_ahead(connection: sqlite3.Connection) -> None:
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
