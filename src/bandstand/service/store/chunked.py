"""The encoding `aws-chunked`: a body in chunks, with checksums after them.

Each chunk is `SIZE[;chunk-signature=...]`, a line end, its bytes and a line end; after the one of size 0 come
trailers, as headers are written, and an empty line (Amazon S3 API reference, Signature calculations:
transferring a payload in multiple chunks). Signatures are not checked, since every request is its own user's.
"""

from __future__ import annotations

import re

from bandstand.service.store.faults import StoreError

_LONGEST_LINE = 8192
_HEAD = re.compile(rb"([0-9a-fA-F]{1,16})(?:;[^\r\n]*)?")


class ChunkedReader:
    """Takes a body as it arrives and gives what it carries; memory does not grow with it."""

    def __init__(self) -> None:
        self.trailers: dict[str, str] = {}
        self.is_complete = False
        self._line = bytearray()
        self._rest = 0
        self._part = "head"

    def feed(self, data: bytes) -> list[bytes]:
        """Take the next bytes of the body.

        Args:
            data: Any number of bytes, cut anywhere.

        Returns:
            The bytes that were carried in them.

        Raises:
            StoreError: This is no such body.
        """
        carried: list[bytes] = []
        position = 0
        while position < len(data) and not self.is_complete:
            if self._part == "bytes":
                piece = data[position : position + self._rest]
                carried.append(piece)
                position += len(piece)
                self._rest -= len(piece)
                if self._rest == 0:
                    self._part = "end"
                continue
            end = data.find(b"\n", position)
            self._line += data[position : len(data) if end < 0 else end]
            if len(self._line) > _LONGEST_LINE:
                raise _malformed()
            if end < 0:
                break
            position = end + 1
            line = bytes(self._line).removesuffix(b"\r")
            self._line.clear()
            self._take(line)
        return carried

    def _take(self, line: bytes) -> None:
        if self._part == "head":
            head = _HEAD.fullmatch(line)
            if head is None:
                raise _malformed()
            self._rest = int(head[1], 16)
            self._part = "bytes" if self._rest else "trailers"
        elif self._part == "end":
            if line:
                raise _malformed()
            self._part = "head"
        elif line:
            name, colon, value = line.decode("latin-1").partition(":")
            if not colon or len(self.trailers) > 20:
                raise _malformed()
            self.trailers[name.strip().lower()] = value.strip()
        else:
            self.is_complete = True


def _malformed() -> StoreError:
    return StoreError("IncompleteBody", "The body is not encoded as aws-chunked, or was cut off.")
