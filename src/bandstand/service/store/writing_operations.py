"""Operations that store, copy and remove objects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any
from urllib.parse import parse_qsl, unquote_to_bytes

from bandstand.service.store.about import DEFAULT_TYPE, About, Checksum, Stored
from bandstand.service.store.answering import (
    Answer,
    checksum_headers,
    document,
    encryption_headers,
)
from bandstand.service.store.arriving import DEFAULT, LARGEST, Claims
from bandstand.service.store.asking import Asked
from bandstand.service.store.buckets import Buckets
from bandstand.service.store.conditions import check_reading, check_writing
from bandstand.service.store.faults import StoreError
from bandstand.service.store.objects import opened, put, remove
from bandstand.service.store.reading_operations import check_version
from bandstand.service.store.staging import Staged
from bandstand.service.store.tagging_operations import check_tags
from bandstand.service.store.xml_documents import read

LARGEST_METADATA = 2048
"""Bytes of a user's metadata, names and values, at most (Amazon S3 user guide, Working with metadata)."""
MOST_DELETED = 1000

_KEPT = (
    "cache-control",
    "content-disposition",
    "content-encoding",
    "content-language",
    "expires",
    "x-amz-storage-class",
    "x-amz-website-redirect-location",
    "x-amz-server-side-encryption",
    "x-amz-server-side-encryption-aws-kms-key-id",
    "x-amz-server-side-encryption-bucket-key-enabled",
    "x-amz-server-side-encryption-context",
)


def about_of(headers: Mapping[str, str]) -> About:
    """What is to be kept beside an object, by the headers of the request that stores it.

    Raises:
        StoreError: They are too large.
    """
    metadata = {
        name.removeprefix("x-amz-meta-"): value
        for name, value in headers.items()
        if name.startswith("x-amz-meta-")
    }
    size = sum(len(name) + len(value.encode("latin-1", "replace")) for name, value in metadata.items())
    if size > LARGEST_METADATA:
        raise StoreError("MetadataTooLarge", Size=size, MaxSizeAllowed=LARGEST_METADATA)
    kept = {name: headers[name] for name in _KEPT if headers.get(name)}
    encodings = [each.strip() for each in kept.pop("content-encoding", "").split(",")]
    plain = ",".join(each for each in encodings if each and each != "aws-chunked")
    if plain:
        kept["content-encoding"] = plain
    tags = dict(parse_qsl(headers.get("x-amz-tagging", ""), keep_blank_values=True))
    check_tags(tags)
    return About(headers.get("content-type") or DEFAULT_TYPE, kept, metadata, tags)


def put_object(buckets: Buckets, asked: Asked, staged: Staged, claims: Claims) -> Answer:
    """PutObject: up to 5 GiB, acknowledged when the file has its name."""
    checksum = Checksum(claims.algorithm, staged.checksums[claims.algorithm])
    about = replace(about_of(asked.headers), checksum=checksum)
    stored = put(
        buckets,
        asked.bucket,
        asked.key,
        staged,
        about,
        condition=partial(check_writing, asked.headers),
    )
    told = {"ETag": f'"{stored.etag}"', **checksum_headers(stored), **encryption_headers(about.headers)}
    return Answer(200, told)


def copy_object(buckets: Buckets, asked: Asked, body: bytes) -> Answer:
    """CopyObject: up to 5 GiB, with conditions on both objects."""
    bucket, key = copy_source(asked)
    buckets.get(asked.bucket)
    replaced = _directive(asked, "x-amz-metadata-directive")
    retagged = _directive(asked, "x-amz-tagging-directive")
    given = about_of(asked.headers)
    with opened(buckets, bucket, key) as (source, descriptor):
        check_reading(asked.headers, source, "x-amz-copy-source-")
        if source.size > LARGEST:
            raise StoreError(
                "InvalidRequest",
                "The specified copy source is larger than the maximum allowable size for a copy source:"
                f" {LARGEST}",
            )
        changes = replaced or any(name.startswith("x-amz-") for name in given.headers)
        if (bucket, key) == (asked.bucket, asked.key) and not changes:
            raise StoreError(
                "InvalidRequest",
                "This copy request is illegal because it is trying to copy an object to itself without"
                " changing the object's metadata, storage class, website redirect location or encryption"
                " attributes.",
            )
        algorithm = _algorithm(asked, source)
        with Staged(buckets.staging, [algorithm]) as staged:
            staged.copy(descriptor, 0, source.size)
            staged.finish()
            about = _copied(source.about, given, replaced, retagged)
            about = replace(about, parts=(), checksum=Checksum(algorithm, staged.checksums[algorithm]))
            stored = put(
                buckets,
                asked.bucket,
                asked.key,
                staged,
                about,
                condition=partial(check_writing, asked.headers),
            )
    result = {
        "ETag": f'"{stored.etag}"',
        "LastModified": stored.changed,
        "ChecksumType": "FULL_OBJECT",
        f"Checksum{algorithm}": staged.checksums[algorithm],
    }
    return document("CopyObject", result, encryption_headers(about.headers))


def delete_object(buckets: Buckets, asked: Asked, body: bytes) -> Answer:
    """DeleteObject: the file; its folders stay, since a job may be about to write to them."""
    check_version(asked)
    remove(buckets, asked.bucket, asked.key, partial(check_writing, asked.headers))
    return Answer(204)


def delete_objects(buckets: Buckets, asked: Asked, body: bytes) -> Answer:
    """DeleteObjects: up to 1,000, each by itself."""
    buckets.get(asked.bucket)
    wish = read("DeleteObjects", body)
    named = wish["Objects"]
    if not 1 <= len(named) <= MOST_DELETED or any("Key" not in each for each in named):
        raise StoreError("MalformedXML")
    deleted: list[dict[str, Any]] = []
    errors: list[dict[str, Any]] = []
    for each in named:
        version = {"VersionId": each["VersionId"]} if each.get("VersionId") else {}
        condition = {"if-match": each["ETag"]} if each.get("ETag") else {}
        try:
            if version.get("VersionId", "null") != "null":
                raise StoreError("NoSuchVersion")
            remove(buckets, asked.bucket, each["Key"], partial(check_writing, condition))
        except StoreError as error:
            errors.append({"Key": each["Key"], **version, "Code": error.code, "Message": error.message})
        else:
            deleted.append({"Key": each["Key"], **version})
    return document("DeleteObjects", {"Deleted": [] if wish.get("Quiet") else deleted, "Errors": errors})


def copy_source(asked: Asked) -> tuple[str, str]:
    """Bucket and key of the object that is to be copied.

    Raises:
        StoreError: The request names none, or a version.
    """
    text, _, version = asked.headers["x-amz-copy-source"].partition("?versionId=")
    if version not in ("", "null"):
        raise StoreError("InvalidArgument", "Invalid version id specified", ArgumentName="versionId")
    try:
        bucket, _, key = unquote_to_bytes(text).decode().removeprefix("/").partition("/")
    except UnicodeDecodeError as error:
        raise StoreError("InvalidURI") from error
    if not bucket or not key:
        raise StoreError(
            "InvalidArgument",
            "Copy Source must mention the source bucket and key: sourcebucket/sourcekey",
            ArgumentName="x-amz-copy-source",
            ArgumentValue=text,
        )
    return bucket, key


def _directive(asked: Asked, name: str) -> bool:
    """Whether something of the copy is given anew rather than taken over."""
    value = asked.headers.get(name, "COPY").upper()
    if value not in ("COPY", "REPLACE"):
        raise StoreError("InvalidArgument", f"Unknown {name} value.", ArgumentName=name, ArgumentValue=value)
    return value == "REPLACE"


def _algorithm(asked: Asked, source: Stored) -> str:
    wished = asked.headers.get("x-amz-checksum-algorithm", "").upper()
    return wished or (source.about.checksum.algorithm if source.about.checksum else DEFAULT)


def _copied(source: About, given: About, replaced: bool, retagged: bool) -> About:
    """What is kept beside a copy: storage class and encryption are always those of the request."""
    own = {name: value for name, value in given.headers.items() if name.startswith("x-amz-")}
    if replaced:
        about = given
    else:
        taken = {name: value for name, value in source.headers.items() if not name.startswith("x-amz-")}
        about = replace(source, headers={**taken, **own})
    return replace(about, tags=given.tags if retagged else source.tags)
