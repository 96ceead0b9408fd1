"""Operations that list a bucket."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from bandstand.service.store.about import Stored
from bandstand.service.store.answering import Answer, document
from bandstand.service.store.asking import Asked
from bandstand.service.store.bucket_operations import owner
from bandstand.service.store.buckets import Buckets
from bandstand.service.store.faults import StoreError
from bandstand.service.store.listing import after, page
from bandstand.service.store.uploads import all_running

MOST = 1000
"""Entries of a page at most; who asks for more gets these."""


def list_objects(buckets: Buckets, asked: Asked, body: bytes) -> Answer:
    """ListObjects: as ListObjectsV2, in its older form."""
    prefix, delimiter, most, word = _view(asked, "max-keys")
    marker = asked.query.get("marker", "")
    found = page(buckets, asked.bucket, prefix, delimiter, _beyond(marker, prefix, delimiter), most)
    answer = {
        "Name": asked.bucket,
        "Prefix": word(prefix),
        "Marker": word(marker),
        "MaxKeys": most,
        "Delimiter": word(delimiter) or None,
        "EncodingType": asked.query.get("encoding-type"),
        "IsTruncated": found.following is not None,
        "NextMarker": word(found.last) if found.following is not None and delimiter else None,
        "Contents": [_entry(each, word) | {"Owner": owner(buckets)} for each in found.objects],
        "CommonPrefixes": [{"Prefix": word(each)} for each in found.prefixes],
    }
    return document("ListObjects", answer, _region(buckets, asked))


def list_objects_v2(buckets: Buckets, asked: Asked, body: bytes) -> Answer:
    """ListObjectsV2: in the order of the keys' bytes, files of jobs among them."""
    prefix, delimiter, most, word = _view(asked, "max-keys")
    token, begin = asked.query.get("continuation-token"), asked.query.get("start-after", "")
    start = _beyond(begin, prefix, delimiter) if token is None else _from_token(token)
    found = page(buckets, asked.bucket, prefix, delimiter, start, most)
    owned = {"Owner": owner(buckets)} if asked.query.get("fetch-owner") == "true" else {}
    answer = {
        "Name": asked.bucket,
        "Prefix": word(prefix),
        "MaxKeys": most,
        "Delimiter": word(delimiter) or None,
        "EncodingType": asked.query.get("encoding-type"),
        "KeyCount": len(found.objects) + len(found.prefixes),
        "IsTruncated": found.following is not None,
        "ContinuationToken": token,
        "NextContinuationToken": _token(found.following),
        "StartAfter": word(begin) or None,
        "Contents": [_entry(each, word) | owned for each in found.objects],
        "CommonPrefixes": [{"Prefix": word(each)} for each in found.prefixes],
    }
    return document("ListObjectsV2", answer, _region(buckets, asked))


def list_object_versions(buckets: Buckets, asked: Asked, body: bytes) -> Answer:
    """ListObjectVersions: every object has the one version `null`, as in a bucket without versioning."""
    prefix, delimiter, most, word = _view(asked, "max-keys")
    marker = asked.query.get("key-marker", "")
    found = page(buckets, asked.bucket, prefix, delimiter, _beyond(marker, prefix, delimiter), most)
    more = found.following is not None
    version = {"VersionId": "null", "IsLatest": True, "Owner": owner(buckets)}
    answer = {
        "Name": asked.bucket,
        "Prefix": word(prefix),
        "KeyMarker": word(marker),
        "VersionIdMarker": asked.query.get("version-id-marker", ""),
        "MaxKeys": most,
        "Delimiter": word(delimiter) or None,
        "EncodingType": asked.query.get("encoding-type"),
        "IsTruncated": more,
        "NextKeyMarker": word(found.last) if more else None,
        "NextVersionIdMarker": "null" if more else None,
        "Versions": [_entry(each, word) | version for each in found.objects],
        "CommonPrefixes": [{"Prefix": word(each)} for each in found.prefixes],
    }
    return document("ListObjectVersions", answer)


def list_multipart_uploads(buckets: Buckets, asked: Asked, body: bytes) -> Answer:
    """ListMultipartUploads: those that are neither completed nor aborted."""
    prefix, delimiter, most, word = _view(asked, "max-uploads")
    key_marker, id_marker = asked.query.get("key-marker", ""), asked.query.get("upload-id-marker", "")
    there = all_running(buckets, asked.bucket)
    passed = {each.id: place for place, each in enumerate(there)}.get(id_marker, -1) if key_marker else -1
    left = [
        each
        for place, each in enumerate(there)
        if each.key.startswith(prefix)
        and (each.key.encode() > key_marker.encode() or (each.key == key_marker and -1 < passed < place))
    ]
    shown: list[dict[str, Any]] = []
    prefixes: list[str] = []
    last: tuple[str, str] | None = None
    is_truncated = False
    for each in left:
        end = each.key.find(delimiter, len(prefix)) if delimiter else -1
        common = each.key[: end + len(delimiter)] if end >= 0 else None
        if common is not None and common in (*prefixes[-1:], key_marker):
            continue
        if len(shown) + len(prefixes) >= most:
            is_truncated = True
            break
        if common is not None:
            prefixes.append(common)
            last = (common, "")
            continue
        last = (each.key, each.id)
        shown.append(
            {
                "UploadId": each.id,
                "Key": word(each.key),
                "Initiated": each.begun,
                "StorageClass": "STANDARD",
                "Owner": owner(buckets),
                "Initiator": owner(buckets),
                "ChecksumAlgorithm": each.algorithm,
                "ChecksumType": each.kind,
            }
        )
    answer = {
        "Bucket": asked.bucket,
        "KeyMarker": word(key_marker),
        "UploadIdMarker": id_marker,
        "NextKeyMarker": word(last[0]) if is_truncated and last else None,
        "NextUploadIdMarker": last[1] if is_truncated and last else None,
        "Prefix": word(prefix) or None,
        "Delimiter": word(delimiter) or None,
        "MaxUploads": most,
        "IsTruncated": is_truncated,
        "EncodingType": asked.query.get("encoding-type"),
        "Uploads": shown,
        "CommonPrefixes": [{"Prefix": word(each)} for each in prefixes],
    }
    return document("ListMultipartUploads", answer)


def _view(asked: Asked, limit: str) -> tuple[str, str, int, Callable[[str], str]]:
    """Prefix, delimiter, most entries, and how words are written."""
    encoding = asked.query.get("encoding-type")
    if encoding not in (None, "", "url"):
        raise StoreError(
            "InvalidArgument", "Invalid Encoding Method specified in Request", ArgumentName="encoding-type"
        )
    most = min(asked.number(limit, MOST), MOST)
    word: Callable[[str], str] = (lambda text: quote(text, safe="/*-._")) if encoding else str
    return asked.query.get("prefix", ""), asked.query.get("delimiter", ""), most, word


def _beyond(marker: str, prefix: str, delimiter: str) -> bytes:
    """Where a page begins that follows a marker, which may be a common prefix of the page before."""
    if not marker:
        return b""
    data = marker.encode()
    is_common = delimiter and marker.startswith(prefix) and marker.find(delimiter, len(prefix)) >= 0
    return after(data) if is_common and marker.endswith(delimiter) else data + b"\0"


def _token(start: bytes | None) -> str | None:
    return None if start is None else base64.urlsafe_b64encode(b"1" + start).decode()


def _from_token(token: str) -> bytes:
    try:
        data = base64.urlsafe_b64decode(token.encode())
    except (binascii.Error, ValueError):
        data = b""
    if not data.startswith(b"1"):
        raise StoreError(
            "InvalidArgument",
            "The continuation token provided is incorrect",
            ArgumentName="continuation-token",
        )
    return data[1:]


def _entry(stored: Stored, word: Callable[[str], str]) -> dict[str, Any]:
    checksum = stored.about.checksum
    return {
        "Key": word(stored.key),
        "LastModified": stored.changed,
        "ETag": f'"{stored.etag}"',
        "Size": stored.size,
        "StorageClass": stored.about.headers.get("x-amz-storage-class", "STANDARD"),
        "ChecksumAlgorithm": [checksum.algorithm] if checksum else None,
        "ChecksumType": checksum.kind if checksum else None,
    }


def _region(buckets: Buckets, asked: Asked) -> dict[str, str]:
    return {"x-amz-bucket-region": buckets.get(asked.bucket).region}
