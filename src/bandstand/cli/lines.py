"""A run told in plain lines, for a pipe, a file or a screen reader."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

from bandstand.cli.patient import PatientStream
from bandstand.report import plain
from bandstand.report.quantities import count, duration, metric
from bandstand.runs.snapshot import Snapshot

QUIET_SECONDS = 60.0


class LineView:
    """Prints what is said, one line each, and where the run stands when nothing was said for a minute.

    Args:
        stream: Where the lines go.
        clock: Seconds that only go forward.
    """

    def __init__(self, stream: PatientStream, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream
        self._clock = clock
        self._spoke = clock()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None

    def changed(self, snapshot: Snapshot) -> None:
        """Print where the run stands, if nothing was said for a minute."""
        if snapshot.running and self._clock() - self._spoke >= QUIET_SECONDS:
            self.said(progress(snapshot))

    def said(self, text: str) -> None:
        """Print one line."""
        self._spoke = self._clock()
        self._stream.write(plain(text) + "\n")


def progress(snapshot: Snapshot) -> str:
    """Say in one line where a run stands."""
    if snapshot.kind == "training":
        row = snapshot.rows[0] if snapshot.rows else None
        parts = [row.secondary_status if row else snapshot.status]
        if row and row.reports:
            parts.append(f"iteration {row.reports}")
        if row and row.objective is not None:
            parts.append(metric(row.objective))
        return ", ".join([*parts, duration(snapshot.elapsed)])
    parts = [f"{snapshot.ended} of {count(snapshot.total, 'job')} ended", f"{snapshot.running} running"]
    parts += [f"{number} {word}" for number, word in _ends(snapshot) if number]
    if snapshot.best is not None:  # before the rest, which a narrow terminal cuts off
        parts.append(f"best {metric(snapshot.best.objective)} (job {snapshot.best.number})")
    parts += [count(snapshot.reports_run, "iteration"), duration(snapshot.elapsed)]
    return ", ".join(parts)


def _ends(snapshot: Snapshot) -> tuple[tuple[int, str], ...]:
    return (snapshot.stopped, "stopped"), (snapshot.failed, "failed")
