"""Notices that a collective of a framework does not end, while the thread that is in it cannot."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterator
from typing import NoReturn

from bandstand.training.linked_team import JobOver
from bandstand.training.lost_ranks import await_reason
from bandstand.training.output import note
from bandstand.training.run import Run


class StallWatch:
    """Watches the collectives of one rank from a thread of its own.

    Horovod's own check does not end a stalled call whose like has been made before, and tells in the log
    alone who is missing; torch's limit names nobody.

    Args:
        seconds: How long a collective may take.
        on_stall: Called in the watching thread, once.
        clock: Seconds of a monotonic clock.
    """

    def __init__(
        self, seconds: float, on_stall: Callable[[], object], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._seconds = seconds
        self._on_stall = on_stall
        self._clock = clock
        self._since: float | None = None
        self._over = threading.Event()
        threading.Thread(target=self._watch, name="bandstand-stall-watch", daemon=True).start()

    @contextlib.contextmanager
    def collective(self) -> Iterator[None]:
        """A collective is in the `with` block."""
        self._since = self._clock()
        try:
            yield
        finally:
            self._since = None

    def close(self) -> None:
        """Watch no longer."""
        self._over.set()

    def _watch(self) -> None:
        while not self._over.wait(self._seconds / 10):
            since = self._since
            if since is not None and self._clock() - since >= self._seconds:
                self._on_stall()
                return


def leave_stalled(run: Run, seconds: float) -> NoReturn:
    """End this rank, whose main thread is stuck in a collective, once the leader has said who is missing.

    Args:
        run: This rank.
        seconds: How long the collective has taken.
    """
    how = f"no answer within {seconds:g} s"
    note(f"a collective has had {how}; waiting for the reason.")
    with contextlib.suppress(JobOver):
        await_reason(run, how)
        note(f"this rank leaves: every rank is in a collective that has had {how}.")
    os._exit(1)
