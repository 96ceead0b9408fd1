"""The standard streams that a command was started without (`>&-`), as streams that lead nowhere."""

from __future__ import annotations

import os
import sys

_NUMBERS = (0, 1, 2)


def open_closed() -> None:
    """Open each standard stream that is closed on the null device.

    Python has `None` for such a stream, and the next file that is opened (the record, say) would get its
    number, to which child processes write. To be called before any file is opened that stays open.
    """
    for number in _NUMBERS:
        try:
            os.fstat(number)
        except OSError:
            # It is the lowest number that is free, since those below are open.
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
    if sys.stdin is None:
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - open until the process ends
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
