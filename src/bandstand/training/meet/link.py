"""A member's side of the rendezvous: one connection to the leader."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable

from bandstand.errors import PlatformError
from bandstand.training.meet.sockets import set_options
from bandstand.training.meet.wire import GREETING_BYTES, Message, Session, WireError, check_greeting, greeting

_TRY_SECONDS = 5.0
_WELCOME_SECONDS = 60.0
_FIRST_PAUSE = 0.02
_LONGEST_PAUSE = 1.0
_PAUSE_SHARE = 0.25
"""A pause lasts this share of the time that was waited, so that no more than it is waited in vain."""
_QUIET_SECONDS = 10.0
_CHUNK = 1 << 18


class LinkLostError(PlatformError):
    """The connection to the leader has ended."""


class Link:
    """An open connection on which the leader has proved that it has the key, too.

    Args:
        sock: Connected; the link closes it.
        session: The frames' state.
        ready: Messages that have come already.
    """

    def __init__(self, sock: socket.socket, session: Session, ready: list[Message]) -> None:
        self._sock = sock
        self._session = session
        self._ready = ready

    @property
    def meet(self) -> str:
        """`address:port` of the leader, as this side reached it."""
        address, port = self._sock.getpeername()[:2]
        return f"{address}:{port}"

    def send(self, message: Message) -> None:
        """Send one message.

        Raises:
            LinkLostError: If the connection has ended.
        """
        try:
            self._sock.sendall(self._session.pack(message))
        except OSError as error:
            raise LinkLostError(f"The connection to the leader has ended: {error}.") from None

    def receive(self) -> Message:
        """Wait for the next message.

        Raises:
            LinkLostError: If the connection has ended.
        """
        while not self._ready:
            try:
                data = self._sock.recv(_CHUNK)
                if not data:
                    raise LinkLostError("The connection to the leader has ended without a word.")
                self._ready = self._session.feed(data)
            except (OSError, WireError) as error:
                raise LinkLostError(f"The connection to the leader has ended: {error}.") from None
        return self._ready.pop(0)

    def close(self) -> None:
        """End the connection, for a thread that waits in `receive` as well."""
        try:
            self._sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # it had ended already
        finally:
            self._sock.close()


def connect(
    host: str,
    port: int,
    key: bytes,
    join: Message,
    *,
    within: float,
    say: Callable[[str], None],
    clock: Callable[[], float] = time.monotonic,
    pause: Callable[[float], object] = time.sleep,
) -> Link:
    """Reach the leader, which may start later than this side, and join.

    Args:
        host: Its address or name, which may not resolve yet.
        port: Where it listens.
        key: The job's key.
        join: Who this side is.
        within: Seconds to keep trying for.
        say: Takes lines for people.
        clock: Seconds of a monotonic clock.
        pause: Waits for some seconds; may end early by raising an exception, which then ends the attempt.

    Raises:
        LinkLostError: If the time is over; its message has the last attempt's fault.
    """
    begun = clock()
    said = False
    while True:
        try:
            return _try(host, port, key, join)
        except (OSError, WireError) as error:
            fault = str(error)
            if "rank" in join and isinstance(
                error, WireError
            ):  # its hub is there, and will not change its mind
                raise LinkLostError(
                    f"The leader at {host}, port {port}, does not let in this rank: {fault}."
                ) from None
        waited = clock() - begun
        if waited >= within:
            raise LinkLostError(
                f"The leader could not be reached at {host}, port {port}, within {within:g} s: {fault}. "
                "Hosts must reach it over TCP (BANDSTAND_PORT), and all need the same BANDSTAND_KEY."
            )
        if waited >= _QUIET_SECONDS and not said:
            said = True
            say(f"still trying to reach the leader at {host}, port {port}: {fault}.")
        wait = min(max(_FIRST_PAUSE, waited * _PAUSE_SHARE), _LONGEST_PAUSE)
        pause(min(wait, within - waited))


def _try(host: str, port: int, key: bytes, join: Message) -> Link:
    sock = socket.create_connection((host, port), timeout=_TRY_SECONDS)
    try:
        set_options(sock)
        ours = greeting()
        sock.sendall(ours)
        theirs = b""
        while len(theirs) < GREETING_BYTES:
            theirs += _some(sock, GREETING_BYTES - len(theirs))
            check_greeting(theirs)
        session = Session(key, theirs, ours, is_leader=False)
        sock.settimeout(_WELCOME_SECONDS)  # to give up a place that was given would look like a lost host
        sock.sendall(session.pack({"kind": "join", **join}))
        messages: list[Message] = []
        while not messages:
            messages = session.feed(_some(sock, _CHUNK))
        answer = messages.pop(0)
        if answer["kind"] != "welcome":
            raise WireError(str(answer.get("value")))
        sock.settimeout(None)
        return Link(sock, session, messages)
    except BaseException:
        sock.close()
        raise


def _some(sock: socket.socket, size: int) -> bytes:
    data = sock.recv(size)
    if not data:
        raise WireError(
            "it closed the connection: another job's leader, another key, or no place for this host"
        )
    return data
