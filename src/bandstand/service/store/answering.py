"""Answers of S3."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from email.utils import formatdate

from bandstand.service.store.about import Stored
from bandstand.service.store.xml_documents import write


@dataclass(frozen=True)
class Span:
    """Bytes of an open file, which whoever sends them closes.

    Args:
        descriptor: The file.
        begin: The first byte.
        length: How many.
    """

    descriptor: int
    begin: int
    length: int


@dataclass(frozen=True)
class Answer:
    """An answer.

    Args:
        status: The HTTP status.
        headers: Its headers; that of the length is added when it is sent.
        body: What it carries.
    """

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | Span = b""


def document(
    operation: str, answer: Mapping[str, object], headers: Mapping[str, str] | None = None
) -> Answer:
    """An answer that carries a document.

    Args:
        operation: The operation.
        answer: The members of its output that stand in the body.
        headers: Those of its output that are headers.
    """
    return Answer(200, {"Content-Type": "application/xml", **(headers or {})}, write(operation, answer))


def http_date(nanoseconds: int) -> str:
    """A time as headers have it."""
    return formatdate(nanoseconds // 10**9, usegmt=True)


def checksum_headers(stored: Stored) -> dict[str, str]:
    """The headers that tell an object's checksum."""
    checksum = stored.about.checksum
    if checksum is None:
        return {}
    name = f"x-amz-checksum-{checksum.algorithm.lower()}"
    return {name: checksum.value, "x-amz-checksum-type": checksum.kind}


ENCRYPTION = "x-amz-server-side-encryption"


def encryption_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers that tell what encryption an object was stored with.

    Files of this machine are not encrypted by the store; what a client asks for is kept and told, so that it
    finds what it expects.

    Args:
        headers: Those kept with the object.
    """
    told = {name: value for name, value in headers.items() if name.startswith(ENCRYPTION)}
    return told or {ENCRYPTION: "AES256"}
