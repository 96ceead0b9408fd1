"""What is kept beside an object's bytes."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any

DEFAULT_TYPE = "binary/octet-stream"
"""The content type of an object that was stored without one (PutObject in S3's API reference)."""


@dataclass(frozen=True)
class Checksum:
    """A checksum of an object.

    Args:
        algorithm: `CRC32`, `SHA256`, ...
        value: Base64 of it; with `-N` at the end where it was made of those of N parts.
        kind: `FULL_OBJECT` or `COMPOSITE`.
    """

    algorithm: str
    value: str
    kind: str = "FULL_OBJECT"


@dataclass(frozen=True)
class About:
    """Everything that an object has beside its bytes.

    Args:
        content_type: Its media type.
        headers: The other standard headers that are sent with it, by their names in lower case.
        metadata: The user's own, by names in lower case without `x-amz-meta-`.
        tags: Its tags.
        checksum: The checksum that it was stored with; None for a file that was not stored through S3.
        parts: The sizes in bytes of the parts it was uploaded in; empty unless it was.
    """

    content_type: str = DEFAULT_TYPE
    headers: dict[str, str] = field(default_factory=dict)
    metadata: dict[str, str] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)
    checksum: Checksum | None = None
    parts: tuple[int, ...] = ()

    def text(self) -> str:
        """All of it as JSON."""
        return json.dumps(asdict(self), separators=(",", ":"))

    @classmethod
    def of(cls, text: str) -> About:
        """What `text` wrote."""
        document: dict[str, Any] = json.loads(text)
        checksum = document.pop("checksum")
        parts = tuple(document.pop("parts"))
        return cls(**document, checksum=None if checksum is None else Checksum(**checksum), parts=parts)


@dataclass(frozen=True)
class Stored:
    """An object as it stands in its bucket.

    Args:
        bucket: Its bucket.
        key: Its key.
        size: Its size, in bytes.
        changed: When it was stored, in nanoseconds since the epoch: its file's time of change.
        etag: Its entity tag, without quotation marks.
        about: What is kept beside it.
    """

    bucket: str
    key: str
    size: int
    changed: int
    etag: str
    about: About
