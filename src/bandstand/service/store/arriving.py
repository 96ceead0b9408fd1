"""Bytes that a client sends: streamed to a file, and checked against what the client says of them."""

from __future__ import annotations

import asyncio
import base64
import binascii
import hashlib
import re
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

from bandstand.service.store.buckets import Buckets
from bandstand.service.store.checksums import ALGORITHMS, digest, encoded
from bandstand.service.store.chunked import ChunkedReader
from bandstand.service.store.faults import StoreError
from bandstand.service.store.staging import BLOCK, Staged

Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]

LARGEST = 5 << 30
"""Bytes of an object, or a part, that is sent in one request, at most (PutObject and UploadPart)."""
LONGEST_DOCUMENT = 2 << 20
"""Bytes of a document at most: a thousand keys, or ten thousand parts, fit."""
PREFIX = "x-amz-checksum-"
DEFAULT = "CRC64NVME"
"""The checksum of an object for which the client sends none (Amazon S3 user guide, Checking integrity)."""

_HEX = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Claims:
    """What a client says of the bytes it sends.

    Args:
        size: How many; None where it does not say.
        md5: Their MD5, or None.
        sha256: Their SHA-256 in hexadecimal digits, or None.
        algorithm: The checksum that is sent with them, or the default.
        is_asked: Whether the client names the algorithm.
        checksum: Its value in base64; None where it follows as a trailer, or there is none.
        trailer: The trailer it comes in, or None.
        is_chunked: Whether they are encoded as aws-chunked.
    """

    size: int | None
    md5: bytes | None
    sha256: str | None
    algorithm: str
    is_asked: bool
    checksum: str | None
    trailer: str | None
    is_chunked: bool


def claims_of(headers: Mapping[str, str]) -> Claims:
    """Read what a request's headers say of its body.

    Raises:
        StoreError: They contradict themselves, or the body is too large.
    """
    content = headers.get("x-amz-content-sha256", "")
    is_chunked = content.startswith("STREAMING-") or "aws-chunked" in headers.get("content-encoding", "")
    size = _size(headers.get("x-amz-decoded-content-length" if is_chunked else "content-length"))
    if size is None and "transfer-encoding" not in headers:
        raise StoreError("MissingContentLength")
    if size is not None and size > LARGEST:
        raise StoreError("EntityTooLarge", ProposedSize=size, MaxSizeAllowed=LARGEST)
    sent = {
        name.removeprefix(PREFIX).upper(): value
        for name, value in headers.items()
        if name.startswith(PREFIX) and name.removeprefix(PREFIX).upper() in ALGORITHMS
    }
    trailer = headers.get("x-amz-trailer", "").strip().lower() or None
    if len(sent) + (trailer is not None) > 1:
        raise StoreError(
            "InvalidRequest",
            "Expecting a single x-amz-checksum- header. Multiple checksum Types are not allowed.",
        )
    named = next(iter(sent), None) or (trailer or "").removeprefix(PREFIX).upper()
    wished = headers.get("x-amz-sdk-checksum-algorithm", "").upper()
    algorithm = named or wished
    return Claims(
        size,
        _md5(headers.get("content-md5")),
        content if _HEX.fullmatch(content) else None,
        algorithm or DEFAULT,
        bool(algorithm),
        next(iter(sent.values()), None),
        trailer,
        is_chunked,
    )


async def arrive(receive: Receive, claims: Claims, staged: Staged, pool: Executor) -> None:
    """Write a request's body to a file, a block at a time, and check it.

    Args:
        receive: The request (ASGI).
        claims: What the client says of it.
        staged: Where it goes; finished after this.
        pool: The threads that write.

    Raises:
        StoreError: The body is not what the client says.
    """
    loop = asyncio.get_running_loop()
    reader = ChunkedReader() if claims.is_chunked else None
    sha256 = hashlib.sha256() if claims.sha256 is not None else None
    block = bytearray()

    def write(data: bytes) -> None:
        if sha256 is not None:
            sha256.update(data)
        for piece in [data] if reader is None else reader.feed(data):
            staged.write(piece)
        if staged.size > (LARGEST if claims.size is None else claims.size):
            raise StoreError("IncompleteBody" if claims.size is not None else "EntityTooLarge")

    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ConnectionResetError("the client has gone")
        block += message.get("body", b"")
        more = message.get("more_body", False)
        if len(block) >= BLOCK or not more:
            data = bytes(block)
            block.clear()
            await loop.run_in_executor(pool, write, data)
    await loop.run_in_executor(pool, staged.finish)
    _check(claims, staged, reader, sha256.hexdigest() if sha256 is not None else None)


async def read_document(receive: Receive) -> bytes:
    """Read a body that carries a document.

    Args:
        receive: The request (ASGI).

    Raises:
        StoreError: It is too long.
    """
    body = bytearray()
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ConnectionResetError("the client has gone")
        body += message.get("body", b"")
        more = message.get("more_body", False)
        if len(body) > LONGEST_DOCUMENT:
            raise StoreError("MaxMessageLengthExceeded", MaxMessageLengthBytes=LONGEST_DOCUMENT)
    return bytes(body)


def check_document(body: bytes, headers: Mapping[str, str]) -> None:
    """Check a document against what the client says of it.

    Raises:
        StoreError: It is another.
    """
    md5 = _md5(headers.get("content-md5"))
    if md5 is not None and hashlib.md5(body, usedforsecurity=False).digest() != md5:
        raise StoreError("BadDigest")
    for algorithm in ALGORITHMS:
        value = headers.get(f"{PREFIX}{algorithm.lower()}")
        if value is not None:
            computed = digest(algorithm)
            computed.update(body)
            if encoded(computed.digest()) != value:
                raise StoreError("BadDigest")


def staging_for(buckets: Buckets, claims: Claims, *algorithms: str | None) -> Staged:
    """A file for a body, with the checksums that have to be known of it.

    Args:
        buckets: The store.
        claims: What the client says of the body.
        algorithms: Further checksums.
    """
    return Staged(buckets.staging, dict.fromkeys([claims.algorithm, *filter(None, algorithms)]))


def _check(claims: Claims, staged: Staged, reader: ChunkedReader | None, sha256: str | None) -> None:
    if reader is not None and not reader.is_complete:
        raise StoreError("IncompleteBody", "The body ended within a chunk.")
    if claims.size is not None and staged.size != claims.size:
        raise StoreError("IncompleteBody")
    if claims.md5 is not None and claims.md5 != staged.md5:
        raise StoreError("BadDigest", ExpectedDigest=claims.md5.hex(), CalculatedDigest=staged.md5.hex())
    if claims.sha256 is not None and claims.sha256 != sha256:
        raise StoreError(
            "XAmzContentSHA256Mismatch",
            ClientComputedContentSHA256=claims.sha256,
            S3ComputedContentSHA256=sha256 or "",
        )
    checksum = claims.checksum
    if reader is not None and claims.trailer is not None:
        checksum = reader.trailers.get(claims.trailer)
        if checksum is None:
            raise StoreError(
                "InvalidRequest", f"The trailer {claims.trailer} was announced and did not come."
            )
    if checksum is not None and checksum != staged.checksums[claims.algorithm]:
        raise StoreError(
            "BadDigest", f"The {claims.algorithm} you specified did not match the calculated checksum."
        )


def _size(text: str | None) -> int | None:
    if text is None:
        return None
    if not re.fullmatch(r"\d{1,18}", text, re.ASCII):
        raise StoreError("InvalidArgument", "The length of the body is no number.", ArgumentValue=text)
    return int(text)


def _md5(text: str | None) -> bytes | None:
    if text is None:
        return None
    try:
        value = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise StoreError("InvalidDigest") from error
    if len(value) != 16:
        raise StoreError("InvalidDigest")
    return value
