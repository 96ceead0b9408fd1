"""Where a channel's data is, and what can be wrong with it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bandstand.errors import InputError

_SHOWN = 5


@dataclass(frozen=True)
class ChannelData:
    """Where a channel's data is.

    Args:
        place: Absolute path of a folder or file; or `s3://`, a bucket and a prefix or key.
        is_manifest: Whether it is a manifest, which lists the files.
        buckets: The folder that holds the buckets of this machine's S3; None where there is none.
        roots: The folders that a manifest's `file://` may reach; any, if there are none.
    """

    place: str
    is_manifest: bool = False
    buckets: str | None = None
    roots: tuple[str, ...] = ()


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong with a channel's data.

    Args:
        found: What is there.
        allowed: What may be there.
        fix: What to do about it, as a sentence.
    """

    found: str
    allowed: str
    fix: str

    def __str__(self) -> str:
        return f"found {self.found}; expected {self.allowed}. {self.fix}"


class DataError(InputError):
    """A channel's data is not there, or cannot be laid out.

    Args:
        faults: All that is wrong.
    """

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__(" ".join(str(fault) for fault in self.faults))


def listed(names: Sequence[str]) -> str:
    """Return names for a message, quoted: the first ones, and how many more there are."""
    head = ", ".join(shortened(name) for name in names[:_SHOWN])
    return head if len(names) <= _SHOWN else f"{head} and {len(names) - _SHOWN} more"


def shortened(text: str, most: int = 100) -> str:
    """Return a text for a message: quoted, in characters that can be shown, not too long."""
    quoted = ascii(text) if not text.isprintable() else f'"{text}"'
    return quoted if len(quoted) <= most else f"{quoted[: most - 3]}..."
