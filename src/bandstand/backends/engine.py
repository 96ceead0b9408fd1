"""The container engine of this machine, spoken to over its socket (Docker Engine API 1.41).

A job's supervisor starts for each job and must stay awake: it needs an answer's socket to wait for, beside
others, and no library that takes longer to import than the whole supervisor. So this is HTTP as the engine
speaks it: one connection for each request, whose answer may be read later.
"""

from __future__ import annotations

import json
import os
import re
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from bandstand.errors import PlatformError

VERSION = "v1.41"
"""The API that every engine since Docker 20.10 speaks (https://docs.docker.com/engine/api/v1.41/)."""

PATIENCE_SECONDS = 60.0
"""How long one answer may take before the engine is taken for hung."""

_CHUNK = 1 << 16
_NO_BODY = frozenset({204, 304})
_NUMBER = re.compile("[0-9]{3}")


class EngineError(PlatformError):
    """The engine refused a request.

    Args:
        status: The answer's HTTP status.
        message: What the engine said.
    """

    def __init__(self, status: int, message: str) -> None:
        super().__init__(f"The container engine refused: {message}")
        self.status = status
        self.message = message


class EngineLostError(PlatformError):
    """The engine cannot be reached, or went away in the middle of an answer."""


@dataclass(frozen=True)
class Engine:
    """Where the engine listens.

    Args:
        address: `unix://` and a path, or `tcp://` with host and port.
    """

    address: str

    def ask(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        patience: float = PATIENCE_SECONDS,
        **query: object,
    ) -> Any:
        """Send a request and return its answer's JSON; None where there is none.

        Args:
            method: `GET`, `POST` or `DELETE`.
            path: Below the version: `/containers/json`.
            body: Sent as JSON.
            patience: Seconds to wait for each part of the answer.
            query: The query's names and values; mappings and lists are written as JSON.

        Raises:
            EngineError: The engine refused.
            EngineLostError: There is no engine, or it does not answer.
        """
        return self.send(method, path, body, patience=patience, **query).answer()

    def send(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        patience: float = PATIENCE_SECONDS,
        **query: object,
    ) -> Exchange:
        """Send a request, whose answer is read later; see `ask`."""
        return Exchange(self, self._connect(patience), _request(method, path, body, query, upgrade=False))

    def attach(self, container: str, *, stdin: bool) -> Exchange:
        """Connect to a container's streams before it starts; the answer's socket then carries them.

        Args:
            container: Its name or identifier.
            stdin: Whether to hold its standard input open for as long as the connection lives.
        """
        query = {"stream": 1, "stdin": int(stdin), "stdout": 1, "stderr": 1}
        request = _request("POST", f"/containers/{container}/attach", None, query, upgrade=True)
        return Exchange(self, self._connect(PATIENCE_SECONDS), request)

    def _connect(self, patience: float) -> socket.socket:
        parts = urlsplit(self.address)
        try:
            if parts.scheme != "unix":
                return socket.create_connection((parts.hostname or "", parts.port or 2375), timeout=patience)
            opened = socket.socket(socket.AF_UNIX)
            opened.settimeout(patience)
            try:
                opened.connect(parts.path)
            except OSError:
                opened.close()
                raise
        except OSError as error:
            raise EngineLostError(_unreachable(self.address, error)) from error
        return opened


class Exchange:
    """A request that was sent, and the answer that comes.

    Args:
        engine: Whom it was sent to.
        connection: The connection, which is this exchange's own.
        request: The request's bytes.
    """

    def __init__(self, engine: Engine, connection: socket.socket, request: bytes) -> None:
        self._engine = engine
        self.socket = connection
        self.rest = b""
        self._status = 0
        self._headers: dict[str, str] = {}
        try:
            connection.sendall(request)
        except OSError as error:
            connection.close()
            raise EngineLostError(_unreachable(engine.address, error)) from error

    def head(self) -> int:
        """Read the answer up to its body; return its status, without judging it."""
        while b"\r\n\r\n" not in self.rest:
            self.rest += self._some()
        head, _, self.rest = self.rest.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        words = first.split(" ", 2)
        if not words[0].startswith("HTTP/") or len(words) < 2 or not _NUMBER.fullmatch(words[1]):
            raise EngineLostError(_foreign(self._engine.address))
        self._status = int(words[1])
        self._headers = {
            name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)
        }
        return self._status

    def answer(self) -> Any:
        """Read the whole answer and close the connection; see `Engine.ask`."""
        try:
            status = self._status or self.head()
            text = b"" if status in _NO_BODY else self._body()
        finally:
            self.socket.close()
        try:
            content = json.loads(text) if text.strip() else None
        except ValueError:
            content = {"message": text.decode("utf-8", "replace")}
            if status < 400:
                raise EngineLostError(_foreign(self._engine.address)) from None
        if status >= 400:
            said = content.get("message", "") if isinstance(content, dict) else ""
            raise EngineError(status, said or f"it answered with status {status} and no reason")
        return content

    def _body(self) -> bytes:
        if self._headers.get("transfer-encoding", "").lower() == "chunked":
            return self._chunks()
        length = self._headers.get("content-length")
        if length is None:
            while part := self.socket.recv(_CHUNK):
                self.rest += part
            return self.rest
        return self._exactly(int(length))

    def _chunks(self) -> bytes:
        whole = b""
        while True:
            while b"\r\n" not in self.rest:
                self.rest += self._some()
            size, _, self.rest = self.rest.partition(b"\r\n")
            part = self._exactly(int(size.split(b";")[0], 16) + 2)
            if len(part) == 2:
                return whole
            whole += part[:-2]

    def _exactly(self, size: int) -> bytes:
        while len(self.rest) < size:
            self.rest += self._some()
        found, self.rest = self.rest[:size], self.rest[size:]
        return found

    def _some(self) -> bytes:
        try:
            data = self.socket.recv(_CHUNK)
        except OSError as error:
            raise EngineLostError(_unreachable(self._engine.address, error)) from error
        if not data:
            raise EngineLostError(
                f"The container engine at {self._engine.address} ended in the middle of an answer. "
                "Start it again and look into its log."
            )
        return data


def _request(method: str, path: str, body: object, query: Mapping[str, object], *, upgrade: bool) -> bytes:
    texts = {
        name: json.dumps(value) if isinstance(value, dict | list) else str(value)
        for name, value in query.items()
    }
    words = f"?{urlencode(texts)}" if texts else ""
    content = b"" if body is None else json.dumps(body).encode("utf-8", "surrogateescape")
    place = quote(path, safe="/:@", errors="surrogateescape")
    lines = [f"{method} /{VERSION}{place}{words} HTTP/1.1", "Host: bandstand"]
    lines += ["Connection: Upgrade", "Upgrade: tcp"] if upgrade else ["Connection: close"]
    if body is not None:
        lines.append("Content-Type: application/json")
    lines.append(f"Content-Length: {len(content)}")
    return "\r\n".join([*lines, "", ""]).encode("ascii") + content


def _foreign(address: str) -> str:
    place = urlsplit(address).path or address
    return (
        f"What answers at {place} is no container engine: it does not speak Docker's API. "
        "Set DOCKER_HOST to the engine's own address, or run --on processes."
    )


def _unreachable(address: str, error: OSError) -> str:
    place = urlsplit(address).path or address
    if isinstance(error, PermissionError):
        return (
            f"The socket of the container engine, {place}, may not be used by this user (id {os.geteuid()}). "
            "Join its group (sudo usermod -aG docker $USER, then log in again), or run --on processes."
        )
    if isinstance(error, TimeoutError):
        return (
            f"The container engine at {place} did not answer in time. Look into its log, or start it again."
        )
    return (
        f"There is no container engine at {place}: {error.strerror or error}. Install Docker or start it "
        "(sudo systemctl start docker), set DOCKER_HOST if it is elsewhere, or run --on processes."
    )
