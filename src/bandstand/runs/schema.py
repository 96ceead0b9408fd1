"""The schema of the record, its version, and how an older one is brought up to date."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from bandstand.backends.locks import is_locked
from bandstand.errors import PlatformError

_NOW = "(julianday('now') - 2440587.5) * 86400.0"
"""Epoch seconds in SQL, to the millisecond; SQLite 3.42 has a word for it, which older systems lack."""

_TUNING_SHOWN = """CASE WHEN status = 'InProgress' AND stop_asked IS NOT NULL THEN 'Stopping'
    ELSE status END"""
_TRAINING_SHOWN = """CASE WHEN interrupted AND served THEN 'InProgress'
    WHEN status = 'InProgress' AND stop_asked IS NOT NULL THEN 'Stopping' ELSE status END"""


def _keep_shown(table: str, columns: str, shown: str) -> tuple[str, ...]:
    """Triggers that keep what is shown of a job, and when it changed last, right, whoever writes."""
    changed = " OR ".join(f"OLD.{name} IS NOT NEW.{name}" for name in columns.split(", "))
    return (
        f"""CREATE TRIGGER {table}_changed AFTER UPDATE OF {columns} ON {table} WHEN {changed}
            BEGIN UPDATE {table} SET shown = {shown}, modified = {_NOW} WHERE name = NEW.name; END""",  # noqa: S608
        f"""CREATE TRIGGER {table}_added AFTER INSERT ON {table} WHEN NEW.status <> 'InProgress'
            BEGIN UPDATE {table} SET shown = {shown} WHERE name = NEW.name; END""",  # noqa: S608
    )


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
    (
        "ALTER TABLE tuning_jobs ADD COLUMN served INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE training_jobs ADD COLUMN served INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE tuning_jobs ADD COLUMN modified REAL NOT NULL DEFAULT 0",
        "ALTER TABLE training_jobs ADD COLUMN modified REAL NOT NULL DEFAULT 0",
        "UPDATE tuning_jobs SET modified = COALESCE(ended, created)",
        "UPDATE training_jobs SET modified = COALESCE(ended, started, created)",
        # What clients of the service see as a job's status; no generated column, since an index covers none.
        "ALTER TABLE tuning_jobs ADD COLUMN shown TEXT NOT NULL DEFAULT 'InProgress'",
        "ALTER TABLE training_jobs ADD COLUMN shown TEXT NOT NULL DEFAULT 'InProgress'",
        f"UPDATE tuning_jobs SET shown = {_TUNING_SHOWN}",  # noqa: S608 - the texts are constants, as below
        f"UPDATE training_jobs SET shown = {_TRAINING_SHOWN}",  # noqa: S608
        *_keep_shown("tuning_jobs", "status, stop_asked", _TUNING_SHOWN),
        *_keep_shown("training_jobs", "status, secondary_status, stop_asked, interrupted", _TRAINING_SHOWN),
        "CREATE INDEX tuning_jobs_by_time ON tuning_jobs (created, name, modified, shown)",
        "CREATE INDEX tuning_jobs_by_status ON tuning_jobs (shown, created, name, modified)",
        "CREATE INDEX training_jobs_by_time ON training_jobs (created, name, modified, shown)",
        "CREATE INDEX training_jobs_by_status ON training_jobs (shown, created, name, modified)",
        "CREATE INDEX training_jobs_by_status_name ON training_jobs (shown, name)",
        # All that is counted, compared and sorted of a tuning job's training jobs, without their long rows.
        """CREATE INDEX training_jobs_in ON training_jobs
            (tuning_job, shown, objective, ended, number, created, name)""",
        "CREATE INDEX points_of ON points (job, name, seq)",
        """CREATE TABLE tags (
            job TEXT NOT NULL COLLATE NOCASE,
            key TEXT NOT NULL,
            value TEXT NOT NULL,
            PRIMARY KEY (job, key)
        ) WITHOUT ROWID""",
        *(
            f"""INSERT OR REPLACE INTO tags
                SELECT {table}.name, json_extract(tag.value, '$[0]'), json_extract(tag.value, '$[1]')
                FROM {table}, json_each({table}.plan, '$.tags') AS tag"""  # noqa: S608 - names of our tables
            for table in ("tuning_jobs", "training_jobs")
        ),
    ),
    ("ALTER TABLE training_jobs ADD COLUMN definition TEXT NOT NULL DEFAULT ''",),
    (  # names are unique among the jobs of one kind, which the primary keys of their tables see to
        """CREATE TABLE tags_of_kinds (
            kind TEXT NOT NULL CHECK (kind IN ('tuning', 'training')),
            job TEXT NOT NULL COLLATE NOCASE,
            key TEXT NOT NULL,
            value TEXT NOT NULL,
            PRIMARY KEY (kind, job, key)
        ) WITHOUT ROWID""",
        """INSERT INTO tags_of_kinds
            SELECT names.kind, job, key, value FROM tags JOIN names ON names.name = tags.job""",
        "DROP TABLE tags",
        "ALTER TABLE tags_of_kinds RENAME TO tags",
        "DROP TABLE names",
    ),
)

_KINDS_APART = 5
"""The version in which a tuning job's folder got a name that no training job's can have."""

VERSION = len(MIGRATIONS)


def migrate(connection: sqlite3.Connection, path: Path) -> None:
    """Bring a store to this version, in one transaction, so that a crash leaves the old or the new one.

    Args:
        connection: The open store, in autocommit mode.
        path: Its file, for messages.

    Raises:
        PlatformError: The store was written by a newer Bandstand, or an older one still works with it.
    """
    if is_current(connection):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        found = _version(connection)
        if found > VERSION:
            raise PlatformError(
                f"The record {path} has schema version {found}, written by a newer Bandstand; this one knows"
                f" versions up to {VERSION}. Install the newer Bandstand, or name another folder with --home."
            )
        if 0 < found < VERSION:
            _refuse_while_in_use(path.parent)
        for statements in MIGRATIONS[found:]:
            for statement in statements:
                connection.execute(statement)
        if found < _KINDS_APART:
            _move_tuning_folders(connection, path.parent / "jobs")
        connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def _refuse_while_in_use(home: Path) -> None:
    """Leave a home alone with which a service or a launcher works that knows the older schema only."""
    if any(is_locked(path) for path in (home / "service.lock", *(home / "owners").glob("*"))):
        raise PlatformError(
            f"The home {home} is an older Bandstand's, which still works with it: a `bandstand local`, or a"
            " command that runs a job. End it, and try again, or name another folder with --home."
        )


def _move_tuning_folders(connection: sqlite3.Connection, jobs: Path) -> None:
    """Give the folders of tuning jobs on SageMaker their new names; may be repeated."""
    for (name,) in connection.execute("SELECT name FROM tuning_jobs WHERE backend = 'sagemaker'").fetchall():
        if (jobs / name).is_dir():
            (jobs / name).rename(jobs / f"{name}.tuning")


def is_current(connection: sqlite3.Connection) -> bool:
    """Whether a store is of this version."""
    return _version(connection) == VERSION


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])
