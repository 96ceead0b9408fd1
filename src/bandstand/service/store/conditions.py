"""Conditions of a request on the object that is there (RFC 9110, section 13)."""

from __future__ import annotations

from collections.abc import Mapping
from email.utils import parsedate_to_datetime

from bandstand.service.store.about import Stored
from bandstand.service.store.faults import StoreError

_SECOND = 10**9


def check_reading(headers: Mapping[str, str], stored: Stored, prefix: str = "") -> None:
    """Check the conditions of a request that reads an object.

    Args:
        headers: The request's, by names in lower case.
        stored: The object.
        prefix: What comes before the conditions' names: `x-amz-copy-source-` where an object is copied.

    Raises:
        StoreError: The client has the object as it is (`NotModified`), or a condition does not hold.
    """
    match, none_match = headers.get(f"{prefix}if-match"), headers.get(f"{prefix}if-none-match")
    since, unmodified = headers.get(f"{prefix}if-modified-since"), headers.get(f"{prefix}if-unmodified-since")
    if match is not None:
        if not _names(match, stored):
            raise StoreError("PreconditionFailed", Condition="If-Match")
    elif unmodified is not None and _is_newer(stored, unmodified) is True:
        raise StoreError("PreconditionFailed", Condition="If-Unmodified-Since")
    known = False
    if none_match is not None:
        known = _names(none_match, stored)
    elif since is not None:
        known = _is_newer(stored, since) is False
    if known:
        raise StoreError("PreconditionFailed" if prefix else "NotModified", Condition="If-None-Match")


def check_writing(headers: Mapping[str, str], stored: Stored | None) -> None:
    """Check the conditions of a request that replaces or removes an object.

    Args:
        headers: The request's, by names in lower case.
        stored: The object that is there, or None.

    Raises:
        StoreError: A condition does not hold, or is none that S3 has for writing.
    """
    match, none_match = headers.get("if-match"), headers.get("if-none-match")
    if none_match is not None and none_match != "*":
        raise StoreError("NotImplemented", Header="If-None-Match")
    if none_match is not None and stored is not None:
        raise StoreError("PreconditionFailed", Condition="If-None-Match")
    if match is not None and stored is None:
        raise StoreError("NoSuchKey")
    if match is not None and stored is not None and not _names(match, stored):
        raise StoreError("PreconditionFailed", Condition="If-Match")


def _names(text: str, stored: Stored) -> bool:
    tags = [tag.strip().removeprefix("W/").strip('"') for tag in text.split(",")]
    return "*" in tags or stored.etag in tags


def _is_newer(stored: Stored, text: str) -> bool | None:
    """Whether an object was stored after a date; None where the text is none and counts for nothing."""
    try:
        return stored.changed // _SECOND > int(parsedate_to_datetime(text).timestamp())
    except (ValueError, OverflowError):
        return None
