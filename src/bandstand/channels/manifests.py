"""Manifests: JSON lists of a prefix and of names below it, each of a file that is there.

Their form is that of S3DataSource in SageMaker's API reference:
`[{"prefix": "s3://bucket/prefix/"}, "relative/path/a", "relative/path/b"]`. The names are appended to the
prefix as they are. On this machine the prefix may be `file://` as well.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import Any

from bandstand.channels.data import DataError, Fault, listed, shortened
from bandstand.channels.objects import SCHEME, is_sound, split

_FORM = '[{"prefix": "s3://BUCKET/PREFIX/"}, "NAME", ...]'
_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Manifest:
    """What a manifest says.

    Args:
        prefix: What stands before each name.
        names: The names, each once.
    """

    prefix: str
    names: tuple[str, ...]


def read(content: bytes) -> Manifest:
    """Return what a manifest says.

    Args:
        content: Its bytes.

    Raises:
        DataError: It has not the form; with all that is wrong with it.
    """
    entries = _entries(content)
    faults: list[Fault] = []
    head, *rest = entries
    prefix = head.get("prefix") if isinstance(head, dict) else None
    if not isinstance(prefix, str) or len(head) != 1:
        fix = "Begin the list with the prefix, alone in its braces."
        faults.append(Fault(f"{_shown(head)} as its first entry", '{"prefix": "s3://BUCKET/PREFIX/"}', fix))
    elif not _is_prefix(prefix):
        faults.extend(wrong_prefix(prefix, "s3://BUCKET/PREFIX/, or file:/// and a folder").faults)
    other = [_shown(entry) for entry in rest if not isinstance(entry, str)]
    if other:
        found = f"{', '.join(other[:3])} among the names"
        faults.append(Fault(found, "texts after the prefix, which stands once", "Take them out."))
    names = [entry for entry in rest if isinstance(entry, str)]
    if not rest:
        faults.append(Fault("no name after the prefix", "at least one", "List the files."))
    faults.extend(_bad_names(names))
    if faults:
        raise DataError(faults)
    if not str(prefix).endswith("/") and all(name.startswith("/") for name in names):
        return Manifest(f"{prefix}/", tuple(name[1:] for name in names))
    return Manifest(str(prefix), tuple(names))


def _entries(content: bytes) -> list[Any]:
    if content.startswith(_MARK):
        fix = "Save it without the mark."
        raise DataError([Fault("a byte order mark before the manifest", "JSON in UTF-8 without one", fix)])
    fix = f"Write a list: {_FORM}."
    try:
        document = json.loads(content.decode("utf-8"))
    except UnicodeDecodeError as error:
        found = f"a manifest with bytes that are no UTF-8, at byte {error.start}"
        raise DataError([Fault(found, "JSON in UTF-8", fix)]) from None
    except json.JSONDecodeError as error:
        if not content.strip():
            raise DataError([Fault("an empty manifest", "JSON", fix)]) from None
        found = f"a manifest that is no JSON: {error.msg} in line {error.lineno}, column {error.colno}"
        if content.lstrip().startswith(b"{"):
            found += " (an augmented manifest has an object in each line)"
        raise DataError([Fault(found, "JSON", fix)]) from None
    except (ValueError, RecursionError):
        found = "a manifest that is nested too deeply, or has a number that is too long"
        raise DataError([Fault(found, "JSON", fix)]) from None
    if not isinstance(document, list) or not document:
        found = "an empty list as manifest" if document == [] else f"{_shown(document)} as manifest"
        raise DataError([Fault(found, "a list", fix)])
    return document


def _is_prefix(prefix: str) -> bool:
    if "\0" in prefix:
        return False
    if prefix.startswith(SCHEME):
        bucket, key = split(prefix)
        return is_sound(bucket, "") and not any(part in (".", "..") for part in key.split("/"))
    return prefix.startswith("file:///")


def wrong_prefix(prefix: str, allowed: str) -> DataError:
    """Return what is to be said of a prefix that is none, or none of the allowed."""
    return DataError([Fault(f"the prefix {shortened(prefix)}", allowed, "Mend the prefix.")])


def _bad_names(names: list[str]) -> list[Fault]:
    faults = []
    counts = Counter(names)
    twice = [name for name, count in counts.items() if count > 1]
    if twice:
        found = f"names that stand there more than once: {listed(twice)}"
        faults.append(Fault(found, "each once", "Keep one of each."))
    outside = [
        name for name in counts if any(part in (".", "..") for part in name.split("/")) or "\0" in name
    ]
    if outside:
        found = f"names that lead out of the channel's folder, or that no file can have: {listed(outside)}"
        faults.append(Fault(found, "names below the prefix, without `.` and `..`", "Mend them."))
    folders = [name for name in counts if name == "" or name.endswith("/")]
    if folders:
        faults.append(
            Fault(f"names of folders: {listed(folders)}", "names of files", "List the files in them.")
        )
    return faults


def _shown(entry: object) -> str:
    return shortened(json.dumps(entry, ensure_ascii=False), 60).strip('"')
