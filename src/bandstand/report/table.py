"""Tables of plain text that fit the page: columns are left out, then cut, before a line gets too long."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from bandstand.report.page import Page

_GAP = "  "
_NARROWEST = 8
_TITLE = 12


@dataclass(frozen=True)
class Column:
    """One column of a table.

    Args:
        title: What stands above it.
        right: Whether cells stand at the right, as numbers do.
        drop: The columns with the highest number are left out first on a narrow page; 0 is never left out.
        least: The least width in characters; a column that has one is also shown when it is empty.
        paint: Colours a padded cell.
    """

    title: str
    right: bool = False
    drop: int = 0
    least: int = 0
    paint: Callable[[str], str] | None = None


def table(page: Page, columns: Sequence[Column], rows: Iterable[Sequence[str]]) -> list[str]:
    """Lay rows out in columns.

    Args:
        page: What the text is laid out on; with a width, no line is longer than it.
        columns: The columns, from left to right.
        rows: One text per column and row. A column that is empty in all rows is left out.

    Returns:
        The lines, titles first; none when there are no rows.
    """
    cells = [list(row) for row in rows]
    if not cells:
        return []
    contents = [max(len(row[i]) for row in cells) for i in range(len(columns))]
    widths = [max(column.least, len(column.title), contents[i]) for i, column in enumerate(columns)]
    shown = [i for i, column in enumerate(columns) if column.least or contents[i]]
    if page.width is not None:
        shown = _fit(page.width, columns, shown, widths, contents)
    titles = [_pad(columns[i], page.cut(columns[i].title, widths[i]), widths[i]) for i in shown]
    lines = [page.paint(_GAP.join(titles).rstrip(), "dim")]
    for row in cells:
        texts = []
        for i in shown:
            padded = _pad(columns[i], page.cut(row[i], widths[i]), widths[i])
            paint = columns[i].paint
            texts.append(paint(padded) if paint else padded)
        lines.append(_GAP.join(texts).rstrip())
    return lines


def _fit(
    width: int, columns: Sequence[Column], shown: list[int], widths: list[int], contents: list[int]
) -> list[int]:
    """Make a table fit: cut the longest text, then titles above numbers, leave columns out, cut all texts.

    Args:
        width: The greatest length of a line.
        columns: The columns.
        shown: The columns that are shown, by number.
        widths: The width of each column; changed in place.
        contents: The longest cell of each column.

    Returns:
        The columns that are still shown.
    """

    def excess() -> int:
        return sum(widths[i] for i in shown) + len(_GAP) * (len(shown) - 1) - width

    def narrow(number: int, least: int) -> None:
        floor = min(widths[number], max(least, columns[number].least))
        widths[number] = max(floor, widths[number] - max(0, excess()))

    def texts() -> list[int]:
        return sorted((i for i in shown if not columns[i].right), key=lambda i: -widths[i])

    for number in texts()[:1]:
        narrow(number, 2 * _NARROWEST)
    for number in (i for i in shown if columns[i].right):
        narrow(number, max(contents[number], _TITLE))
    while excess() > 0 and any(columns[i].drop for i in shown):
        last = max(shown, key=lambda i: columns[i].drop)
        shown = [i for i in shown if i != last]
        for number in texts()[:1]:
            narrow(number, 2 * _NARROWEST)
    for number in texts():
        narrow(number, _NARROWEST)
    return shown


def _pad(column: Column, text: str, width: int) -> str:
    return text.rjust(width) if column.right else text.ljust(width)


def facts(page: Page, pairs: Iterable[tuple[str, str]]) -> list[str]:
    """Lay facts out as `name  value` lines; a fact without a value is left out, a long value goes on below.

    Args:
        page: What the text is laid out on.
        pairs: Name and value of each fact.
    """
    known = [(name, value) for name, value in pairs if value]
    if not known:
        return []
    width = max(len(name) for name, _ in known)
    lines = []
    for name, value in known:
        first, *rest = wrap(page, value, indent=width + 4)
        lines.append(f"  {page.paint(name.ljust(width), 'dim')}{_GAP}{first}")
        lines.extend(" " * (width + 4) + line for line in rest)
    return lines


def wrap(page: Page, text: str, *, indent: int = 0) -> list[str]:
    """Break a text into lines that fit the page to the right of `indent` columns; words are never cut."""
    import textwrap

    lines = text.splitlines() or [""]
    if page.width is None:
        return lines
    room = max(20, page.width - indent)
    return [
        part
        for line in lines
        for part in textwrap.wrap(line, room, break_long_words=False, break_on_hyphens=False) or [""]
    ]
