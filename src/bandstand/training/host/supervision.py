"""What process 1 and a supervisor outside its container tell each other without a name space in common."""

from __future__ import annotations

import os
import resource
import sys
import threading
from collections.abc import Mapping
from pathlib import Path

from bandstand.host_variables import LIFE_FD, PEAK_FILE

_ABANDONED = 137
_PEAK_UNIT = 1 if sys.platform == "darwin" else 1024


def end_with_supervisor(environ: Mapping[str, str]) -> None:
    """End this process as soon as its supervisor is gone, however that went; nobody would end it else.

    As process 1 it takes everything in the container along.

    Args:
        environ: May name the descriptor.
    """
    text = environ.get(LIFE_FD.name, "")
    if text.isdecimal():
        threading.Thread(target=_watch, args=(int(text),), name="bandstand-life", daemon=True).start()


def leave_peak(environ: Mapping[str, str]) -> None:
    """Leave the greatest memory of any process for the supervisor, which cannot see it from outside.

    Args:
        environ: May name the file.
    """
    name = environ.get(PEAK_FILE.name, "")
    if name:
        used = (resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_CHILDREN, resource.RUSAGE_SELF))
        Path(name).write_text(str(max(used) * _PEAK_UNIT), encoding="ascii")


def _watch(descriptor: int) -> None:
    try:
        while os.read(descriptor, 4096):
            pass
    finally:
        os._exit(_ABANDONED)
