"""Uploads in parts: each part is kept for good once it is acknowledged, and all appear as one object."""

from __future__ import annotations

import json
import secrets
import shutil
import sqlite3
import time
from dataclasses import dataclass

from bandstand.service.store.about import About, Stored
from bandstand.service.store.buckets import Buckets, sync_folder
from bandstand.service.store.faults import StoreError
from bandstand.service.store.keys import key_bytes
from bandstand.service.store.staging import Staged

MOST_PARTS = 10_000
"""The greatest number of a part."""


@dataclass(frozen=True)
class Upload:
    """An upload that was begun.

    Args:
        id: Its name.
        bucket: Where the object is to be.
        key: The object's key.
        begun: When, in nanoseconds since the epoch.
        about: What is to be kept beside the object.
        algorithm: The algorithm of its checksums, or None.
        kind: The kind of the object's checksum, or None.
        result: What became of it, once it is completed.
    """

    id: str
    bucket: str
    key: str
    begun: int
    about: About
    algorithm: str | None = None
    kind: str | None = None
    result: Stored | None = None


@dataclass(frozen=True)
class Part:
    """A part of an upload.

    Args:
        number: Its number, from 1.
        file: Its file's name in the upload's folder.
        size: Its size in bytes.
        etag: Its entity tag.
        checksum: Its checksum in base64, or None.
        changed: When it was stored, in nanoseconds since the epoch.
    """

    number: int
    file: str
    size: int
    etag: str
    checksum: str | None
    changed: int


def begin(
    buckets: Buckets, bucket: str, key: str, about: About, algorithm: str | None, kind: str | None
) -> Upload:
    """Begin an upload.

    Args:
        buckets: The store.
        bucket: Where the object is to be.
        key: The object's key.
        about: What is to be kept beside it.
        algorithm: The algorithm of its checksums, or None.
        kind: The kind of the object's checksum, or None.

    Raises:
        StoreError: There is no such bucket.
    """
    data = key_bytes(key)
    with buckets.lock:
        buckets.get(bucket)
        upload = Upload(secrets.token_urlsafe(48), bucket, key, time.time_ns(), about, algorithm, kind)
        (buckets.uploads / upload.id).mkdir()
        sync_folder(buckets.uploads)
        with buckets.index.transaction() as connection:
            connection.execute(
                "INSERT INTO uploads VALUES (?, ?, ?, ?, ?, ?, ?, NULL)",
                (upload.id, bucket, data, upload.begun, about.text(), algorithm, kind),
            )
    return upload


def get(buckets: Buckets, bucket: str, key: str, name: str) -> Upload:
    """The upload of this name to this key, be it completed or not.

    Raises:
        StoreError: There is none.
    """
    buckets.get(bucket)
    rows = buckets.index.read(
        "SELECT * FROM uploads WHERE id = ? AND bucket = ? AND key = ?", (name, bucket, key_bytes(key))
    )
    if not rows:
        raise StoreError("NoSuchUpload", UploadId=name)
    return _upload(rows[0])


def running(buckets: Buckets, bucket: str, key: str, name: str) -> Upload:
    """The upload of this name to this key, which is neither completed nor aborted.

    Raises:
        StoreError: There is none.
    """
    upload = get(buckets, bucket, key, name)
    if upload.result is not None:
        raise StoreError("NoSuchUpload", UploadId=name)
    return upload


def all_running(buckets: Buckets, bucket: str) -> list[Upload]:
    """The uploads to a bucket that are neither completed nor aborted, by key and then by age.

    Raises:
        StoreError: There is no such bucket.
    """
    buckets.get(bucket)
    sql = "SELECT * FROM uploads WHERE bucket = ? AND result IS NULL ORDER BY key, begun, id"
    return [_upload(row) for row in buckets.index.read(sql, (bucket,))]


def add(buckets: Buckets, upload: Upload, number: int, staged: Staged) -> Part:
    """Keep a part for good, in place of an earlier one of its number.

    Args:
        buckets: The store.
        upload: The upload.
        number: The part's number.
        staged: Its bytes, which are finished.

    Raises:
        StoreError: The upload has ended meanwhile.
    """
    file = f"{number}-{secrets.token_hex(8)}"
    checksum = staged.checksums.get(upload.algorithm) if upload.algorithm else None
    part = Part(number, file, staged.size, staged.md5.hex(), checksum, time.time_ns())
    folder = buckets.uploads / upload.id
    with buckets.lock:
        running(buckets, upload.bucket, upload.key, upload.id)
        old = buckets.index.read(
            "SELECT file FROM parts WHERE upload = ? AND number = ?", (upload.id, number)
        )
        staged.path.rename(folder / file)
        sync_folder(folder)
        with buckets.index.transaction() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO parts VALUES (?, ?, ?, ?, ?, ?, ?)",
                (upload.id, number, file, part.size, part.etag, part.checksum, part.changed),
            )
        for row in old:
            (folder / row["file"]).unlink(missing_ok=True)
    return part


def parts(buckets: Buckets, upload: Upload) -> list[Part]:
    """The parts of an upload that are there, by their numbers."""
    rows = buckets.index.read("SELECT * FROM parts WHERE upload = ? ORDER BY number", (upload.id,))
    return [
        Part(row["number"], row["file"], row["size"], row["etag"], row["checksum"], row["changed"])
        for row in rows
    ]


def abort(buckets: Buckets, upload: Upload) -> None:
    """End an upload and remove its parts."""
    with buckets.lock, buckets.index.transaction() as connection:
        connection.execute("DELETE FROM uploads WHERE id = ?", (upload.id,))
        connection.execute("DELETE FROM parts WHERE upload = ?", (upload.id,))
    shutil.rmtree(buckets.uploads / upload.id, ignore_errors=True)


def _upload(row: sqlite3.Row) -> Upload:
    key = row["key"].decode()
    result = None
    if row["result"] is not None:
        told = json.loads(row["result"])
        result = Stored(
            row["bucket"], key, told["size"], told["changed"], told["etag"], About.of(told["about"])
        )
    return Upload(
        row["id"],
        row["bucket"],
        key,
        row["begun"],
        About.of(row["about"]),
        row["algorithm"],
        row["kind"],
        result,
    )
