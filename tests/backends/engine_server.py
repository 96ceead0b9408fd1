"""A socket in the place of a container engine's: for what engines do seldom, and for what is none."""

from __future__ import annotations

import socket
import threading
from pathlib import Path

from bandstand.backends.engine import Engine


class EngineServer:
    """Answers every connection with the same bytes, and keeps what it was asked.

    Args:
        place: Its socket.
        answer: The bytes.
    """

    def __init__(self, place: Path, answer: bytes) -> None:
        self.engine = Engine(f"unix://{place}")
        self.asked: list[str] = []
        self._answer = answer
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(place))
        self._listener.listen()
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._listener.close()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with connection:
                self.asked.append(connection.recv(1 << 16).decode().split("\r\n")[0])
                connection.sendall(self._answer)
