r"""What goes over a connection: two nonces in the clear, then sealed frames of JSON.

Each side first sends `bandstand/1\n` and 32 random bytes. From the job's key and both nonces, both derive the
session's key; every later frame is 4 bytes of length (big-endian), 16 bytes of HMAC-SHA256 (RFC 2104) over
direction, number of the frame and payload, and the payload: one JSON object with a `kind`. Who does not have
the key cannot seal a frame, and a recorded frame fits no other session, direction or place. Nothing is
encrypted.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
from typing import Any

from bandstand.errors import PlatformError

MAGIC = b"bandstand/1\n"
NONCE_BYTES = 32
GREETING_BYTES = len(MAGIC) + NONCE_BYTES
MAX_FIRST_MESSAGE = 64 << 10
"""Bytes of a message from a connection that has not proved yet that it has the key."""
MAX_MESSAGE = 64 << 20
"""Bytes of any other message: what all ranks give to one collective, together."""

_LENGTH_BYTES = 4
_TAG_BYTES = 16
_HEADER_BYTES = _LENGTH_BYTES + _TAG_BYTES

Message = dict[str, Any]


class WireError(PlatformError):
    """What came over a connection is none of our messages."""


def greeting() -> bytes:
    """The first bytes of a side: who we are, and a nonce."""
    return MAGIC + os.urandom(NONCE_BYTES)


def check_greeting(data: bytes) -> None:
    """Refuse another program's first bytes as soon as they differ.

    Args:
        data: The first bytes that came, all or some of them.

    Raises:
        WireError: If they are no greeting's.
    """
    if not data.startswith(MAGIC[: len(data)]):
        raise WireError(f"it is no rendezvous: it begins with {bytes(data[: len(MAGIC)])!r}")


class Session:
    """Seals and opens one connection's frames after the greetings.

    Args:
        key: The job's key.
        leader_greeting: What the leader's side sent first.
        member_greeting: What the other side sent first.
        is_leader: Which side this is.
    """

    def __init__(
        self, key: bytes, leader_greeting: bytes, member_greeting: bytes, *, is_leader: bool
    ) -> None:
        session = hmac.digest(key, leader_greeting + member_greeting, "sha256")
        down, up = (hmac.digest(session, direction, "sha256") for direction in (b"from leader", b"to leader"))
        self._seal_key, self._open_key = (down, up) if is_leader else (up, down)
        self._sealed = 0
        self._opened = 0
        self._pending = bytearray()
        self.limit = MAX_FIRST_MESSAGE if is_leader else MAX_MESSAGE

    def pack(self, message: Message) -> bytes:
        """A message as a frame.

        Raises:
            WireError: If it is larger than the other side would take.
        """
        payload = json.dumps(message, separators=(",", ":")).encode()
        if len(payload) > MAX_MESSAGE:
            raise WireError(f"a message of {len(payload)} bytes is larger than {MAX_MESSAGE}")
        self._sealed += 1
        tag = _tag(self._seal_key, self._sealed, payload)
        return len(payload).to_bytes(_LENGTH_BYTES, "big") + tag + payload

    def feed(self, data: bytes) -> list[Message]:
        """Take the next bytes that came, cut anywhere.

        Returns:
            The messages that are complete with them.

        Raises:
            WireError: If a frame is too large, not sealed with the key, or holds no message.
        """
        self._pending += data
        messages = []
        start = 0
        while len(self._pending) - start >= _HEADER_BYTES:
            length = int.from_bytes(self._pending[start : start + _LENGTH_BYTES], "big")
            if length > self.limit:
                raise WireError(f"a message of {length} bytes is larger than {self.limit}")
            body = start + _HEADER_BYTES
            if len(self._pending) < body + length:
                break
            payload = bytes(self._pending[body : body + length])
            self._opened += 1
            expected = _tag(self._open_key, self._opened, payload)
            if not hmac.compare_digest(expected, bytes(self._pending[start + _LENGTH_BYTES : body])):
                raise WireError("it does not have this job's key")
            messages.append(_message(payload))
            start = body + length
        del self._pending[:start]
        return messages


def _tag(key: bytes, number: int, payload: bytes) -> bytes:
    seal = hmac.new(key, number.to_bytes(8, "big"), hashlib.sha256)
    seal.update(payload)
    return seal.digest()[:_TAG_BYTES]


def _message(payload: bytes) -> Message:
    try:
        message = json.loads(payload)
    except (ValueError, RecursionError) as error:
        raise WireError(f"a message is no JSON: {error}") from None
    if not isinstance(message, dict) or not isinstance(message.get("kind"), str):
        raise WireError("a message is no JSON object with a kind")
    return message
