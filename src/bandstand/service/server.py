"""`bandstand local` from its start to its end: one service for a home, on loopback."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from bandstand.backends.relay import PREFACE
from bandstand.errors import InputError
from bandstand.runs.record import Record
from bandstand.service.building import build
from bandstand.service.guard import RELAYED, can_tell_users, is_own
from bandstand.service.home_lock import last_port, own, sign

ADDRESS = "127.0.0.1"

ENDS = (signal.SIGTERM, signal.SIGINT)
"""Signals by which the service is asked to end."""

KEEP_SECONDS = 75
"""How long an idle connection is kept: longer than clients that poll wait between two calls."""

MOST_FIRST = 256
"""Bytes within which a relay has said for which job it is."""

IDLE_SECONDS = 60
"""How long a request may pause before all of it has come: as long as clients wait for an answer."""

LEAVE_SECONDS = 5
"""How long calls that are being answered may take once the service is to end."""


_TOO_SLOW = b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


class OwnOnly(H11Protocol):
    """HTTP for connections of this user; others are closed before anything of them is read.

    A relay of a job's containers says so before it passes anything on. Nobody gains by saying so without
    being one: less is allowed then.
    """

    _first: bytes | None = b""
    _idle: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a connection, or close it."""
        client, server = transport.get_extra_info("peername"), transport.get_extra_info("sockname")
        if client is None or not is_own(client[:2], server[:2]):
            transport.abort()
            return
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Take bytes; the first ones of a relay say for which job it is."""
        self._wait()
        if self._first is not None:
            data = self._first + data
            self._first = None
            if data.startswith(PREFACE[: len(data)]):
                line, end, rest = data.partition(b"\r\n")
                if not end:
                    self._first = data
                    if len(data) > MOST_FIRST:
                        self.transport.abort()
                    return
                job = line.removeprefix(PREFACE).decode("latin-1")
                self.app_state, data = {**self.app_state, RELAYED: job}, rest
        if data:
            super().data_received(data)

    def connection_lost(self, exc: Exception | None) -> None:
        """Take note of a connection's end, unless it was never taken."""
        if self._idle is not None:
            self._idle.cancel()
        if getattr(self, "transport", None) is not None:
            super().connection_lost(exc)

    def eof_received(self) -> bool:  # type: ignore[override]
        """Let who has asked, and says no more, have the answer."""
        answering = self.cycle is not None and not self.cycle.response_complete and not self._is_owed()
        if answering:
            self.cycle.keep_alive = False
        return answering

    def _wait(self) -> None:
        """Count anew for how long nothing has come."""
        if self._idle is not None:
            self._idle.cancel()
        self._idle = self.loop.call_later(IDLE_SECONDS, self._give_up)

    def _is_owed(self) -> bool:
        """Whether the first request, or the rest of one that has begun, is still to come."""
        begun = self.cycle is None or bool(self.conn.trailing_data[0])
        return self.conn.their_state is h11.SEND_BODY or (self.conn.their_state is h11.IDLE and begun)

    def _give_up(self) -> None:
        """End a connection on which the rest of a request does not come; 408 if nothing is answered yet."""
        if self.transport.is_closing() or not self._is_owed():
            return
        if self.flow.read_paused or self.conn.they_are_waiting_for_100_continue:
            self._wait()  # it is this end that does not read on
            return
        if self.conn.our_state is h11.SEND_RESPONSE:
            self.transport.write(_TOO_SLOW)
        self.transport.close()


class Server(uvicorn.Server):
    """A server whose end by a signal is a clean one."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Let SIGTERM and SIGINT end the server, and nothing else of the process."""
        before = {number: signal.signal(number, self.handle_exit) for number in ENDS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def serve(
    home: Path,
    *,
    port: int,
    hosts: str,
    allowed: Sequence[Path],
    say: Callable[[str], None],
    warn: Callable[[str], None],
) -> None:
    """Run the service until it is asked to end (SIGTERM, SIGINT).

    Jobs that run then go on under their supervisors until their leases run out; the next service takes them
    up again, those that were stopped meanwhile from their checkpoints.

    Args:
        home: The folder that holds all state.
        port: Where it listens; 0 for any free port.
        hosts: Where training jobs run: `processes` or `containers`.
        allowed: The folders that `file://` may reach; empty for the working folder, the home and the
            temporary folder.
        say: Tells a fact.
        warn: Tells what a person should know.

    Raises:
        InputError: Another service has the home, the port is taken, or an allowed folder is none.
        PlatformError: The home cannot be used.
    """
    home = home.expanduser().absolute()
    missing = [str(folder) for folder in allowed if not folder.is_dir()]
    if missing:
        raise InputError(f"--allow names no folder: {', '.join(missing)}. Name folders that exist.")
    Record.open(home).close()
    with own(home) as lock, _listening(port, last_port(lock)) as listener:
        url = f"http://{ADDRESS}:{listener.getsockname()[1]}"
        sign(lock, url)
        service = build(home, hosts=hosts, allowed=allowed, url=url)
        for trouble in service.jobs.take_up():
            warn(trouble)
        if not can_tell_users():
            warn("This system does not say whose a connection is: other users of this machine can use it.")
        say(f"listening on {url}")
        _run(service.application, listener)
        service.close()


def _run(application: Any, listener: socket.socket) -> None:
    config = uvicorn.Config(
        application,
        http=OwnOnly,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_keep_alive=KEEP_SECONDS,
        timeout_graceful_shutdown=LEAVE_SECONDS,
    )
    Server(config).run([listener])


@contextmanager
def _listening(port: int, wished: int) -> Iterator[socket.socket]:
    """Listen on a port; where any will do, on the one that is wished for if it is free."""
    # Named as TCP, so that asyncio lets each answer go at once rather than wait for an acknowledgement.
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            try:
                listener.bind((ADDRESS, port or wished))
            except OSError:
                if port:
                    raise
                listener.bind((ADDRESS, 0))
            listener.listen(256)
        except OSError as error:
            raise InputError(
                f"Port {port} of {ADDRESS} cannot be listened on: {error.strerror}. Name another one, or 0"
                " for any free port."
            ) from error
        yield listener
