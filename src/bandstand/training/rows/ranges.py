"""How rows are shared out: byte ranges, and the whole lines that begin in them."""

from __future__ import annotations

import contextlib
import gzip
import sys
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO, cast

from bandstand.errors import InputError
from bandstand.training.rows.files import DataFile

BLOCK = 512 << 10
"""Bytes that are read and parsed at a time; parsing needs some thirty times as much for a moment."""

_TRAILER = 4
"""Bytes at the end of a gzip file that tell its size before packing."""

_STEP = 4096
"""Bytes that are read at a time to find the end of the last row, which may lie beyond the range."""


@dataclass(frozen=True)
class ByteRange:
    """A part of a file; a row belongs to the range that holds its first byte.

    Args:
        file: The file.
        start: The first byte, from 0; of a packed file, after unpacking.
        stop: The byte after the last one; a packed file is read to its end.
    """

    file: DataFile
    start: int
    stop: int


@dataclass(frozen=True)
class Block:
    """Some whole lines of a file.

    Args:
        file: The file.
        offset: Where the first line begins, in bytes from the start of the file.
        data: The lines. The last line of a file may lack its end.
    """

    file: DataFile
    offset: int
    data: bytes


def split(files: Sequence[DataFile], part: int, parts: int) -> tuple[ByteRange, ...]:
    """One worker's share of files that every worker has.

    The files are seen as one text of T bytes, of which worker i of n gets the bytes from floor(T i / n) to
    floor(T (i + 1) / n): the shares do not overlap, leave nothing out, and differ by one byte at most.

    Args:
        files: All files, in the same order on every worker.
        part: Which worker, from 0.
        parts: How many workers there are.

    Returns:
        The ranges to read, in order; none for a worker with nothing to do.
    """
    total = sum(file.size for file in files)
    start, stop = total * part // parts, total * (part + 1) // parts
    ranges = []
    before = 0
    for file in files:
        low, high = max(start - before, 0), min(stop - before, file.size)
        if low < high:
            ranges.append(ByteRange(file, low, high))
        before += file.size
    return tuple(ranges)


def read_lines(part: ByteRange, block: int = BLOCK) -> Iterator[Block]:
    """Read the lines that begin in a range, in blocks of whole lines.

    Nothing before the range is read except the byte in front of it, which tells whether a line begins with
    the range; nothing after it except the rest of the last line.

    Args:
        part: What to read.
        block: About how many bytes to read at a time.

    Raises:
        InputError: If the file has become shorter than it was.
    """
    end_of_part = sys.maxsize if part.file.zipped else part.stop
    with open_text(part.file) as source:
        position = max(part.start - 1, 0)
        source.seek(position)
        inside = part.start == 0
        offset = part.start
        pending = bytearray()
        while position < end_of_part:
            data = source.read(min(block, end_of_part - position))
            if not data:
                if part.file.zipped:
                    break
                raise InputError(
                    f"{part.file.path} has shrunk from {part.file.size} to {position} bytes while it was "
                    "read; the files of a channel must not change during a job."
                )
            position += len(data)
            if not inside:
                begin = data.find(b"\n") + 1
                if not begin:
                    continue
                inside = True
                offset = position - len(data) + begin
                data = data[begin:]
            end = data.rfind(b"\n") + 1
            if end:
                pending += data[:end]
                yield Block(part.file, offset, bytes(pending))
                offset += len(pending)
                pending = bytearray(data[end:])
            else:
                pending += data
        while pending and not pending.endswith(b"\n"):
            rest = source.read(_STEP)
            end = rest.find(b"\n") + 1
            pending += rest[:end] if end else rest
            if not rest:
                break
        if pending:
            yield Block(part.file, offset, bytes(pending))


@contextlib.contextmanager
def open_text(file: DataFile) -> Iterator[BinaryIO]:
    """Open a file for reading, without reading ahead; a packed one is unpacked.

    Args:
        file: The file.

    Raises:
        InputError: In the `with` block, if a packed file is cut or damaged.
    """
    if not file.zipped:
        with file.path.open("rb", buffering=0) as source:
            yield source
        return
    try:
        with gzip.open(file.path) as unpacked:
            yield cast(BinaryIO, unpacked)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(
            f"{file.path} cannot be unpacked ({error}): it is cut, damaged, or no gzip file. Pack it anew."
        ) from None


def first_line(file: DataFile, comment: bytes | None = None) -> tuple[bytes, int]:
    """The first line of a text file that is not empty, and where it ends in bytes.

    Args:
        file: The file.
        comment: What lines start with that are left out.
    """
    for lines in read_lines(ByteRange(file, 0, file.size), _STEP):
        place = lines.offset
        for line in lines.data.splitlines(keepends=True):
            place += len(line)
            if line.strip() and not (comment and line.lstrip().startswith(comment)):
                return line, place
    return b"", file.size


def unpacked_size(file: DataFile) -> int:
    """About how many bytes a file has after unpacking: the last member's size modulo 4 GiB (RFC 1952).

    Args:
        file: The file.
    """
    if not file.zipped or file.size < _TRAILER:
        return file.size
    with file.path.open("rb") as source:
        source.seek(-_TRAILER, 2)
        return max(int.from_bytes(source.read(_TRAILER), "little"), file.size)


def count_lines(file: DataFile, stop: int) -> int:
    r"""Line ends in the first bytes of a file: `\n`, `\r\n` and `\r` each count once.

    Args:
        file: The file.
        stop: How many bytes to look at.
    """
    lines = 0
    last = b""
    with open_text(file) as source:
        position = 0
        while position < stop:
            data = source.read(min(BLOCK, stop - position))
            if not data:
                break
            position += len(data)
            lines += data.count(b"\n") + data.count(b"\r") - data.count(b"\r\n")
            if last == b"\r" and data.startswith(b"\n"):
                lines -= 1
            last = data[-1:]
    return lines
