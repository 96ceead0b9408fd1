"""The end of what a rank has written, with the beginning of its last traceback, however long its message."""

from __future__ import annotations

from bandstand.training.host.tracebacks import HEADER

TAIL_BYTES = 64 << 10
"""How much of the end is kept."""
TRACEBACK_BYTES = 16 << 10
"""How much is kept of a traceback that begins before the kept end."""

_HEADER = HEADER.encode()


class LastWords:
    """Keeps what the reason of a failure is read from."""

    def __init__(self) -> None:
        self._tail = bytearray()
        self._traceback = bytearray()
        self._since_traceback = 0

    def add(self, data: bytes) -> bool:
        """Take what comes next; return whether a traceback begins in it."""
        overlap = len(_HEADER) - 1
        joined = bytes(self._tail[-overlap:]) + data
        begin = joined.rfind(_HEADER)
        if begin >= 0:
            line = max(joined.rfind(b"\n", 0, begin) + 1, begin - 64)
            self._traceback = bytearray(joined[line : line + TRACEBACK_BYTES])
            self._since_traceback = len(joined) - line
        elif self._traceback:
            self._traceback += data[: max(0, TRACEBACK_BYTES - len(self._traceback))]
            self._since_traceback += len(data)
        self._tail += data
        if len(self._tail) > 2 * TAIL_BYTES:
            del self._tail[:-TAIL_BYTES]
        return begin >= 0

    def text(self) -> str:
        """The last 64 KiB, after the beginning of the last traceback if it is not among them."""
        kept = bytes(self._tail[-TAIL_BYTES:])
        if self._traceback and self._since_traceback > len(kept):
            kept = bytes(self._traceback) + b"\n" + kept
        return kept.decode("utf-8", errors="replace")
