"""The first page: all jobs, the newest first, some at a time."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from bandstand.runs.overview import Mark, overview
from bandstand.runs.record import Record
from bandstand.runs.views import look_after

JOBS = 25
"""Jobs of a page."""

STATUSES = ("InProgress", "Stopping", "Completed", "Stopped", "Failed")

_MARK = re.compile(r"(\d{1,12}(?:\.\d{1,9})?)/([A-Za-z0-9.-]{1,64})/(tuning|training)")


def list_page(record: Record, query: Mapping[str, str]) -> dict[str, Any]:
    """What the page of jobs shows.

    Args:
        record: The store.
        query: `words` of a name, a `status`, and `after`: the place of the last job of the page before.
    """
    look_after(record)
    words, status = query.get("words", "").strip()[:64], query.get("status", "")
    status = status if status in STATUSES else ""
    after = _mark(query.get("after", ""))
    found = overview(record, after=after, most=JOBS + 1, words=words, status=status)
    asked = {name: value for name, value in (("words", words), ("status", status)) if value}
    more = len(found) > JOBS
    older = urlencode({**asked, "after": "{!r}/{}/{}".format(*found[JOBS - 1][0])}) if more else ""
    return {
        "jobs": [document for _, document in found[:JOBS]],
        "words": words,
        "status": status,
        "statuses": STATUSES,
        "first": after is None,
        "newest": urlencode(asked),
        "older": older,
        "empty": not found and not asked and after is None,
    }


def _mark(text: str) -> Mark | None:
    found = _MARK.fullmatch(text)
    return None if found is None else (float(found[1]), found[2], found[3])
