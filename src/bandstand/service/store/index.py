"""The store's index: what is kept beside the files, in SQLite."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bandstand.errors import PlatformError
from bandstand.runs.record import write_ahead

VERSION = 1
_BUSY_SECONDS = 30.0

_TABLES = (
    """CREATE TABLE buckets (
        name TEXT PRIMARY KEY,
        region TEXT NOT NULL,
        created INTEGER NOT NULL
    ) WITHOUT ROWID""",
    # A row tells of the file that has just this time and size. While an object is replaced there are rows of
    # the old file and of the new one, so that a crash leaves each file with its own.
    """CREATE TABLE objects (
        bucket TEXT NOT NULL,
        key BLOB NOT NULL,
        changed INTEGER NOT NULL,
        size INTEGER NOT NULL,
        etag TEXT NOT NULL,
        about TEXT NOT NULL,
        PRIMARY KEY (bucket, key, changed, size)
    ) WITHOUT ROWID""",
    # Objects whose key no file can have at its place in the bucket's folder.
    """CREATE TABLE apart (
        bucket TEXT NOT NULL,
        key BLOB NOT NULL,
        file TEXT NOT NULL,
        PRIMARY KEY (bucket, key)
    ) WITHOUT ROWID""",
    """CREATE TABLE uploads (
        id TEXT PRIMARY KEY,
        bucket TEXT NOT NULL,
        key BLOB NOT NULL,
        begun INTEGER NOT NULL,
        about TEXT NOT NULL,
        algorithm TEXT,
        kind TEXT,
        result TEXT
    ) WITHOUT ROWID""",
    "CREATE INDEX uploads_of ON uploads (bucket, key, id)",
    """CREATE TABLE parts (
        upload TEXT NOT NULL,
        number INTEGER NOT NULL,
        file TEXT NOT NULL,
        size INTEGER NOT NULL,
        etag TEXT NOT NULL,
        checksum TEXT,
        changed INTEGER NOT NULL,
        PRIMARY KEY (upload, number)
    ) WITHOUT ROWID""",
)


class Index:
    """The index of one store; any number of threads and processes may use it at once.

    Args:
        path: Its file, which is made where it is missing.

    Raises:
        PlatformError: It was written by a newer Bandstand.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._mine = threading.local()
        self._all: list[sqlite3.Connection] = []
        with self.transaction() as connection:
            _prepare(connection, path)

    def read(self, sql: str, parameters: Sequence[Any] = ()) -> list[sqlite3.Row]:
        """All rows of a query."""
        return self._connection().execute(sql, parameters).fetchall()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Write all of a block, for good, or nothing of it; other writers wait meanwhile."""
        connection = self._connection()
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield connection
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise

    def close(self) -> None:
        """Close the connections of all threads, none of which may use it any more."""
        while self._all:
            self._all.pop().close()

    def _connection(self) -> sqlite3.Connection:
        found: sqlite3.Connection | None = getattr(self._mine, "connection", None)
        if found is None:
            found = sqlite3.connect(
                self._path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
            found.row_factory = sqlite3.Row
            write_ahead(found)
            found.execute("PRAGMA synchronous = FULL")
            self._mine.connection = found
            self._all.append(found)
        return found


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    found = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if found > VERSION:
        raise PlatformError(
            f"The index {path} has version {found}, written by a newer Bandstand; this one knows version"
            f" {VERSION}. Install the newer Bandstand, or name another folder with --home."
        )
    if found < VERSION:
        for statement in _TABLES:
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {VERSION}")
