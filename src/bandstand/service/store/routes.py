"""Which operation a request to S3 asks for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from bandstand.service.store import (
    bucket_operations,
    listing_operations,
    reading_operations,
    tagging_operations,
    upload_operations,
    writing_operations,
)
from bandstand.service.store.asking import Asked
from bandstand.service.store.faults import StoreError

Handler = Callable[..., Any]
"""Answers an operation; takes the store, the request, and its body: a document or bytes that have arrived."""

_SUBRESOURCES = (
    "accelerate", "acl", "analytics", "attributes", "cors", "delete", "encryption", "intelligent-tiering",
    "inventory", "legal-hold", "lifecycle", "location", "logging", "metadataConfiguration", "metadataTable",
    "metrics", "notification", "object-lock", "ownershipControls", "partNumber", "policy", "policyStatus",
    "publicAccessBlock", "renameObject", "replication", "requestPayment", "restore", "retention", "select",
    "session", "tagging", "torrent", "uploadId", "uploads", "versioning", "versions", "website",
)  # fmt: skip
"""What a query can name of a bucket or an object, beside its content."""

ROUTES: Mapping[tuple[str, str, str], Handler] = {
    ("GET", "service", ""): bucket_operations.list_buckets,
    ("PUT", "bucket", ""): bucket_operations.create_bucket,
    ("HEAD", "bucket", ""): bucket_operations.head_bucket,
    ("DELETE", "bucket", ""): bucket_operations.delete_bucket,
    ("GET", "bucket", ""): listing_operations.list_objects,
    ("GET", "bucket", "list-type"): listing_operations.list_objects_v2,
    ("GET", "bucket", "versions"): listing_operations.list_object_versions,
    ("GET", "bucket", "uploads"): listing_operations.list_multipart_uploads,
    ("GET", "bucket", "location"): bucket_operations.get_bucket_location,
    ("GET", "bucket", "versioning"): bucket_operations.get_bucket_versioning,
    ("GET", "bucket", "policy"): bucket_operations.get_bucket_policy,
    ("GET", "bucket", "tagging"): bucket_operations.get_bucket_tagging,
    ("GET", "bucket", "acl"): bucket_operations.get_acl,
    ("POST", "bucket", "delete"): writing_operations.delete_objects,
    ("GET", "object", ""): reading_operations.get_object,
    ("GET", "object", "partNumber"): reading_operations.get_object,
    ("HEAD", "object", ""): reading_operations.head_object,
    ("HEAD", "object", "partNumber"): reading_operations.head_object,
    ("GET", "object", "attributes"): reading_operations.get_object_attributes,
    ("GET", "object", "acl"): bucket_operations.get_acl,
    ("PUT", "object", ""): writing_operations.put_object,
    ("PUT", "object", "copy"): writing_operations.copy_object,
    ("DELETE", "object", ""): writing_operations.delete_object,
    ("GET", "object", "tagging"): tagging_operations.get_object_tagging,
    ("PUT", "object", "tagging"): tagging_operations.put_object_tagging,
    ("DELETE", "object", "tagging"): tagging_operations.delete_object_tagging,
    ("POST", "object", "uploads"): upload_operations.create_multipart_upload,
    ("PUT", "object", "partNumber,uploadId"): upload_operations.upload_part,
    ("PUT", "object", "copy,partNumber,uploadId"): upload_operations.upload_part_copy,
    ("GET", "object", "uploadId"): upload_operations.list_parts,
    ("POST", "object", "uploadId"): upload_operations.complete_multipart_upload,
    ("DELETE", "object", "uploadId"): upload_operations.abort_multipart_upload,
}

"""The operation of a method, of what it is about, and of the words of its query."""


def route(asked: Asked) -> Handler:
    """Find the operation that a request asks for.

    Args:
        asked: The request.

    Raises:
        StoreError: It is none that this store has.
    """
    words = [name for name in _SUBRESOURCES if name in asked.query]
    if asked.level == "bucket" and asked.query.get("list-type") == "2":
        words.append("list-type")
    if asked.method == "PUT" and "x-amz-copy-source" in asked.headers and asked.level == "object":
        words.append("copy")
    found = ROUTES.get((asked.method, asked.level, ",".join(sorted(words))))
    if found is not None:
        return found
    if words:
        raise StoreError(
            "NotImplemented", f"{asked.method} ?{'&'.join(words)} is not answered by this local S3."
        )
    raise StoreError("MethodNotAllowed", Method=asked.method, ResourceType=asked.level.upper())
