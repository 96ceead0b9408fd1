"""Pages of a bucket's listing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass

from bandstand.service.store.about import About, Stored
from bandstand.service.store.buckets import Buckets
from bandstand.service.store.keys import is_unfinished
from bandstand.service.store.objects import derived_etag
from bandstand.service.store.walking import Found, Walk


@dataclass(frozen=True)
class Page:
    """A part of a listing.

    Args:
        objects: Objects, in the order of their keys.
        prefixes: What stands for all keys that are the same up to a delimiter, in order.
        following: Where the next page begins: no key of it is less; None at the end.
        last: The last key or common prefix of this page; empty where it has none.
    """

    objects: tuple[Stored, ...]
    prefixes: tuple[str, ...]
    following: bytes | None
    last: str


def page(
    buckets: Buckets, bucket: str, prefix: str = "", delimiter: str = "", start: bytes = b"", most: int = 1000
) -> Page:
    """List a part of a bucket.

    Args:
        buckets: The store.
        bucket: The bucket.
        prefix: What all keys begin with.
        delimiter: Keys that are the same from the prefix to the first of these are told as one.
        start: No key that is told is less.
        most: Keys and common prefixes at most.

    Raises:
        StoreError: There is no such bucket.
    """
    buckets.get(bucket)
    if most == 0:
        return Page((), (), None, "")
    head, mark = prefix.encode(), delimiter.encode()
    found: list[Found] = []
    prefixes: list[bytes] = []
    last = b""
    with closing(Walk(buckets, bucket, head, start)) as walk:
        entry = walk.next()
        while entry is not None and len(found) + len(prefixes) < most:
            key = entry[0]
            end = key.find(mark, len(head)) if mark else -1
            if end < 0:
                found.append(entry)
                last, start = key, key + b"\0"
            else:
                last = key[: end + len(mark)]
                prefixes.append(last)
                start = after(last)
                walk.jump(start)
            entry = walk.next()
    return Page(
        tuple(_described(buckets, bucket, found)),
        tuple(each.decode() for each in prefixes),
        None if entry is None else start,
        last.decode(),
    )


def after(prefix: bytes) -> bytes:
    """The least key that is greater than all keys with a prefix."""
    return prefix[:-1] + bytes([prefix[-1] + 1])


def _described(buckets: Buckets, bucket: str, found: list[Found]) -> Iterator[Stored]:
    if not found:
        return
    rows = buckets.index.read(
        "SELECT * FROM objects WHERE bucket = ? AND key BETWEEN ? AND ?", (bucket, found[0][0], found[-1][0])
    )
    known = {(row["key"], row["size"], row["changed"]): row for row in rows}
    for data, size, changed in found:
        key, row = data.decode(), known.get((data, size, changed))
        if row is not None:
            yield Stored(bucket, key, size, changed, row["etag"], About.of(row["about"]))
        elif not is_unfinished(key):
            yield Stored(bucket, key, size, changed, derived_etag(bucket, key, size, changed), About())
