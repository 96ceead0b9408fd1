"""What a text may be made of: how wide it is, which characters it may hold, whether it has colours."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_BLOCKS = "▁▂▃▄▅▆▇█"
_ASCII_BLOCKS = "_.-:=+*#"
_COLOURS = {"red": "31", "green": "32", "yellow": "33", "blue": "34", "cyan": "36", "bold": "1", "dim": "2"}
_STATUS_COLOURS = {
    "Completed": "green",
    "Failed": "red",
    "Stopped": "yellow",
    "Stopping": "yellow",
    **dict.fromkeys(("InProgress", "Starting", "Downloading", "Training", "Uploading"), "cyan"),
}
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-_]")
_CONTROLS = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f]")


@dataclass(frozen=True)
class Page:
    """The sheet that a text is laid out on.

    Args:
        width: Columns of characters, or None where nothing is ever cut (a pipe or a file).
        unicode: Whether the reader's encoding has more than ASCII.
        colour: Whether terminal colours may be used.
    """

    width: int | None = None
    unicode: bool = True
    colour: bool = False

    @property
    def ellipsis(self) -> str:
        """The mark of text that was cut."""
        return "…" if self.unicode else "..."

    @property
    def dot(self) -> str:
        """What stands between facts on one line."""
        return "·" if self.unicode else "-"

    @property
    def blocks(self) -> str:
        """Eight characters, from low to high, that draw a curve."""
        return _BLOCKS if self.unicode else _ASCII_BLOCKS

    def paint(self, text: str, *colours: str) -> str:
        """Give the text in the named colours, or as it is where there are none.

        Args:
            text: What to paint; its own width does not change.
            colours: Names such as `red`, `bold`, `dim`.
        """
        codes = ";".join(_COLOURS[colour] for colour in colours)
        return f"\x1b[{codes}m{text}\x1b[0m" if self.colour and codes and text else text

    def status(self, text: str) -> str:
        """Paint a job's status (`Completed`, `Stopped`, ...) in the colour that people expect of it."""
        colour = _STATUS_COLOURS.get(text.strip())
        return self.paint(text, colour) if colour else text

    def cut(self, text: str, width: int) -> str:
        """Shorten the text to a width, with a mark at the end where something was cut."""
        if len(text) <= width:
            return text
        return text[: max(0, width - len(self.ellipsis))] + self.ellipsis[:width]


def plain(text: str) -> str:
    """Give a job's text without terminal controls, so that it can break neither a table nor a terminal.

    Args:
        text: One line as a training job wrote it; colours, cursor movements and other controls are removed,
            tabs become one space.
    """
    return _CONTROLS.sub("", _ESCAPES.sub("", text.replace("\t", " ")))


def sparkline(
    values: Sequence[float], page: Page, width: int = 30, *, scale: tuple[float, float] | None = None
) -> str:
    """Draw a curve of finite values, oldest first.

    Args:
        values: The values.
        page: Where the curve is drawn.
        width: Most characters; a longer curve is cut into so many pieces, of which the last value is drawn.
        scale: The least and the greatest value of the drawing; by default those of the curve.
    """
    if not values:
        return ""
    if len(values) > width:
        values = [values[(piece + 1) * len(values) // width - 1] for piece in range(width)]
    low, high = scale or (min(values), max(values))
    blocks = page.blocks
    if not high - low > 0:
        return blocks[len(blocks) // 2] * len(values)
    steps = len(blocks) - 1
    # Halves first: the difference of two finite numbers may be infinite, that of their halves is not.
    return "".join(blocks[round((value / 2 - low / 2) / (high / 2 - low / 2) * steps)] for value in values)


def bar(part: int, whole: int, page: Page, width: int) -> str:
    """Draw how much of a whole is done, in exactly `width` characters."""
    done = width * min(part, whole) // whole if whole > 0 else 0
    full, empty = ("█", "░") if page.unicode else ("#", ".")
    return page.paint(full * done, "green") + page.paint(empty * (width - done), "dim")
