"""Single objects: found, opened, stored and removed."""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from bandstand.service.store.about import About, Stored
from bandstand.service.store.buckets import Buckets, sync_folder
from bandstand.service.store.faults import StoreError
from bandstand.service.store.folders import BlockedError, entered, open_file, place_file
from bandstand.service.store.keys import is_unfinished, key_bytes, parts_of
from bandstand.service.store.staging import Staged

Condition = Callable[[Stored | None], None]
"""Looks at the object that is there, or None, and raises StoreError where nothing may be changed."""


def derived_etag(bucket: str, key: str, size: int, changed: int) -> str:
    """The entity tag of a file that was not stored through S3.

    It changes whenever the file does, and no byte has to be read for it, so that a page of a listing costs
    the same whatever the sizes of its objects are. Like the tags of objects that S3 got in parts it is no
    MD5 of the content, and has their form, which tells clients so.
    """
    words = f"{bucket}/{key}\0{size}\0{changed}".encode("utf-8", "surrogateescape")
    return f"{hashlib.md5(words, usedforsecurity=False).hexdigest()}-1"


@contextmanager
def opened(buckets: Buckets, bucket: str, key: str) -> Iterator[tuple[Stored, int]]:
    """Open an object for reading; what is read is this very object, even while another takes its place.

    Args:
        buckets: The store.
        bucket: The bucket.
        key: The key.

    Yields:
        The object, and its open file.

    Raises:
        StoreError: There is no such bucket or object.
    """
    buckets.get(bucket)
    descriptor = _open(buckets, bucket, key)
    if descriptor is None:
        raise StoreError("NoSuchKey", Key=key)
    try:
        stored = _described(buckets, bucket, key, os.fstat(descriptor))
        if stored is None:
            raise StoreError("NoSuchKey", Key=key)
        yield stored, descriptor
    finally:
        os.close(descriptor)


def find(buckets: Buckets, bucket: str, key: str) -> Stored | None:
    """The object of a key in a bucket that is there, or None."""
    descriptor = _open(buckets, bucket, key)
    if descriptor is None:
        return None
    try:
        return _described(buckets, bucket, key, os.fstat(descriptor))
    finally:
        os.close(descriptor)


def put(
    buckets: Buckets,
    bucket: str,
    key: str,
    staged: Staged,
    about: About,
    etag: str | None = None,
    condition: Condition = lambda _: None,
) -> Stored:
    """Store an object for good: after this, it is what readers get, whatever happens to this machine.

    Args:
        buckets: The store.
        bucket: The bucket.
        key: The key.
        staged: Its bytes, which are finished.
        about: What is kept beside them.
        etag: Its entity tag; the MD5 of its bytes unless given.
        condition: Looks at the object that is to be replaced.

    Raises:
        StoreError: There is no such bucket, the key is too long, or the condition does not hold.
    """
    data = key_bytes(key)
    tag = etag or staged.md5.hex()
    with buckets.lock:
        buckets.get(bucket)
        old = find(buckets, bucket, key)
        condition(old)
        moment = buckets.moment()
        os.utime(staged.path, ns=(moment, moment))
        state = staged.path.stat()
        row = (bucket, data, state.st_mtime_ns, state.st_size, tag, about.text())
        with buckets.index.transaction() as connection:
            connection.execute(
                "DELETE FROM objects WHERE bucket = ? AND key = ? AND NOT (changed = ? AND size = ?)",
                (bucket, data, old.changed if old else -1, old.size if old else -1),
            )
            connection.execute("INSERT INTO objects VALUES (?, ?, ?, ?, ?, ?)", row)
        if not _place(buckets, bucket, key, staged):
            _set_apart(buckets, bucket, data, staged)
    return Stored(bucket, key, state.st_size, state.st_mtime_ns, tag, about)


def describe(buckets: Buckets, stored: Stored, about: About) -> None:
    """Change what is kept beside an object, whose bytes stay as they are."""
    with buckets.lock, buckets.index.transaction() as connection:
        connection.execute(
            "INSERT OR REPLACE INTO objects VALUES (?, ?, ?, ?, ?, ?)",
            (stored.bucket, key_bytes(stored.key), stored.changed, stored.size, stored.etag, about.text()),
        )


def remove(buckets: Buckets, bucket: str, key: str, condition: Condition = lambda _: None) -> None:
    """Remove an object for good; nothing happens where there is none.

    Its folders stay, since a job may be about to write to them.

    Args:
        buckets: The store.
        bucket: The bucket.
        key: The key.
        condition: Looks at the object that is to be removed.

    Raises:
        StoreError: There is no such bucket, or the condition does not hold.
    """
    data = key_bytes(key)
    with buckets.lock:
        buckets.get(bucket)
        condition(find(buckets, bucket, key))
        _drop_apart(buckets, bucket, data)
        parts = parts_of(key)
        if parts is not None:
            with (
                suppress(FileNotFoundError, BlockedError),
                entered(buckets.folder / bucket, parts[:-1]) as folder,
            ):
                os.close(open_file(folder, parts[-1]))
                os.unlink(parts[-1], dir_fd=folder)
                sync_folder(folder)
        named = "FROM objects WHERE bucket = ? AND key = ?"
        if buckets.index.read(f"SELECT 1 {named} LIMIT 1", (bucket, data)):
            with buckets.index.transaction() as connection:
                connection.execute(f"DELETE {named}", (bucket, data))


def _open(buckets: Buckets, bucket: str, key: str) -> int | None:
    """Open the file of a key: the one at its place in the bucket's folder, else the one set apart."""
    data = key_bytes(key)
    parts = parts_of(key)
    if parts is not None:
        with (
            suppress(FileNotFoundError, BlockedError),
            entered(buckets.folder / bucket, parts[:-1]) as folder,
        ):
            return open_file(folder, parts[-1])
    while True:
        rows = buckets.index.read("SELECT file FROM apart WHERE bucket = ? AND key = ?", (bucket, data))
        if not rows:
            return None
        with suppress(FileNotFoundError):  # replaced in this moment: there is another one
            return os.open(buckets.apart / rows[0]["file"], os.O_RDONLY | os.O_CLOEXEC)


def _described(buckets: Buckets, bucket: str, key: str, state: os.stat_result) -> Stored | None:
    """The object that an open file is; None where a job is still writing it."""
    rows = buckets.index.read(
        "SELECT etag, about FROM objects WHERE bucket = ? AND key = ? AND changed = ? AND size = ?",
        (bucket, key_bytes(key), state.st_mtime_ns, state.st_size),
    )
    if not rows and is_unfinished(key):
        return None
    if rows:
        etag, about = rows[0]["etag"], About.of(rows[0]["about"])
    else:
        etag, about = derived_etag(bucket, key, state.st_size, state.st_mtime_ns), About()
    return Stored(bucket, key, state.st_size, state.st_mtime_ns, etag, about)


def _place(buckets: Buckets, bucket: str, key: str, staged: Staged) -> bool:
    """Move a file to its key's place; return False where it cannot lie there."""
    parts = parts_of(key)
    if parts is None:
        return False
    try:
        with entered(buckets.folder / bucket, parts[:-1], make=True) as folder:
            place_file(staged.path, folder, parts[-1])
            sync_folder(folder)
    except BlockedError:
        return False
    _drop_apart(buckets, bucket, key_bytes(key))
    return True


def _set_apart(buckets: Buckets, bucket: str, key: bytes, staged: Staged) -> None:
    old = buckets.index.read("SELECT file FROM apart WHERE bucket = ? AND key = ?", (bucket, key))
    name = secrets.token_hex(16)
    staged.path.rename(buckets.apart / name)
    sync_folder(buckets.apart)
    with buckets.index.transaction() as connection:
        connection.execute("INSERT OR REPLACE INTO apart VALUES (?, ?, ?)", (bucket, key, name))
    for row in old:
        (buckets.apart / row["file"]).unlink(missing_ok=True)


def _drop_apart(buckets: Buckets, bucket: str, key: bytes) -> None:
    rows = buckets.index.read("SELECT file FROM apart WHERE bucket = ? AND key = ?", (bucket, key))
    if not rows:
        return
    with buckets.index.transaction() as connection:
        connection.execute("DELETE FROM apart WHERE bucket = ? AND key = ?", (bucket, key))
    (buckets.apart / rows[0]["file"]).unlink(missing_ok=True)
