"""Objects of this machine's S3, found as files: those of a key, and those that begin with a prefix.

The store of `bandstand.service` keeps an object at its key's place in the bucket's folder, and sets it apart
where no file can lie there: `train/a` beside an object `train`, or `a//b`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from bandstand.channels.data import DataError, Fault, listed
from bandstand.channels.walking import walk

SCHEME = "s3://"
HIDDEN = ".bandstand"
"""The folder beside the buckets that holds what is no object; no bucket can have its name."""
INDEX = "index.db"
APART = "apart"
_LONGEST_NAME = 255
_BUSY_SECONDS = 30.0

Object = tuple[str, str]
"""A key, and its file: the path below the folder of buckets, or absolute where a link leads out of it."""


def split(uri: str) -> tuple[str, str]:
    """Return the bucket and the key, or prefix, of an `s3://` address."""
    bucket, _, key = uri.removeprefix(SCHEME).partition("/")
    return bucket, key


def find_object(buckets: str, uri: str) -> Path | None:
    """Return an object's file, or None.

    Args:
        buckets: The folder that holds the buckets.
        uri: `s3://`, the bucket and the key.
    """
    bucket, key = split(uri)
    if is_sound(bucket, key) and Path(buckets, bucket, key).is_file():
        return Path(buckets, bucket, key)
    found = set_apart(buckets, bucket, key).get(key)
    return None if found is None else Path(buckets, found)


def objects(buckets: str, uri: str) -> Iterator[Object]:
    """Yield every object whose key begins with a prefix, in no order; marks of folders are none.

    Args:
        buckets: The folder that holds the buckets.
        uri: `s3://`, the bucket and the prefix.
    """
    bucket, prefix = split(uri)
    placed: set[str] = set()
    for path, found in _placed(os.path.realpath(buckets), bucket, prefix):
        key = path.partition("/")[2]
        placed.add(key)
        yield key, found
    for key, found in set_apart(buckets, bucket, prefix).items():
        if key not in placed and not key.endswith("/"):
            yield key, found


def is_plain_folder(buckets: str, uri: str) -> bool:
    """Whether all objects with a prefix lie below one folder, and that folder holds nothing else.

    Args:
        buckets: The folder that holds the buckets.
        uri: `s3://`, the bucket and the prefix.
    """
    bucket, prefix = split(uri)
    folder = Path(buckets, bucket, prefix)
    if not is_sound(bucket, prefix.removesuffix("/")) or not folder.is_dir():
        return False
    if prefix and not prefix.endswith("/"):
        names = [entry.name for entry in folder.parent.iterdir() if entry.name.startswith(folder.name)]
        if names != [folder.name]:
            return False
    return not any(not key.endswith("/") for key in set_apart(buckets, bucket, prefix))


def matches(buckets: str, uri: str) -> list[Path]:
    """Return the files and folders whose objects' keys begin with a prefix; its own place, if there are none.

    Args:
        buckets: The folder that holds the buckets.
        uri: `s3://`, the bucket and the prefix.
    """
    bucket, prefix = split(uri)
    place = Path(f"{buckets}/{bucket}/{prefix}")
    found = [place] if place.exists() else []
    if prefix and not prefix.endswith("/") and place.parent.is_dir():
        found = sorted(each for each in place.parent.iterdir() if each.name.startswith(place.name))
    found += [Path(buckets, path) for path in set_apart(buckets, bucket, prefix).values()]
    return found or [place]


def nearest_prefix(buckets: str, uri: str) -> str | None:
    """Return an address that is like one of which there is nothing, and of which there is something; or None.

    Args:
        buckets: The folder that holds the buckets.
        uri: `s3://`, the bucket and the prefix.
    """
    import difflib

    bucket, prefix = split(uri)
    folder = Path(buckets, bucket)
    if not is_sound(bucket, prefix.removesuffix("/")):
        return None
    for part in prefix.split("/"):
        if not (folder / part).is_dir():
            near = difflib.get_close_matches(part, [entry.name for entry in folder.iterdir()], n=1)
            found = None if not near else (folder / near[0]).relative_to(buckets)
            return None if found is None else f"{SCHEME}{found.as_posix()}"
        folder /= part
    return None


def set_apart(buckets: str, bucket: str, prefix: str) -> dict[str, str]:
    """Return the objects that are set apart: by key, each file's path below the folder of buckets.

    Args:
        buckets: The folder that holds the buckets.
        bucket: The bucket.
        prefix: What the keys begin with.
    """
    index = Path(buckets, HIDDEN, INDEX)
    try:
        with os.scandir(Path(buckets, HIDDEN, APART)) as entries:
            if next(entries, None) is None or not index.is_file():
                return {}
    except FileNotFoundError:
        return {}
    import sqlite3
    from contextlib import closing

    begin = prefix.encode("utf-8", "surrogateescape")
    with closing(sqlite3.connect(index, timeout=_BUSY_SECONDS)) as connection:
        rows = connection.execute(
            "SELECT key, file FROM apart WHERE bucket = ? AND substr(key, 1, ?) = ? ORDER BY key",
            (bucket, len(begin), begin),
        ).fetchall()
    return {key.decode(): f"{HIDDEN}/{APART}/{file}" for key, file in rows}


def relative_name(key: str, prefix: str) -> str:
    """Return where a host finds an object below its channel's folder.

    Below a prefix that is a folder, with a slash at its end or without: what follows it. Of a prefix that
    ends within a name the whole name is kept, as SageMaker keeps it (sagemaker-python-sdk issue 3612). A
    folder's name with nothing between its slashes is left out, as file systems do.

    Args:
        key: The object's key.
        prefix: What it begins with.
    """
    folder = prefix if prefix.endswith("/") else f"{prefix}/"
    is_below = prefix != "" and key.startswith(folder)
    rest = key[len(folder) :] if is_below else key[prefix.rfind("/") + 1 :]
    return "/".join(part for part in rest.split("/") if part)


def laid_out(files: Iterable[tuple[str, str, str]]) -> tuple[tuple[str, str], ...]:
    """Return what a host finds, sorted as S3 sorts keys.

    Args:
        files: Of each its key, or what stands for it, its name below the channel's folder, and its path.

    Raises:
        DataError: A name is none that a file can have, or two files would have one place.
    """
    ordered = sorted(files, key=lambda file: os.fsencode(file[0]))
    odd = [key for key, name, _ in ordered if not is_sound("bucket", name)]
    taken: dict[str, str] = {}
    clashes = []
    for key, name, _ in ordered:
        other = taken.setdefault(name, key)
        if other != key:
            clashes.append(f"{other} and {key}, both at {name}")
    for key, name, _ in ordered:
        above = name.rpartition("/")[0]
        while above and above not in taken:
            above = above.rpartition("/")[0]
        if above:
            clashes.append(f"{taken[above]}, a file, and {key}, which needs a folder at its place")
    faults = []
    if odd:
        found = f"keys with `.` or `..` between slashes, NUL or a name of more than 255 bytes: {listed(odd)}"
        faults.append(Fault(found, "names that a file can have", "Store these objects under other keys."))
    if clashes:
        found = f"objects that would lie at one place: {listed(clashes)}"
        fix = "Let the prefix end with a slash, or store one of them elsewhere."
        faults.append(Fault(found, "a place for each", fix))
    if faults:
        raise DataError(faults)
    return tuple((name, path) for _, name, path in ordered)


def _placed(root: str, bucket: str, prefix: str) -> Iterator[tuple[str, str]]:
    """Yield the objects at their keys' places: each path below the root, and where it leads."""
    above, slash, stem = prefix.rpartition("/")
    below = f"{bucket}/{above}" if above else bucket
    if (slash and not above) or not is_sound(bucket, above) or not Path(root, below).is_dir():
        return
    yield from walk(root, below, beginning=stem)


def is_sound(bucket: str, path: str) -> bool:
    """Whether a file can have a path below a bucket's folder; an empty one is the folder itself."""
    if bucket in ("", ".", "..", HIDDEN) or "/" in bucket or "\0" in bucket:
        return False
    return path == "" or all(
        part not in ("", ".", "..") and "\0" not in part and len(os.fsencode(part)) <= _LONGEST_NAME
        for part in path.split("/")
    )
