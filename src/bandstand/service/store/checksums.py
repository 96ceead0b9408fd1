"""The checksums of S3's clients."""

from __future__ import annotations

import base64
import hashlib
import zlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

from bandstand.service.store.faults import StoreError

COMPOSITE, FULL = "COMPOSITE", "FULL_OBJECT"


class Digest(Protocol):
    """What takes bytes and has a digest of them."""

    def update(self, data: bytes, /) -> Any:
        """Take the next bytes."""

    def digest(self) -> bytes:
        """The digest of all bytes so far."""


class _Crc:
    def __init__(self, step: Callable[[bytes, int], int], length: int) -> None:
        self._step = step
        self._length = length
        self._value = 0

    def update(self, data: bytes) -> None:
        self._value = self._step(data, self._value)

    def digest(self) -> bytes:
        return self._value.to_bytes(self._length, "big")


class _XxHash:
    def __init__(self, name: str) -> None:
        from awscrt.checksums import XXHash

        self._hash = getattr(XXHash, f"new_{name}")()

    def update(self, data: bytes) -> None:
        self._hash.update(data)

    def digest(self) -> bytes:
        return bytes(self._hash.finalize())


def _crt(name: str, data: bytes, value: int) -> int:
    from awscrt import checksums

    return int(getattr(checksums, name)(data, value))


_DIGESTS: Mapping[str, Callable[[], Digest]] = {
    "CRC32": lambda: _Crc(zlib.crc32, 4),
    "CRC32C": lambda: _Crc(partial(_crt, "crc32c"), 4),
    "CRC64NVME": lambda: _Crc(partial(_crt, "crc64nvme"), 8),
    "SHA1": partial(hashlib.sha1, usedforsecurity=False),
    "SHA256": hashlib.sha256,
    "SHA512": hashlib.sha512,
    "MD5": partial(hashlib.md5, usedforsecurity=False),
    "XXHASH64": partial(_XxHash, "xxhash64"),
    "XXHASH3": partial(_XxHash, "xxhash3_64"),
    "XXHASH128": partial(_XxHash, "xxhash3_128"),
}

ALGORITHMS = tuple(_DIGESTS)
"""Every algorithm, as the API spells it; its header is `x-amz-checksum-` and that in lower case."""

_WHOLE_ONLY = ("CRC64NVME",)
_COMPOSITE_ONLY = ("SHA1", "SHA256", "SHA512", "MD5", "XXHASH64", "XXHASH3", "XXHASH128")


def digest(algorithm: str) -> Digest:
    """A new digest.

    Raises:
        StoreError: S3 has no such algorithm.
    """
    if algorithm not in _DIGESTS:
        raise StoreError(
            "InvalidRequest",
            "Checksum algorithm provided is unsupported. Please try again with any of the valid types: "
            + str(list(ALGORITHMS)).replace("'", ""),
        )
    return _DIGESTS[algorithm]()


def encoded(value: bytes) -> str:
    """A digest as the API writes it."""
    return base64.b64encode(value).decode()


def kind_for_parts(algorithm: str, wish: str | None) -> str:
    """What kind of checksum an upload in parts gets (Amazon S3 user guide, Checking object integrity).

    Args:
        algorithm: The algorithm.
        wish: The kind that was asked for, or None.

    Raises:
        StoreError: The algorithm has no checksum of that kind.
    """
    kind = wish or (FULL if algorithm in _WHOLE_ONLY else COMPOSITE)
    if kind not in (COMPOSITE, FULL):
        raise StoreError("InvalidRequest", f"Value for x-amz-checksum-type header is invalid: {kind}")
    if (kind == FULL and algorithm in _COMPOSITE_ONLY) or (kind == COMPOSITE and algorithm in _WHOLE_ONLY):
        raise StoreError(
            "InvalidRequest",
            f"The {kind} checksum type cannot be used with the {algorithm.lower()} checksum algorithm.",
        )
    return kind


def composite(algorithm: str, values: Sequence[str]) -> str:
    """The checksum of the checksums of an upload's parts.

    Args:
        algorithm: The algorithm.
        values: The parts' checksums, in base64.
    """
    whole = digest(algorithm)
    for value in values:
        whole.update(base64.b64decode(value))
    return f"{encoded(whole.digest())}-{len(values)}"
