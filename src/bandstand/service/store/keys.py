"""Names of buckets and keys: which are allowed, and which a file can have."""

from __future__ import annotations

import re

from bandstand.atomic_files import PART, UNFINISHED
from bandstand.errors import InputError
from bandstand.service.store.faults import StoreError

SCHEME = "s3://"
LONGEST_KEY = 1024
"""Bytes of a key at most, in UTF-8 (Amazon S3 user guide, Naming objects)."""
_LONGEST_NAME = 255
"""Bytes of a file's name at most, on the file systems of Linux and macOS."""

_BUCKET = re.compile(r"(?!\d+\.\d+\.\d+\.\d+$)(?!.*\.\.)[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]", re.ASCII)


def is_bucket_name(name: str) -> bool:
    """Whether a bucket may have this name (Amazon S3 user guide, General purpose bucket naming rules)."""
    return _BUCKET.fullmatch(name) is not None


def key_bytes(key: str) -> bytes:
    """A key as S3 orders keys: its UTF-8.

    Raises:
        StoreError: It is longer than a key may be, or no text.
    """
    try:
        data = key.encode()
    except UnicodeEncodeError as error:
        raise StoreError("InvalidURI") from error
    if len(data) > LONGEST_KEY:
        raise StoreError("KeyTooLongError", Size=len(data), MaxSizeAllowed=LONGEST_KEY)
    return data


def parts_of(key: str) -> tuple[str, ...] | None:
    """The path of a key below its bucket's folder, or None where no file can have it.

    Such keys have an empty part (`a//b`, `/a`, the folder object `a/`), a part that means a folder (`.`,
    `..`), one that is too long for a file's name, or the character NUL.
    """
    parts = tuple(key.split("/"))
    sound = all(
        part not in ("", ".", "..") and "\0" not in part and len(part.encode()) <= _LONGEST_NAME
        for part in parts
    )
    return parts if sound else None


def is_unfinished(key: str) -> bool:
    """Whether a file's name says that Bandstand, in a job, is still writing it."""
    *folders, name = key.split("/")
    hidden = name.startswith(".") and name.endswith((PART, ".partial"))
    return hidden or any(part.startswith(UNFINISHED) for part in (*folders, name))


def split_uri(uri: str) -> tuple[str, str]:
    """Bucket and key, or prefix, of an `s3://` address.

    Raises:
        InputError: It is no such address.
    """
    bucket, _, key = uri.removeprefix(SCHEME).partition("/")
    if not uri.startswith(SCHEME) or not bucket:
        raise InputError(
            f"{uri} is no address in S3; found no bucket's name in it. Write s3://, the bucket and the key."
        )
    if not is_bucket_name(bucket):
        raise InputError(
            f"{uri} names the bucket {bucket}, which no bucket can be called. Expected 3 to 63 small letters,"
            " digits, dots and hyphens, a letter or digit first and last. Mend the address."
        )
    return bucket, key
