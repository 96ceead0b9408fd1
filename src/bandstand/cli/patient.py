"""A stream that outlives its reader: jobs are worth more than the lines that tell of them."""

from __future__ import annotations

import io
import threading
from typing import TextIO


class PatientStream(io.TextIOBase):
    """Writes to another stream until that fails (`| head`, a closed window), and is silent from then on.

    Args:
        stream: The stream that is written to; each text is flushed.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._lock = threading.Lock()
        self.gone = False

    def write(self, text: str) -> int:
        """Write a text, if anybody still reads."""
        with self._lock:
            if not self.gone:
                try:
                    self._stream.write(text)
                    self._stream.flush()
                except OSError:
                    self.gone = True
        return len(text)

    def flush(self) -> None:
        """Do nothing: every write is flushed."""

    def isatty(self) -> bool:
        """Tell whether the stream is a terminal."""
        return self._stream.isatty()

    def fileno(self) -> int:
        """Give the stream's file descriptor."""
        return self._stream.fileno()

    def writable(self) -> bool:
        """Say that texts can be written."""
        return True

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """Give the stream's encoding."""
        return self._stream.encoding or "ascii"
