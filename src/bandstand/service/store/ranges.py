"""Ranges of bytes (RFC 9110, section 14)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from bandstand.service.store.faults import StoreError

_RANGE = re.compile(r"bytes=(?:(\d{1,20})-(\d{0,20})|-(\d{1,20}))", re.ASCII)


@dataclass(frozen=True)
class Range:
    """A part of an object.

    Args:
        begin: The first byte, from 0.
        length: How many.
        whole: Whether the whole object was asked for, not a part that happens to be all of it.
    """

    begin: int
    length: int
    whole: bool = False


def range_of(text: str | None, size: int) -> Range:
    """Find what a `Range` header asks for; one that is malformed, or of several ranges, asks for everything.

    Args:
        text: The header, or None.
        size: The object's size, in bytes.

    Raises:
        StoreError: The object has no byte of the range.
    """
    found = _RANGE.fullmatch(text.strip()) if text else None
    if found is None:
        return Range(0, size, whole=True)
    if found[3] is not None:
        length = min(int(found[3]), size)
        begin, end = size - length, size
    else:
        begin = int(found[1])
        end = min(int(found[2]) + 1 if found[2] else size, size)
        if found[2] and int(found[2]) < begin:
            return Range(0, size, whole=True)
    if begin >= end:
        raise StoreError("InvalidRange", RangeRequested=text or "", ActualObjectSize=size)
    return Range(begin, end - begin)


def copied_range(text: str, size: int) -> Range:
    """Find the bytes of an object that are to be copied as a part.

    Args:
        text: The header; unlike a `Range`, both ends have to be given and to be there.
        size: The object's size, in bytes.

    Raises:
        StoreError: It is malformed, or goes beyond the object's end.
    """
    found = _RANGE.fullmatch(text.strip())
    wrong = {"ArgumentName": "x-amz-copy-source-range", "ArgumentValue": text}
    if found is None or not found[1] or not found[2] or int(found[2]) < int(found[1]):
        raise StoreError(
            "InvalidArgument",
            "The x-amz-copy-source-range value must be of the form bytes=first-last where first and last are"
            " the zero-based offsets of the first and last bytes to copy",
            **wrong,
        )
    if int(found[2]) >= size:
        words = f"Range specified is not valid for source object of size: {size}"
        raise StoreError("InvalidArgument", words, **wrong)
    return Range(int(found[1]), int(found[2]) + 1 - int(found[1]))


def part_of(number: int, sizes: tuple[int, ...], size: int) -> Range:
    """Find the bytes of a part that an object was uploaded in.

    Args:
        number: The part's, from 1.
        sizes: The sizes of all parts, in bytes; none where the object was stored at once.
        size: The object's size, in bytes.

    Raises:
        StoreError: There is no such part.
    """
    known = sizes or (size,)
    if not 1 <= number <= len(known):
        raise StoreError("InvalidPartNumber", PartNumberRequested=number, ActualPartCount=len(known))
    return Range(sum(known[: number - 1]), known[number - 1])
