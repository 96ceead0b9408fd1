"""Operations on the tags of objects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from bandstand.service.store.about import Stored
from bandstand.service.store.answering import Answer, document
from bandstand.service.store.asking import Asked
from bandstand.service.store.buckets import Buckets
from bandstand.service.store.faults import StoreError
from bandstand.service.store.objects import describe, opened
from bandstand.service.store.reading_operations import check_version
from bandstand.service.store.xml_documents import read

MOST_TAGS = 10
"""Tags of an object at most; a name has up to 128 characters and a value up to 256 (S3, PutObjectTagging)."""


def check_tags(tags: Mapping[str, str]) -> None:
    """Check tags against S3's limits.

    Raises:
        StoreError: There are too many of them, or one is too long.
    """
    if len(tags) > MOST_TAGS:
        raise StoreError("InvalidTag", "Object tags cannot be greater than 10")
    for name, value in tags.items():
        if not 1 <= len(name) <= 128:
            raise StoreError("InvalidTag", "The TagKey you have provided is invalid", TagKey=name)
        if len(value) > 256:
            raise StoreError("InvalidTag", "The TagValue you have provided is invalid", TagValue=value)


def get_object_tagging(buckets: Buckets, asked: Asked, body: bytes) -> Answer:
    """GetObjectTagging: the object's tags."""
    stored = _stored(buckets, asked)
    tags = [{"Key": name, "Value": value} for name, value in stored.about.tags.items()]
    return document("GetObjectTagging", {"TagSet": tags})


def put_object_tagging(buckets: Buckets, asked: Asked, body: bytes) -> Answer:
    """PutObjectTagging: in place of all tags."""
    found = read("PutObjectTagging", body)["TagSet"]
    if any("Key" not in tag or "Value" not in tag for tag in found):
        raise StoreError("MalformedXML")
    tags = {tag["Key"]: tag["Value"] for tag in found}
    if len(tags) < len(found):
        raise StoreError("InvalidTag", "Cannot provide multiple Tags with the same key")
    check_tags(tags)
    with buckets.lock:
        stored = _stored(buckets, asked)
        describe(buckets, stored, replace(stored.about, tags=tags))
    return Answer(200)


def delete_object_tagging(buckets: Buckets, asked: Asked, body: bytes) -> Answer:
    """DeleteObjectTagging: all tags of the object."""
    with buckets.lock:
        stored = _stored(buckets, asked)
        describe(buckets, stored, replace(stored.about, tags={}))
    return Answer(204)


def _stored(buckets: Buckets, asked: Asked) -> Stored:
    check_version(asked)
    with opened(buckets, asked.bucket, asked.key) as (stored, _):
        return stored
