"""One object out of an upload's parts."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from bandstand.service.store.about import Checksum, Stored
from bandstand.service.store.buckets import Buckets
from bandstand.service.store.checksums import COMPOSITE, composite
from bandstand.service.store.faults import StoreError
from bandstand.service.store.objects import Condition, put
from bandstand.service.store.staging import Staged
from bandstand.service.store.uploads import Part, Upload, get, parts

LEAST_PART = 5 << 20
"""Bytes of every part but the last, at least (Amazon S3 user guide, Multipart upload limits)."""


@dataclass(frozen=True)
class Named:
    """A part as the client names it when it completes the upload.

    Args:
        number: Its number.
        etag: Its entity tag, without quotation marks.
        checksum: Its checksum in base64; None where the client gives none.
    """

    number: int
    etag: str
    checksum: str | None = None


def complete(
    buckets: Buckets,
    upload: Upload,
    named: Sequence[Named],
    condition: Condition = lambda _: None,
    check: Callable[[int, Checksum | None], None] = lambda *_: None,
) -> Stored:
    """Make one object of an upload's parts.

    A client that did not hear the answer may ask again; it gets the same one.

    Args:
        buckets: The store.
        upload: The upload.
        named: The parts that the object is made of.
        condition: Looks at the object that is to be replaced.
        check: Looks at size and checksum of the new object, and raises StoreError where it is not wanted.

    Raises:
        StoreError: A part is not there, is another, is too small, or stands out of order.
    """
    if upload.result is not None:
        return upload.result
    chosen = _chosen(upload, parts(buckets, upload), named)
    whole = upload.algorithm if upload.kind != COMPOSITE else None
    with Staged(buckets.staging, [whole] if whole else []) as staged:
        for part in chosen:
            _append(buckets, upload, part, staged)
        staged.finish()
        checksum = _checksum(upload, chosen, staged)
        check(staged.size, checksum)
        about = replace(upload.about, parts=tuple(part.size for part in chosen), checksum=checksum)
        tags = b"".join(bytes.fromhex(part.etag) for part in chosen)
        etag = f"{hashlib.md5(tags, usedforsecurity=False).hexdigest()}-{len(chosen)}"
        with buckets.lock:
            again = get(buckets, upload.bucket, upload.key, upload.id)  # somebody may have been quicker
            if again.result is not None:
                return again.result
            stored = put(buckets, upload.bucket, upload.key, staged, about, etag, condition)
            _settle(buckets, upload, stored)
    shutil.rmtree(buckets.uploads / upload.id, ignore_errors=True)
    return stored


def _append(buckets: Buckets, upload: Upload, part: Part, staged: Staged) -> None:
    try:
        descriptor = os.open(buckets.uploads / upload.id / part.file, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        raise StoreError("InvalidPart", UploadId=upload.id, PartNumber=part.number, ETag=part.etag) from None
    try:
        staged.copy(descriptor, 0, part.size)
    finally:
        os.close(descriptor)


def _chosen(upload: Upload, there: Sequence[Part], named: Sequence[Named]) -> list[Part]:
    if not named:
        raise StoreError("MalformedXML")
    numbers = [each.number for each in named]
    if any(later <= earlier for earlier, later in itertools.pairwise(numbers)):
        raise StoreError("InvalidPartOrder", UploadId=upload.id)
    known = {part.number: part for part in there}
    chosen: list[Part] = []
    for each in named:
        part = known.get(each.number)
        same = part is not None and each.etag == part.etag and each.checksum in (None, part.checksum)
        if part is None or not same:
            raise StoreError("InvalidPart", UploadId=upload.id, PartNumber=each.number, ETag=each.etag)
        chosen.append(part)
    for part in chosen[:-1]:
        if part.size < LEAST_PART:
            raise StoreError(
                "EntityTooSmall",
                ProposedSize=part.size,
                MinSizeAllowed=LEAST_PART,
                PartNumber=part.number,
                ETag=part.etag,
            )
    return chosen


def _checksum(upload: Upload, chosen: Sequence[Part], staged: Staged) -> Checksum | None:
    if upload.algorithm is None or upload.kind is None:
        return None
    if upload.kind != COMPOSITE:
        return Checksum(upload.algorithm, staged.checksums[upload.algorithm], upload.kind)
    values = [part.checksum or "" for part in chosen]
    return Checksum(upload.algorithm, composite(upload.algorithm, values), upload.kind)


def _settle(buckets: Buckets, upload: Upload, stored: Stored) -> None:
    result = json.dumps(
        {"size": stored.size, "changed": stored.changed, "etag": stored.etag, "about": stored.about.text()}
    )
    with buckets.index.transaction() as connection:
        connection.execute("UPDATE uploads SET result = ? WHERE id = ?", (result, upload.id))
        connection.execute("DELETE FROM parts WHERE upload = ?", (upload.id,))
