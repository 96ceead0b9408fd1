"""What list, show and logs print: documents made from the record."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from bandstand.backends.backend import LogLine
from bandstand.runs.record import Record


def jobs(record: Record) -> list[dict[str, Any]]:
    """Every tuning job and training job of its own, oldest first:
    name, kind, status, created, ended, training_jobs (count) , best objective..."""
    raise NotImplementedError


def show(record: Record, name: str) -> dict[str, Any]:
    """One job as a JSON-ready document."""
    raise NotImplementedError


def log_lines(
    record: Record, name: str, host: str | None = None, *, follow: bool = False,
    stopped: Callable[[], bool] = lambda: False,
) -> Iterator[LogLine]:
    """The log lines of a training job in order of time; with `follow`, on until the job has ended."""
    raise NotImplementedError
