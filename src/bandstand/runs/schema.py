"""The schema of the record, its version, and how an older one is brought up to date."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from bandstand.errors import PlatformError

# One entry a version: the statements that lead from the version before it to this one. Entries are never
# edited once released; a change is a new entry.
MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """CREATE TABLE names (
            name TEXT PRIMARY KEY COLLATE NOCASE,
            kind TEXT NOT NULL CHECK (kind IN ('tuning', 'training'))
        ) WITHOUT ROWID""",
        """CREATE TABLE owners (
            id TEXT PRIMARY KEY,
            pid INTEGER NOT NULL,
            machine TEXT NOT NULL,
            began REAL NOT NULL
        ) WITHOUT ROWID""",
        """CREATE TABLE tuning_jobs (
            name TEXT PRIMARY KEY COLLATE NOCASE,
            owner TEXT NOT NULL,
            plan TEXT NOT NULL,
            seed INTEGER NOT NULL,
            grace REAL NOT NULL,
            status TEXT NOT NULL,
            failure_reason TEXT,
            created REAL NOT NULL,
            ended REAL,
            stop_asked REAL,
            stop_grace REAL,
            warnings TEXT NOT NULL DEFAULT '[]'
        ) WITHOUT ROWID""",
        """CREATE TABLE training_jobs (
            name TEXT PRIMARY KEY COLLATE NOCASE,
            tuning_job TEXT COLLATE NOCASE,
            number INTEGER NOT NULL,
            owner TEXT NOT NULL,
            backend TEXT NOT NULL,
            folder TEXT NOT NULL,
            plan TEXT NOT NULL,
            settings TEXT NOT NULL,
            grace REAL NOT NULL,
            status TEXT NOT NULL,
            secondary_status TEXT NOT NULL,
            failure_reason TEXT,
            created REAL NOT NULL,
            started REAL,
            ended REAL,
            model TEXT,
            hosts TEXT NOT NULL DEFAULT '[]',
            transitions TEXT NOT NULL DEFAULT '[]',
            reports INTEGER NOT NULL DEFAULT 0,
            iterations INTEGER NOT NULL DEFAULT 0,
            objective REAL,
            stop TEXT,
            stop_asked REAL,
            offsets TEXT NOT NULL DEFAULT '{}',
            warnings TEXT NOT NULL DEFAULT '[]'
        ) WITHOUT ROWID""",
        "CREATE INDEX training_jobs_of ON training_jobs (tuning_job, number)",
        """CREATE TABLE points (
            job TEXT NOT NULL COLLATE NOCASE,
            seq INTEGER NOT NULL,
            name TEXT NOT NULL,
            iteration INTEGER NOT NULL,
            value REAL,
            host TEXT NOT NULL,
            time REAL NOT NULL,
            PRIMARY KEY (job, seq)
        ) WITHOUT ROWID""",
        """CREATE TABLE events (
            tuning_job TEXT NOT NULL COLLATE NOCASE,
            seq INTEGER NOT NULL,
            kind TEXT NOT NULL CHECK (kind IN ('event', 'decision')),
            body TEXT NOT NULL,
            time REAL NOT NULL,
            PRIMARY KEY (tuning_job, seq)
        ) WITHOUT ROWID""",
    ),
    (
        "ALTER TABLE tuning_jobs ADD COLUMN backend TEXT NOT NULL DEFAULT 'processes'",
        "ALTER TABLE tuning_jobs ADD COLUMN seen REAL",
        "ALTER TABLE tuning_jobs ADD COLUMN idle TEXT NOT NULL DEFAULT '[]'",
        "ALTER TABLE training_jobs ADD COLUMN attempt INTEGER NOT NULL DEFAULT 1",
        "ALTER TABLE training_jobs ADD COLUMN spent REAL NOT NULL DEFAULT 0",
        "ALTER TABLE training_jobs ADD COLUMN interrupted INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE training_jobs ADD COLUMN resume_point INTEGER",
        "ALTER TABLE points ADD COLUMN attempt INTEGER NOT NULL DEFAULT 1",
    ),
)

VERSION = len(MIGRATIONS)


def migrate(connection: sqlite3.Connection, path: Path) -> None:
    """Bring a store to this version, in one transaction, so that a crash leaves the old or the new one.

    Args:
        connection: The open store, in autocommit mode.
        path: Its file, for messages.

    Raises:
        PlatformError: The store was written by a newer Bandstand.
    """
    if _version(connection) == VERSION:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        found = _version(connection)
        if found > VERSION:
            raise PlatformError(
                f"The record {path} has schema version {found}, written by a newer Bandstand; this one knows"
                f" versions up to {VERSION}. Install the newer Bandstand, or name another folder with --home."
            )
        for statements in MIGRATIONS[found:]:
            for statement in statements:
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])
