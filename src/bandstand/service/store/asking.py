"""A request to S3, taken apart."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qsl, unquote_to_bytes

from bandstand.service.store.buckets import Buckets
from bandstand.service.store.faults import StoreError

_SCOPE = re.compile(r"Credential=[^/,\s]+/\d{8}/([^/,\s]+)/s3/aws4_request")
_NAMED = re.compile(r"(?P<bucket>.+?)\.(?:s3\.)?localhost", re.IGNORECASE)
"""A host whose name begins with a bucket's."""


@dataclass(frozen=True)
class Asked:
    """A request to S3.

    Args:
        method: `GET`, `PUT`, ...
        bucket: The bucket; empty where it names none.
        key: The key; empty where it names none.
        query: The query's names and values.
        headers: The headers by their names in lower case.
        region: The region it is signed for; empty where it is not.
    """

    method: str
    bucket: str
    key: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    region: str = ""

    @property
    def level(self) -> str:
        """What it is about: the `service`, a `bucket`, or an `object`."""
        return "object" if self.key else "bucket" if self.bucket else "service"

    @property
    def resource(self) -> str:
        """The path of what it is about."""
        return f"/{self.bucket}/{self.key}" if self.key else f"/{self.bucket}"

    def number(self, name: str, default: int, least: int = 0, most: int = 2**31 - 1) -> int:
        """A whole number of the query.

        Args:
            name: Its name.
            default: The number where the query has none.
            least: The least that is allowed.
            most: The greatest that is allowed.

        Raises:
            StoreError: It is no such number.
        """
        text = self.query.get(name)
        if not text:
            return default
        if not re.fullmatch(r"-?\d{1,10}", text, re.ASCII) or not least <= int(text) <= most:
            raise StoreError(
                "InvalidArgument",
                f"Argument {name} must be an integer between {least} and {most}",
                ArgumentName=name,
                ArgumentValue=text,
            )
        return int(text)


def asked(scope: Mapping[str, Any]) -> Asked:
    """Take a request apart.

    Args:
        scope: The request (ASGI).

    Raises:
        StoreError: Path or query are no text.
    """
    headers = _headers(scope["headers"])
    raw = scope.get("raw_path") or scope["path"].encode()
    bucket = _virtual(headers.get("host", ""))
    path = _decoded(raw).removeprefix("/")
    key = path
    if not bucket:
        bucket, _, key = path.partition("/")
    query = _query(scope.get("query_string", b""))
    credential = headers.get("authorization", "") or f"Credential={query.get('X-Amz-Credential', '')}"
    found = _SCOPE.search(credential)
    return Asked(scope["method"], bucket, key, query, headers, found[1] if found else "")


def names_bucket(scope: Mapping[str, Any], buckets: Buckets) -> bool:
    """Whether a request that does not say which service it is for asks for a bucket that is there.

    Args:
        scope: The request (ASGI).
        buckets: The store.
    """
    try:
        return buckets.find(asked(scope).bucket) is not None
    except StoreError:
        return False


def _headers(pairs: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    headers: dict[str, str] = {}
    for raw_name, raw_value in pairs:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
        headers[name] = f"{headers[name]},{value}" if name in headers else value
    return headers


def _virtual(host: str) -> str:
    """The bucket that a host's name begins with, or nothing."""
    name = host.rsplit(":", 1)[0] if not host.endswith("]") else host
    found = _NAMED.fullmatch(name.rstrip("."))
    return found["bucket"].lower() if found and found["bucket"].lower() != "s3" else ""


def _decoded(raw: bytes) -> str:
    try:
        return unquote_to_bytes(raw).decode()
    except UnicodeDecodeError as error:
        raise StoreError("InvalidURI") from error


def _query(text: bytes) -> dict[str, str]:
    try:
        pairs = parse_qsl(text.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=100)
    except ValueError as error:  # UnicodeDecodeError is one
        raise StoreError("InvalidURI") from error
    return dict(pairs)


def check_expiry(query: Mapping[str, str]) -> None:
    """Check the time of a presigned address, whose signature is not checked.

    Raises:
        StoreError: It has passed.
    """
    try:
        if "X-Amz-Expires" in query:
            begun = datetime.strptime(query.get("X-Amz-Date", ""), "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
            end = begun + timedelta(seconds=int(query["X-Amz-Expires"]))
        elif "Expires" in query and "Signature" in query:
            end = datetime.fromtimestamp(int(query["Expires"]), UTC)
        else:
            return
    except (ValueError, OverflowError) as error:
        raise StoreError("AccessDenied", "Query-string authentication needs a date and an expiry.") from error
    if datetime.now(UTC) > end:
        raise StoreError("AccessDenied", "Request has expired", Expires=end.strftime("%Y-%m-%dT%H:%M:%SZ"))
