"""Removing what ended jobs left behind."""

from __future__ import annotations

from collections.abc import Sequence

from bandstand.runs.record import Record


def clean(
    record: Record, names: Sequence[str] = (), *, all_ended: bool = False, dry_run: bool = False
) -> list[str]:
    """Remove jobs that are over, with their folders; returns one line for each thing removed.

    With `dry_run` nothing is removed, and the lines say what would be. A named job that still runs is refused.
    """
    raise NotImplementedError
