"""The buckets of one home: folders, an index beside them, and where objects lie."""

from __future__ import annotations

import errno
import os
import shutil
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bandstand.channels.objects import APART, HIDDEN, INDEX
from bandstand.errors import InputError
from bandstand.service.store.faults import StoreError
from bandstand.service.store.folders import remove_empty
from bandstand.service.store.index import Index
from bandstand.service.store.keys import SCHEME, is_bucket_name, parts_of, split_uri

_TOLD_AGAIN = 7 * 86400 * 10**9
"""Nanoseconds for which the result of an upload is kept for a client that asks again."""


@dataclass(frozen=True)
class Bucket:
    """A bucket.

    Args:
        name: Its name.
        region: Where it was made.
        created: When, in nanoseconds since the epoch.
    """

    name: str
    region: str
    created: int


class Buckets:
    """All buckets of one home, each a folder that holds its objects as files.

    Any number of threads may use it, and other processes beside it: they may read objects, write files into
    a bucket's folder, and have buckets of the same home open. One process at a time changes objects by it.

    Args:
        folder: `HOME/s3`; made where it is missing.
        region: The region of buckets that somebody made as folders.
        account: The account that owns all buckets, of twelve digits.

    Raises:
        PlatformError: The index was written by a newer Bandstand.
        OSError: The folder cannot be made.
    """

    def __init__(self, folder: Path, region: str = "us-east-1", account: str = "123456789012") -> None:
        self.folder = folder.absolute()
        self.region = region
        self.account = account
        self.staging = self.folder / HIDDEN / "staging"
        self.apart = self.folder / HIDDEN / APART
        self.uploads = self.folder / HIDDEN / "uploads"
        for each in (self.staging, self.apart, self.uploads):
            each.mkdir(parents=True, exist_ok=True)
        self.index = Index(self.folder / HIDDEN / INDEX)
        self.lock = threading.RLock()
        """Held while an object is exchanged, so that a condition on the old one holds for the new one."""
        self._latest = 0

    def close(self) -> None:
        """Close the index."""
        self.index.close()

    def locate(self, uri: str) -> Path:
        """The path of an object, or of the folder that holds all objects below a prefix, there or not.

        Args:
            uri: `s3://bucket/key` or `s3://bucket/prefix`, with or without a slash at the end.

        Raises:
            InputError: It is no such address, no file can have the key, or there is no such bucket.
        """
        bucket, key = split_uri(uri)
        parts = parts_of(key.removesuffix("/")) if key else ()
        if parts is None:
            raise InputError(
                f"{uri} names nothing that a file can be: found an empty part, `.`, `..`, NUL or more than"
                " 255 bytes between two slashes. Choose another key."
            )
        self.require(bucket, key)
        return self.folder.joinpath(bucket, *parts)

    def require(self, bucket: str, key: str) -> None:
        """Do nothing where there is a bucket.

        Args:
            bucket: Its name.
            key: A key or prefix in it, for the message.

        Raises:
            InputError: There is no such bucket.
        """
        if self.find(bucket) is None:
            raise InputError(
                f"There is no bucket {bucket}, which {SCHEME}{bucket}/{key} names. Make it"
                f" (`aws s3 mb s3://{bucket}`), or take one of those that are there:"
                f" {', '.join(sorted(self.all())) or 'none yet'}."
            )

    def all(self) -> Mapping[str, Bucket]:
        """Every bucket by its name: each folder that has the name of a bucket is one."""
        known = {
            row["name"]: Bucket(row["name"], row["region"], row["created"])
            for row in self.index.read("SELECT * FROM buckets")
        }
        with os.scandir(self.folder) as entries:
            return {
                entry.name: known.get(entry.name)
                or Bucket(entry.name, self.region, entry.stat(follow_symlinks=False).st_ctime_ns)
                for entry in entries
                if is_bucket_name(entry.name) and entry.is_dir(follow_symlinks=False)
            }

    def find(self, name: str) -> Bucket | None:
        """The bucket of this name, or None."""
        path = self.folder / name
        if not is_bucket_name(name) or path.is_symlink() or not path.is_dir():
            return None
        rows = self.index.read("SELECT region, created FROM buckets WHERE name = ?", (name,))
        if not rows:
            return Bucket(name, self.region, path.stat().st_ctime_ns)
        return Bucket(name, rows[0]["region"], rows[0]["created"])

    def get(self, name: str) -> Bucket:
        """The bucket of this name.

        Raises:
            StoreError: There is none.
        """
        found = self.find(name)
        if found is None:
            raise StoreError("NoSuchBucket", BucketName=name)
        return found

    def create(self, name: str, region: str) -> bool:
        """Make a bucket; return False where it is there already.

        Args:
            name: Its name.
            region: Where it is to be.

        Raises:
            StoreError: No bucket can have this name.
        """
        if not is_bucket_name(name):
            raise StoreError("InvalidBucketName", BucketName=name)
        with self.lock:
            if self.find(name) is not None:
                return False
            with self.index.transaction() as connection:
                connection.execute(
                    "INSERT OR REPLACE INTO buckets (name, region, created) VALUES (?, ?, ?)",
                    (name, region, time.time_ns()),
                )
            (self.folder / name).mkdir()
            sync_folder(self.folder)
        return True

    def delete(self, name: str) -> None:
        """Remove a bucket that holds nothing; uploads to it that were not completed end with it.

        Raises:
            StoreError: There is no such bucket, or something is in it.
        """
        with self.lock:
            self.get(name)
            rows = self.index.read("SELECT 1 FROM apart WHERE bucket = ? LIMIT 1", (name,))
            folder = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY)
            try:
                if rows or not remove_empty(folder, name):
                    raise StoreError("BucketNotEmpty", BucketName=name)
                os.fsync(folder)
            finally:
                os.close(folder)
            ids = [row["id"] for row in self.index.read("SELECT id FROM uploads WHERE bucket = ?", (name,))]
            with self.index.transaction() as connection:
                connection.execute("DELETE FROM buckets WHERE name = ?", (name,))
                connection.execute("DELETE FROM objects WHERE bucket = ?", (name,))
                connection.execute("DELETE FROM uploads WHERE bucket = ?", (name,))
                connection.executemany("DELETE FROM parts WHERE upload = ?", [(each,) for each in ids])
            for each in ids:
                shutil.rmtree(self.uploads / each, ignore_errors=True)

    def sweep(self) -> None:
        """Remove what a process that was killed has left unfinished.

        Only the process that holds the home may call it, before it takes requests.
        """
        for path in self.staging.iterdir():
            path.unlink()
        kept = {row["file"] for row in self.index.read("SELECT file FROM apart")}
        for path in self.apart.iterdir():
            if path.name not in kept:
                path.unlink()
        with self.index.transaction() as connection:
            old = time.time_ns() - _TOLD_AGAIN
            connection.execute("DELETE FROM uploads WHERE result IS NOT NULL AND begun < ?", (old,))
        parts = {(row["upload"], row["file"]) for row in self.index.read("SELECT upload, file FROM parts")}
        running = {row["id"] for row in self.index.read("SELECT id FROM uploads WHERE result IS NULL")}
        for folder in self.uploads.iterdir():
            for path in folder.iterdir():
                if (folder.name, path.name) not in parts:
                    path.unlink()
            if folder.name not in running:
                shutil.rmtree(folder, ignore_errors=True)

    def moment(self) -> int:
        """A time, in nanoseconds since the epoch, that no object was stored at; taken under the lock."""
        self._latest = max(self._latest + 1, time.time_ns())
        return self._latest


def sync_folder(folder: Path | int) -> None:
    """Bring the names in a folder to the disk.

    Args:
        folder: Its path, or the open folder.
    """
    descriptor = folder if isinstance(folder, int) else os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno != errno.EINVAL:  # a file system that needs no such thing
            raise
    finally:
        if not isinstance(folder, int):
            os.close(descriptor)
