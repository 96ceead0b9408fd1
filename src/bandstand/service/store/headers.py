"""What the headers `x-amz-...` of a request to S3 do here; one that is in no table is refused."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from bandstand.service.store.checksums import ALGORITHMS
from bandstand.service.store.faults import StoreError

_OF_SIGNATURES = (
    "x-amz-date",
    "x-amz-security-token",
    "x-amz-user-agent",
    "x-amz-algorithm",
    "x-amz-region-set",
)

HONOURED: Mapping[str, str] = MappingProxyType(
    {
        **{f"x-amz-checksum-{name.lower()}": "checked, kept, and told" for name in ALGORITHMS},
        "x-amz-checksum-algorithm": "the checksum that is made and kept",
        "x-amz-checksum-type": "of the parts, or of the whole",
        "x-amz-checksum-mode": "whether the checksum is told",
        "x-amz-sdk-checksum-algorithm": "the checksum that comes with the body",
        "x-amz-trailer": "the checksum that follows the body",
        "x-amz-decoded-content-length": "the length of a body in chunks",
        "x-amz-content-sha256": "checked where it is a digest; signatures are not",
        "x-amz-mp-object-size": "checked when an upload is completed",
        "x-amz-copy-source": "what is copied",
        "x-amz-copy-source-range": "the bytes that are copied as a part",
        **{
            f"x-amz-copy-source-if-{word}": "a condition on what is copied"
            for word in ("match", "none-match", "modified-since", "unmodified-since")
        },
        "x-amz-metadata-directive": "whether metadata is taken over or given anew",
        "x-amz-tagging-directive": "whether tags are taken over or given anew",
        "x-amz-tagging": "the object's tags",
        "x-amz-object-attributes": "what is told of an object",
        "x-amz-expected-bucket-owner": "refused unless it is this service's account",
        "x-amz-source-expected-bucket-owner": "refused unless it is this service's account",
        "x-amz-acl": "`private` and the bucket owner's own; others are refused, as in buckets without ACLs",
        "x-amz-object-ownership": "`BucketOwnerEnforced`; others are refused",
        "x-amz-bucket-object-lock-enabled": "refused where it is true",
    }
)
"""Headers that do what they do in S3."""

ACCEPTED: Mapping[str, str] = MappingProxyType(
    {
        "x-amz-storage-class": "kept and told; all files lie on the same disk",
        "x-amz-website-redirect-location": "kept and told; there are no websites here",
        "x-amz-server-side-encryption": "kept and told; files are as safe as the disk they lie on",
        "x-amz-server-side-encryption-aws-kms-key-id": "kept and told",
        "x-amz-server-side-encryption-context": "kept and told",
        "x-amz-server-side-encryption-bucket-key-enabled": "kept and told",
        "x-amz-request-payer": "nobody pays here",
        "x-amz-mfa": "no bucket asks for it",
        "x-amz-bypass-governance-retention": "nothing is retained here",
        "x-amz-optional-object-attributes": "no object has a restore status",
        "x-amz-max-parts": "the answer tells how many parts there are, not each of them",
        "x-amz-part-number-marker": "the answer tells how many parts there are, not each of them",
        **dict.fromkeys(_OF_SIGNATURES, "of the signature"),
    }
)
"""Headers that are accepted without an effect of their own."""

REFUSED: Mapping[str, str] = MappingProxyType(
    {
        "x-amz-server-side-encryption-customer-*": "files are not encrypted by the store",
        "x-amz-copy-source-server-side-encryption-customer-*": "files are not encrypted by the store",
        "x-amz-object-lock-*": "nothing is locked here",
        "x-amz-grant-*": "the buckets have no ACLs",
        "x-amz-write-offset-bytes": "of directory buckets",
        "x-amz-if-match-size": "of directory buckets",
        "x-amz-if-match-last-modified-time": "of directory buckets",
        "x-amz-if-match-initiated-time": "of directory buckets",
        "x-amz-bucket-namespace": "names of buckets are this home's own",
        "x-amz-object-annotation-directive": "objects have no annotations here",
    }
)
"""Headers that are refused, as every other one that is in no table; `*` stands for any end."""

_FREE = ("x-amz-meta-",)
_ENCRYPTIONS = ("AES256", "aws:kms", "aws:kms:dsse")
_CLASSES = (
    "STANDARD",
    "REDUCED_REDUNDANCY",
    "STANDARD_IA",
    "ONEZONE_IA",
    "INTELLIGENT_TIERING",
    "GLACIER_IR",
)
_GRANT = re.compile(r"x-amz-grant-.*")


def check_headers(headers: Mapping[str, str], account: str) -> None:
    """Check that a request asks for nothing that is not there.

    Args:
        headers: The request's, by names in lower case.
        account: The account that owns all buckets.

    Raises:
        StoreError: It does.
    """
    for name, value in headers.items():
        if not name.startswith("x-amz-") or name.startswith(_FREE):
            continue
        if _GRANT.fullmatch(name):
            raise StoreError("AccessControlListNotSupported")
        if name not in HONOURED and name not in ACCEPTED:
            raise StoreError("NotImplemented", Header=name)
        if name.endswith("expected-bucket-owner") and value != account:
            raise StoreError("AccessDenied")
    _check_word(headers, "x-amz-object-ownership", ("BucketOwnerEnforced",))
    _check_word(headers, "x-amz-server-side-encryption", _ENCRYPTIONS)
    _check_word(headers, "x-amz-storage-class", _CLASSES)
    if headers.get("x-amz-bucket-object-lock-enabled", "").lower() == "true":
        raise StoreError("NotImplemented", Header="x-amz-bucket-object-lock-enabled")
    if headers.get("x-amz-acl", "private") not in (
        "private",
        "bucket-owner-full-control",
        "bucket-owner-read",
    ):
        raise StoreError("AccessControlListNotSupported")


def _check_word(headers: Mapping[str, str], name: str, words: tuple[str, ...]) -> None:
    value = headers.get(name)
    if value is not None and value not in words:
        raise StoreError(
            "InvalidArgument",
            f"{name} is one of {', '.join(words)} in this local S3.",
            ArgumentName=name,
            ArgumentValue=value,
        )
