"""Operations that read objects."""

from __future__ import annotations

import os
from typing import Any

from bandstand.service.store.about import Stored
from bandstand.service.store.answering import (
    Answer,
    Span,
    checksum_headers,
    document,
    encryption_headers,
    http_date,
)
from bandstand.service.store.asking import Asked
from bandstand.service.store.buckets import Buckets
from bandstand.service.store.conditions import check_reading
from bandstand.service.store.faults import StoreError
from bandstand.service.store.objects import opened
from bandstand.service.store.ranges import Range, part_of, range_of

_OVERRIDES = {
    "response-cache-control": "Cache-Control",
    "response-content-disposition": "Content-Disposition",
    "response-content-encoding": "Content-Encoding",
    "response-content-language": "Content-Language",
    "response-content-type": "Content-Type",
    "response-expires": "Expires",
}


def get_object(buckets: Buckets, asked: Asked, body: bytes) -> Answer:
    """GetObject: whole, a range, or a part; with conditions."""
    check_version(asked)
    with opened(buckets, asked.bucket, asked.key) as (stored, descriptor):
        answer, wanted = _told(asked, stored)
        span = Span(os.dup(descriptor), wanted.begin, wanted.length)
        return Answer(answer.status, answer.headers, span)


def head_object(buckets: Buckets, asked: Asked, body: bytes) -> Answer:
    """HeadObject: as GetObject, without the bytes."""
    check_version(asked)
    with opened(buckets, asked.bucket, asked.key) as (stored, _):
        answer, wanted = _told(asked, stored)
        return Answer(answer.status, {**answer.headers, "Content-Length": str(wanted.length)})


def get_object_attributes(buckets: Buckets, asked: Asked, body: bytes) -> Answer:
    """GetObjectAttributes: all but the list of parts."""
    check_version(asked)
    wished = {each.strip() for each in asked.headers.get("x-amz-object-attributes", "").split(",")}
    with opened(buckets, asked.bucket, asked.key) as (stored, _):
        check_reading(asked.headers, stored)
    checksum = stored.about.checksum
    known: dict[str, Any] = {
        "ETag": stored.etag,
        "Checksum": checksum
        and {f"Checksum{checksum.algorithm}": checksum.value, "ChecksumType": checksum.kind},
        "ObjectParts": {"TotalPartsCount": len(stored.about.parts)} if stored.about.parts else None,
        "StorageClass": stored.about.headers.get("x-amz-storage-class", "STANDARD"),
        "ObjectSize": stored.size,
    }
    if not wished <= set(known):
        raise StoreError(
            "InvalidArgument", "Invalid attribute name specified.", ArgumentName="x-amz-object-attributes"
        )
    answer = {name: value for name, value in known.items() if name in wished}
    return document("GetObjectAttributes", answer, {"Last-Modified": http_date(stored.changed)})


def check_version(asked: Asked) -> None:
    """Refuse to speak of a version: the only one is `null`.

    Raises:
        StoreError: The request names another one.
    """
    version = asked.query.get("versionId")
    if version not in (None, "null"):
        raise StoreError(
            "InvalidArgument",
            "Invalid version id specified",
            ArgumentName="versionId",
            ArgumentValue=version or "",
        )


def _told(asked: Asked, stored: Stored) -> tuple[Answer, Range]:
    """The answer without the bytes, and which bytes belong to it."""
    check_reading(asked.headers, stored)
    number = asked.query.get("partNumber")
    if number is not None and "range" in asked.headers:
        raise StoreError("InvalidRequest", "Cannot specify both Range header and partNumber query parameter")
    if number is not None:
        wanted = part_of(asked.number("partNumber", 1, 1, 10_000), stored.about.parts, stored.size)
    else:
        wanted = range_of(_range(asked, stored), stored.size)
    headers = _headers(asked, stored)
    if wanted.whole:
        if asked.headers.get("x-amz-checksum-mode", "").upper() == "ENABLED":
            headers |= checksum_headers(stored)
        return Answer(200, headers), wanted
    if number is not None and stored.about.parts:
        headers["x-amz-mp-parts-count"] = str(len(stored.about.parts))
    if wanted.length:
        last = wanted.begin + wanted.length - 1
        headers["Content-Range"] = f"bytes {wanted.begin}-{last}/{stored.size}"
    return Answer(206 if wanted.length else 200, headers), wanted


def _range(asked: Asked, stored: Stored) -> str | None:
    """The range, unless the object is no longer the one that the client has a part of."""
    condition = asked.headers.get("if-range")
    if condition is not None and condition.strip('"') not in (stored.etag, http_date(stored.changed)):
        return None
    return asked.headers.get("range")


def _headers(asked: Asked, stored: Stored) -> dict[str, str]:
    about = stored.about
    kept = {
        name.title(): value
        for name, value in about.headers.items()
        if not name.startswith("x-amz-") and value is not None
    }
    special = {name: value for name, value in about.headers.items() if name.startswith("x-amz-")}
    if special.get("x-amz-storage-class") == "STANDARD":
        del special["x-amz-storage-class"]
    told = {
        "Content-Type": about.content_type,
        **kept,
        **special,
        **encryption_headers(about.headers),
        **{f"x-amz-meta-{name}": value for name, value in about.metadata.items()},
        "ETag": f'"{stored.etag}"',
        "Last-Modified": http_date(stored.changed),
        "Accept-Ranges": "bytes",
    }
    if about.tags:
        told["x-amz-tagging-count"] = str(len(about.tags))
    for name, header in _OVERRIDES.items():
        if name in asked.query:
            told[header] = asked.query[name]
    return told
