"""Pages of a list, cut by the store itself: a page costs what it holds, however much there is."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bandstand.runs.record import Record
from bandstand.service.protocol import Document, ServiceError

USUAL = 10
"""Entries of a page where the request does not say."""


@dataclass
class Query:
    """What a list is made of.

    Args:
        table: The table, whose rows have names.
        columns: The columns of an entry, the sort key and `name` among them.
        key: The column that it is sorted by; equals are sorted by name.
        descending: Whether the greatest comes first.
    """

    table: str
    columns: str
    key: str = "name"
    descending: bool = False
    _conditions: list[str] = field(default_factory=list)
    _values: list[Any] = field(default_factory=list)

    def where(self, condition: str, *values: Any) -> None:
        """Keep only rows of a condition, whose question marks stand for the values."""
        self._conditions.append(condition)
        self._values += values

    def page(self, record: Record, parameters: Mapping[str, Any]) -> tuple[list[sqlite3.Row], Document]:
        """Read one page.

        Args:
            record: The store.
            parameters: The request's; `MaxResults` and `NextToken` are read, the others have to stay the same
                from page to page.

        Returns:
            The rows, and the member `NextToken` where there are more.

        Raises:
            ServiceError: The token is of another list.
        """
        most = parameters.get("MaxResults", USUAL)
        conditions, values = list(self._conditions), list(self._values)
        if "NextToken" in parameters:
            last = self._last(parameters)
            keys, marks = ("name", "?") if self.key == "name" else (f"({self.key}, name)", "(?, ?)")
            conditions.append(f"{keys} {'<' if self.descending else '>'} {marks}")
            values += last[1:] if self.key == "name" else last
        order = "DESC" if self.descending else "ASC"
        by = f"name {order}" if self.key == "name" else f"{self.key} {order}, name {order}"
        where = " AND ".join(conditions) or "1"
        # The names first, which an index holds with all that is asked for: rows are long, and read by name.
        page = f"SELECT name FROM {self.table} WHERE {where} ORDER BY {by} LIMIT ?"  # noqa: S608 - all texts are
        # this package's own, all of the request's are values
        rows = record.read(
            f"SELECT {self.columns} FROM {self.table} WHERE name IN ({page}) ORDER BY {by}",  # noqa: S608
            (*values, most + 1),
        )
        if len(rows) <= most:
            return rows, {}
        end = rows[most - 1]
        return rows[:most], {"NextToken": _token(_marks(parameters), [end[self.key], end["name"]])}

    def _last(self, parameters: Mapping[str, Any]) -> list[Any]:
        try:
            found = json.loads(base64.urlsafe_b64decode(parameters["NextToken"]))
        except (ValueError, binascii.Error):
            found = None
        right = isinstance(found, list) and len(found) == 3 and found[0] == _marks(parameters)
        if not right or not all(isinstance(each, str | int | float) for each in found[1:]):
            raise ServiceError(
                "ValidationException",
                "NextToken is invalid: it is none of this list, or the request has other parameters than the"
                " one that gave it. Start again without it.",
            )
        return list(found[1:])


def _token(marks: str, last: list[Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps([marks, *last]).encode()).decode()


def _marks(parameters: Mapping[str, Any]) -> str:
    """A word for the list that a request is of: its parameters without those that go from page to page."""
    same = {name: value for name, value in parameters.items() if name not in ("NextToken", "MaxResults")}
    return hashlib.sha256(json.dumps(same, sort_keys=True).encode()).hexdigest()[:16]
