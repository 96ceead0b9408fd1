"""Asks about a job in a thread of its own, so that whoever watches it can leave at any moment."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue

from bandstand.errors import InputError, PlatformError
from bandstand.runs.remote.survey import Round

Answer = Round | PlatformError | InputError


class Surveyor:
    """Makes one round after another.

    The thread may be left in the middle of a question: what it writes are files that are whole or not there.

    Args:
        ask: Makes a round.
        seconds: Time between two rounds.
    """

    def __init__(self, ask: Callable[[], Round], seconds: float) -> None:
        self._ask = ask
        self._seconds = seconds
        self._over = threading.Event()
        self._answers: SimpleQueue[Answer | BaseException] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="bandstand-survey", daemon=True)

    def start(self) -> None:
        """Begin with the first round."""
        self._thread.start()

    def leave(self) -> None:
        """Make no further round; does not wait for one that is under way."""
        self._over.set()

    def answer(self, seconds: float) -> Answer | None:
        """What the next round has told, or why it could not; None where nothing has come within a time."""
        try:
            found = self._answers.get(timeout=seconds)
        except Empty:
            return None
        if isinstance(found, Round | PlatformError | InputError):
            return found
        raise found

    def _run(self) -> None:
        while not self._over.is_set():
            try:
                answer: Answer | BaseException = self._ask()
            except Exception as error:  # noqa: BLE001 - raised by the thread that watches
                answer = error
            self._answers.put(answer)
            if isinstance(answer, Round) and answer.over:
                return
            self._over.wait(self._seconds)
