"""The record: one SQLite store that every verb reads and the live loop writes."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Self


class Record:
    """The store of one home: jobs, points, events and decisions."""

    home: Path

    @classmethod
    def open(cls, home: Path) -> Record:
        """Open the record of a home, making folders and bringing the schema up to date."""
        raise NotImplementedError

    def close(self) -> None:
        """Close the store."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def free_name(self, base: str, limit: int) -> str:
        """A name nobody has yet: the base itself, else base-2, base-3, ... within `limit` characters."""
        raise NotImplementedError

    def kind(self, name: str) -> str:
        """`tuning` or `training`; an unknown name raises InputError with the nearest one."""
        raise NotImplementedError
