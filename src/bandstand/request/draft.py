"""A request while it is made from a job file."""

from __future__ import annotations

import itertools
from typing import Any

from bandstand.request.findings import Findings, Place

ROLE = "arn:aws:iam::000000000000:role/none"
"""Stands in the request where a job file names no role; no account has this number."""


class Draft:
    """A request being written, member by member, each with the key it came from.

    Args:
        findings: Told where each member came from.
        given: The dotted keys that the user wrote.
    """

    def __init__(self, findings: Findings, given: frozenset[str]) -> None:
        self.document: dict[str, Any] = {}
        self.findings = findings
        self._given = given

    def put(self, place: Place, value: Any, key: str) -> None:
        """Write a member, unless the value is None; the key is remembered in any case."""
        self.findings.came_from(place, key, key in self._given)
        if value is None:
            return
        inside: Any = self.document
        for part, after in itertools.pairwise(place):
            if isinstance(part, int):
                while len(inside) <= part:
                    inside.append({})
                inside = inside[part]
            else:
                inside = inside.setdefault(part, [] if isinstance(after, int) else {})
        inside[place[-1]] = value
