"""How a rank hears that its job shall stop."""

from __future__ import annotations

import os
import signal
import threading
from types import FrameType

from bandstand.training.output import note


class StopFlag:
    """Set by SIGTERM or SIGINT; read by the training loop.

    A handler that the script had installed before is called as well. A second SIGINT, which only a person at
    a keyboard sends, raises KeyboardInterrupt.
    """

    def __init__(self) -> None:
        self.asked = False
        self._earlier: dict[int, object] = {}
        self._process = 0

    def listen(self) -> None:
        """Install the handlers. Only the main thread may; in another one, the signals keep what they do."""
        if threading.current_thread() is not threading.main_thread():
            note(
                "bandstand.start() was not called in the main thread: SIGTERM ends this process without "
                "saving. Call it first in the main thread."
            )
            return
        self._process = os.getpid()
        for number in (signal.SIGTERM, signal.SIGINT):
            self._earlier[number] = signal.signal(number, self._handle)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if os.getpid() != self._process:  # a forked worker, whose pool wants it to end
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
            return
        again = self.asked and number == signal.SIGINT
        self.asked = True
        earlier = self._earlier.get(number)
        if callable(earlier) and earlier is not signal.default_int_handler:
            earlier(number, frame)
        elif again:
            raise KeyboardInterrupt
