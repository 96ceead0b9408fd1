"""Lines out of raw output: bytes as programs write them, lines as a log service keeps them."""

from __future__ import annotations

import re
from collections.abc import Iterable

MAX_LINE_BYTES = 262_144 - 26
"""Longest line that is kept whole: a CloudWatch Logs event (262,144 bytes) less its overhead (26 bytes)."""

_SEPARATOR = re.compile(rb"\r\n|\n|\r")
_CHUNK = 1 << 16
_NUMBER_BYTES = b"0123456789.eE+-"
_LONGEST_NUMBER = 64
_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # control sequences: colours, cursor moves
    r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"  # operating system commands: titles, links
    r"|\x1b[@-Z\\^_]"  # two-character escapes
)
_TOKENS_OF_PATTERNS = re.compile(r"\\.|\[[^\]]*\]|\(\?[^)]|[{}()*+?|^$.]")
_LONGEST_COMPARED = 1000
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


def strip_escapes(text: str) -> str:
    """Text without terminal escape sequences (ECMA-48): colours, cursor moves, titles, links."""
    return _ESCAPES.sub("", text) if "\x1b" in text else text


def clean(text: str) -> str:
    """A log line for a person's terminal: no escape sequences, no control characters but tab."""
    return _CONTROLS.sub("", strip_escapes(text))


def closest_lines(wanted: str, lines: Iterable[str], n: int = 3) -> list[str]:
    """The log lines that come closest to what a pattern, or a metric's name, looks for.

    Args:
        wanted: A regular expression or a name.
        lines: Log lines, oldest first.
        n: How many to return at most.

    Returns:
        Lines that share three letters in a row with what is wanted, closest first and, of lines that differ
        in their numbers only, the last one.
    """
    parts = _trigrams(_TOKENS_OF_PATTERNS.sub("\0", wanted))
    best: dict[str, tuple[int, int, str]] = {}
    for place, line in enumerate(lines):
        text = clean(line)[:_LONGEST_COMPARED]
        shared = len(parts & _trigrams(text))
        if shared:
            best[re.sub(r"[0-9]+", "0", text)] = (shared, place, line)
    return [line for *_, line in sorted(best.values(), key=lambda entry: (-entry[0], -entry[1]))[:n]]


def _trigrams(text: str) -> set[str]:
    lower = text.lower()
    found = (lower[start : start + 3] for start in range(len(lower) - 2))
    return {piece for piece in found if piece.isalpha()}


class LineSplitter:
    r"""Cuts one stream of bytes into lines, however the bytes are chunked.

    A line ends at `\n`, `\r\n` or `\r`, since a progress bar's carriage return is no line break for a log
    service and would hide what follows it. Bytes are read as UTF-8; those that are not become U+FFFD. A line
    of more than `MAX_LINE_BYTES` is cut, before white space where there is any, else before the number that
    the cut would hit, so that no number is cut in two. An empty piece that a lone `\r` ends is dropped; blank
    lines are kept.

    The time is linear in the bytes fed, and what is kept between calls is at most `MAX_LINE_BYTES`.
    """

    def __init__(self) -> None:
        self._pending = bytearray()
        self._after_return = False
        self._return_was_empty = False

    def feed(self, data: bytes) -> list[str]:
        """Take the next bytes of the stream.

        Args:
            data: Any number of bytes, cut anywhere: inside a line, a character or a `\\r\\n`.

        Returns:
            The lines that ended with these bytes, without their separators.
        """
        lines: list[str] = []
        if data and self._after_return:
            self._after_return = False
            if data.startswith(b"\n"):
                if self._return_was_empty:
                    lines.append("")
                data = data[1:]
        start = 0
        for separator in _SEPARATOR.finditer(data):
            self._take(data, start, separator.start(), lines)
            start = separator.end()
            if separator.group() == b"\r":
                at_end = start == len(data)
                self._after_return = at_end
                self._return_was_empty = not self._pending
                if not self._pending:
                    continue
            lines.append(self._decode(len(self._pending)))
        self._take(data, start, len(data), lines)
        return lines

    def flush(self) -> list[str]:
        """The stream has ended: return the last line if it had no separator."""
        self._after_return = False
        return [self._decode(len(self._pending))] if self._pending else []

    def _take(self, data: bytes, start: int, end: int, lines: list[str]) -> None:
        for position in range(start, end, _CHUNK):
            self._pending += data[position : min(position + _CHUNK, end)]
            while len(self._pending) > MAX_LINE_BYTES:
                lines.append(self._decode(self._cut()))

    def _cut(self) -> int:
        pending = self._pending
        white = max(pending.rfind(b" ", 1, MAX_LINE_BYTES + 1), pending.rfind(b"\t", 1, MAX_LINE_BYTES + 1))
        if white > 0:
            return white
        cut = MAX_LINE_BYTES
        while cut > MAX_LINE_BYTES - 3 and pending[cut] & 0xC0 == 0x80:
            cut -= 1
        if pending[cut] in _NUMBER_BYTES:
            before = cut
            while before > cut - _LONGEST_NUMBER and pending[before - 1] in _NUMBER_BYTES:
                before -= 1
            if before > cut - _LONGEST_NUMBER:
                return before
        return cut

    def _decode(self, length: int) -> str:
        text = self._pending[:length].decode("utf-8", errors="replace")
        del self._pending[:length]
        return text
