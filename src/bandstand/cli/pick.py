"""Which job a verb is about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bandstand.errors import InputError

if TYPE_CHECKING:
    from bandstand.runs.record import Record


def newest(record: Record) -> str:
    """Give the name of the job that was created last.

    Raises:
        InputError: There is no job at all.
    """
    from bandstand.runs.views import jobs

    found = jobs(record)
    if not found:
        raise InputError(f"There are no jobs in {record.home} yet. Start one with: bandstand tune job.toml")
    return str(max(enumerate(found), key=lambda item: (item[1]["created"] or "", item[0]))[1]["name"])
