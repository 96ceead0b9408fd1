"""A run as a live table on a terminal, with a progress bar; what is said scrolls by above it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from types import TracebackType
from typing import IO, Self, cast

from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.text import Text

from bandstand.cli.keys import keys_unseen
from bandstand.cli.lines import progress
from bandstand.cli.output import page
from bandstand.cli.patient import PatientStream
from bandstand.report import Page, plain
from bandstand.report.page import bar
from bandstand.report.quantities import metric
from bandstand.report.table import Column, table
from bandstand.runs.snapshot import JobRow, Snapshot

_OVER = ("Completed", "Failed", "Stopped")
_AROUND = 6
"""Lines besides the jobs: title, headings, jobs not shown, bar, where the run stands, the cursor's own."""


class LiveView:
    """Shows a run as a table that is drawn again in place.

    Args:
        stream: The terminal.
        title: What stands above the table.
        objective: The objective metric's name.
        clock: Seconds that only go forward.
    """

    def __init__(
        self,
        stream: PatientStream,
        title: str,
        objective: str,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        sheet = page(stream)
        self._console = Console(
            file=cast(IO[str], stream),
            force_terminal=True,
            no_color=not sheet.colour,
            highlight=False,
            markup=False,
            emoji=False,
        )
        self._picture = Picture(sheet, title, objective, clock)
        self._live = Live(self._picture, console=self._console, refresh_per_second=8, transient=True)
        self._keys = ExitStack()

    def __enter__(self) -> Self:
        self._keys.enter_context(keys_unseen())
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()
        self._keys.close()

    def changed(self, snapshot: Snapshot) -> None:
        """Take a new picture of the run; it is drawn with the next refresh."""
        self._picture.take(snapshot)

    def said(self, text: str) -> None:
        """Print one line above the table."""
        self._console.print(Text(plain(text)), soft_wrap=True)


class Picture:
    """The table as it is drawn: as many jobs as the terminal has lines for, the running ones first.

    Args:
        sheet: What the text may be made of; its width is the terminal's at the time of drawing.
        title: What stands above the table.
        objective: The objective metric's name.
        clock: Seconds that only go forward.
    """

    def __init__(self, sheet: Page, title: str, objective: str, clock: Callable[[], float]) -> None:
        self._sheet = sheet
        self._title = title
        self._objective = objective
        self._clock = clock
        self._taken: tuple[Snapshot, float] | None = None
        self._ended: dict[str, int] = {}

    def take(self, snapshot: Snapshot) -> None:
        """Take a new picture of the run."""
        for row in snapshot.rows:
            if row.status in _OVER:
                self._ended.setdefault(row.name, len(self._ended))
        self._taken = (snapshot, self._clock())

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw the picture for the terminal's present width and height."""
        if self._taken is None:
            return
        snapshot, moment = self._taken
        if snapshot.running:
            snapshot = replace(snapshot, elapsed=snapshot.elapsed + self._clock() - moment)
        sheet = replace(self._sheet, width=options.max_width)
        if snapshot.kind == "tuning":
            room = console.size.height - _AROUND
            if room > 0:
                yield _line(sheet.paint(sheet.cut(self._title, options.max_width), "bold"))
                yield from map(_line, self._table(sheet, snapshot, room))
            yield _line(bar(snapshot.ended, snapshot.total, sheet, options.max_width))
        yield _line(sheet.cut(progress(snapshot), options.max_width))

    def _table(self, sheet: Page, snapshot: Snapshot, room: int) -> list[str]:
        rows = self.ordered(snapshot)
        best = snapshot.best.name if snapshot.best else None
        columns = [
            Column("job", right=True, least=4),
            Column("definition", drop=2),
            Column("hosts", right=True, drop=2, least=5),
            Column("iteration", right=True, least=9),
            Column("rung", drop=1, least=8),
            Column(self._objective, right=True, least=10),
            Column("state", paint=sheet.status, least=11),
            Column("why", drop=3),
        ]
        cells = [
            (
                str(row.number),
                row.definition,
                str(row.hosts),
                str(row.reports),
                row.rung,
                metric(row.objective),
                row.status if row.status in (*_OVER, "Stopping") else row.secondary_status or row.status,
                "best so far" if row.name == best else row.brief or plain(row.note),
            )
            for row in rows[:room]
        ]
        lines = table(sheet, columns, cells)
        if len(rows) > room:
            lines.append(sheet.paint(f"{sheet.ellipsis} and {len(rows) - room} more", "dim"))
        return lines

    def ordered(self, snapshot: Snapshot) -> Sequence[JobRow]:
        """Order jobs for the table: running ones by number, then the best, then the latest to end."""
        best = snapshot.best.name if snapshot.best else None
        running = [row for row in snapshot.rows if row.status not in _OVER]
        over = [row for row in snapshot.rows if row.status in _OVER]
        over.sort(key=lambda row: (row.name != best, -self._ended.get(row.name, 0)))
        return [*running, *over]


def _line(text: str) -> Text:
    line = Text.from_ansi(text)
    line.no_wrap, line.overflow = True, "crop"
    return line
