"""A child of the supervisor that does one thing and leaves."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from typing import NoReturn


def leave_after(work: Callable[[], object]) -> NoReturn:
    """Do what a forked process is there for, and end it: with 0, or with a traceback and 1.

    Its signals wake nobody but itself, and what the supervisor would do on its way out is left to that.

    Args:
        work: What it is there for.
    """
    code = 1
    try:
        signal.set_wakeup_fd(-1)
        work()
        code = 0
    except BaseException:
        sys.excepthook(*sys.exc_info())
        raise
    finally:
        sys.stderr.flush()
        os._exit(code)
