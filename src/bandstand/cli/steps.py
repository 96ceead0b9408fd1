"""A long command told on standard error: its step in place on a terminal, a plain line each in a pipe."""

from __future__ import annotations

import shutil
import sys
from types import TracebackType
from typing import Self, TextIO

from bandstand.report import plain


class Steps:
    """Tells what is being done.

    Args:
        stream: Where to; by default standard error.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._terminal = self._stream.isatty()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._clear()

    def told(self, text: str) -> None:
        """Show what is being done; on a terminal in the place of what was done before."""
        text = plain(text)
        if not self._terminal:
            self._stream.write(text + "\n")
        else:
            self._clear()
            width = shutil.get_terminal_size().columns - 1
            self._stream.write(text if len(text) <= width else text[: width - 3] + "...")
        self._stream.flush()

    def said(self, text: str) -> None:
        """Print a line that stays."""
        self._clear()
        self._stream.write(plain(text) + "\n")
        self._stream.flush()

    def _clear(self) -> None:
        if self._terminal:
            self._stream.write("\r\x1b[K")
