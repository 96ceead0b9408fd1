from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from bandstand.errors import PlatformError
from bandstand.runs import schema
from bandstand.runs.record import FILE, Record
from bandstand.runs.schema import VERSION


@pytest.fixture
def record(tmp_path):
    with Record.open(tmp_path / "home") as opened:
        yield opened


def test_a_home_is_made_with_its_parents_and_opens_twice(tmp_path):
    home = tmp_path / "some" / "where"
    for _ in range(2):
        with Record.open(home) as record:
            assert record.read("PRAGMA user_version")[0][0] == VERSION
            assert record.read("PRAGMA journal_mode")[0][0] == "wal"


def claim(connection: sqlite3.Connection, owner: str) -> None:
    """Write something into the record, whatever it is."""
    connection.execute("INSERT INTO owners VALUES (?, 1, '', 0)", (owner,))


def test_a_transaction_that_fails_leaves_nothing(record):
    def fail() -> None:
        with record.transaction() as connection:
            claim(connection, "half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert record.read("SELECT * FROM owners") == []


def test_changes_are_seen_only_when_another_connection_made_them(record):
    before = record.changes()
    with record.transaction() as connection:
        claim(connection, "mine")
    assert record.changes() == before
    with Record.open(record.home) as other, other.transaction() as connection:
        claim(connection, "theirs")
    assert record.changes() != before


def test_many_writers_and_readers_at_once_lose_nothing(tmp_path):
    home = tmp_path / "home"
    failures = []

    def write(writer: int) -> None:
        try:
            with Record.open(home) as record:
                for number in range(20):
                    with record.transaction() as connection:
                        claim(connection, f"{writer}-{number}")
                    record.read("SELECT COUNT(*) FROM owners")
        except PlatformError as error:
            failures.append(error)

    threads = [threading.Thread(target=write, args=(writer,)) for writer in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    with Record.open(home) as record:
        assert record.read("SELECT COUNT(*) FROM owners")[0][0] == 120


def test_a_record_of_a_newer_bandstand_is_refused_and_left_as_it_is(tmp_path):
    with Record.open(tmp_path) as record:
        record.read(f"PRAGMA user_version = {VERSION + 1}")
    with pytest.raises(PlatformError, match=f"version {VERSION + 1}, written by a newer Bandstand.*--home"):
        Record.open(tmp_path)
    with sqlite3.connect(tmp_path / FILE) as connection:
        assert connection.execute("PRAGMA user_version").fetchone()[0] == VERSION + 1
    connection.close()


def test_an_older_record_is_brought_up_to_date_with_all_it_holds(tmp_path, monkeypatch):
    with Record.open(tmp_path) as record, record.transaction() as connection:
        claim(connection, "kept")
    newer = (*schema.MIGRATIONS, ("ALTER TABLE owners ADD COLUMN colour TEXT NOT NULL DEFAULT 'blue'",))
    monkeypatch.setattr(schema, "MIGRATIONS", newer)
    monkeypatch.setattr(schema, "VERSION", len(newer))
    with Record.open(tmp_path) as record:
        (row,) = record.read("SELECT id, colour FROM owners")
        assert tuple(row) == ("kept", "blue")
        assert record.read("PRAGMA user_version")[0][0] == len(newer)


def test_a_migration_that_fails_leaves_the_older_record(tmp_path, monkeypatch):
    Record.open(tmp_path).close()
    broken = (*schema.MIGRATIONS, ("CREATE TABLE half (a)", "CREATE TABLE half (a)"))
    monkeypatch.setattr(schema, "MIGRATIONS", broken)
    monkeypatch.setattr(schema, "VERSION", len(broken))
    with pytest.raises(sqlite3.OperationalError):
        Record.open(tmp_path)
    monkeypatch.undo()
    with Record.open(tmp_path) as record:
        assert record.read("SELECT name FROM sqlite_master WHERE name = 'half'") == []


def test_a_file_that_is_no_record_is_refused_with_advice(tmp_path):
    (tmp_path / FILE).write_bytes(b"not a database at all" * 100)
    with pytest.raises(PlatformError, match=r"no record of Bandstand's\. Move the file away"):
        Record.open(tmp_path)


def test_a_home_below_a_file_is_refused_with_advice(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(PlatformError, match=r"cannot be written.*--home or BANDSTAND_HOME"):
        Record.open(tmp_path / "file" / "home")


OPEN = """
import sys
from pathlib import Path
from bandstand.errors import PlatformError
from bandstand.runs.ownership import Claim
from bandstand.runs import schema
from bandstand.runs.record import Record
try:
    with Record.open(Path(sys.argv[1])) as record, Claim.make(record):
        while True:
            with record.transaction() as connection:
                connection.execute("INSERT INTO owners VALUES (hex(randomblob(4000)), 1, '', 0)")
except PlatformError as error:
    print(error)
"""


def mounted(folder: Path, options: str, script: str) -> str:
    """What a script prints whose home lies on a file system of its own, mounted with these options."""
    folder.mkdir()
    shell = 'mount -t tmpfs -o "$1" none "$2" && exec "$3" -c "$4" "$2/home"'
    words = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", shell, "sh"]
    return subprocess.run(
        [*words, options, str(folder), sys.executable, script], check=True, text=True, stdout=subprocess.PIPE
    ).stdout


@pytest.mark.skipif(sys.platform != "linux", reason="mounting needs Linux's user name spaces")
def test_a_read_only_home_is_told_in_words(tmp_path):
    assert "the file system is read-only" in mounted(tmp_path / "disk", "ro", OPEN)


@pytest.mark.skipif(sys.platform != "linux", reason="mounting needs Linux's user name spaces")
def test_a_full_disk_is_told_in_words(tmp_path):
    told = mounted(tmp_path / "disk", "size=512k", OPEN)
    assert "the disk is full" in told or "or is full" in told
    assert "--home" in told


def test_a_store_that_another_process_keeps_locked_is_told_in_words(tmp_path, monkeypatch):
    with Record.open(tmp_path) as record:
        record.read("PRAGMA busy_timeout = 50")
        holder = sqlite3.connect(tmp_path / FILE, isolation_level=None)
        holder.execute("BEGIN IMMEDIATE")
        with pytest.raises(PlatformError, match="another process has kept it locked"), record.transaction():
            pass
        holder.close()


def test_a_home_that_is_made_is_its_users_alone(tmp_path):
    Record.open(tmp_path / "new" / "home").close()
    assert (tmp_path / "new" / "home").stat().st_mode & 0o777 == 0o700
