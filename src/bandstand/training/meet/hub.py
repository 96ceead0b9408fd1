"""The leader's side of the rendezvous: one thread that serves all connections and is blocked by none."""

from __future__ import annotations

import contextlib
import selectors
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from bandstand.training.meet.meeting import Meeting, Member, RefusedError, Sends
from bandstand.training.meet.sockets import set_options
from bandstand.training.meet.wire import (
    GREETING_BYTES,
    MAX_MESSAGE,
    Message,
    Session,
    WireError,
    check_greeting,
    greeting,
)

GREET_WITHIN = 5.0
"""Seconds in which a connection must have proved that it has the key."""
MAX_STRANGERS = 64
"""Connections that have not proved it yet; beyond these the oldest is closed."""
DRAIN = 5.0
"""Seconds in which the last messages must have been taken."""
_MAX_NOTES = 5
_CHUNK = 1 << 18


@dataclass
class _Connection:
    sock: socket.socket
    address: str
    deadline: float
    ours: bytes = field(default_factory=greeting)
    theirs: bytes = b""
    session: Session | None = None
    member: Member | None = None
    unsent: bytearray = field(default_factory=bytearray)


class Hub(threading.Thread):
    """Serves a meeting until it is over.

    Args:
        listener: A listening TCP socket; the hub closes it.
        key: The job's key.
        meeting: Makes a meeting, given the time.
        say: Takes lines for people.
        clock: Seconds of a monotonic clock.
    """

    def __init__(
        self,
        listener: socket.socket,
        key: bytes,
        meeting: Callable[[float], Meeting],
        say: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(name="bandstand-hub", daemon=True)
        self._listener = listener
        self._key = key
        self._clock = clock
        self._meeting = meeting(clock())
        self._say = say
        self._selector = selectors.DefaultSelector()
        self._connections: list[_Connection] = []
        self._by_member: dict[Member, _Connection] = {}
        self._notes = 0

    def run(self) -> None:
        """Serve until the meeting is over and its last messages have been taken."""
        try:
            self._listener.setblocking(False)
            self._selector.register(self._listener, selectors.EVENT_READ)
            while not self._meeting.is_over(self._clock()):
                self._turn(min(self._meeting.wake_at(), self._next_deadline()))
                self._send(self._meeting.tick(self._clock()))
            self._drain()
        finally:  # connections must end even after a fault of ours, or the other hosts would wait for ever
            for connection in list(self._connections):
                connection.sock.close()
            self._listener.close()
            self._selector.close()

    def _turn(self, until: float) -> None:
        for key, events in self._selector.select(max(0.0, until - self._clock())):
            connection = key.data
            if connection is None:
                self._accept()
            elif connection in self._connections:
                if events & selectors.EVENT_WRITE:
                    self._flush(connection)
                if events & selectors.EVENT_READ and connection in self._connections:
                    self._read(connection)
        now = self._clock()
        for connection in [c for c in self._connections if c.member is None and now >= c.deadline]:
            self._refuse(connection, f"it did not prove within {GREET_WITHIN:g} s that it has this job's key")

    def _next_deadline(self) -> float:
        return min((c.deadline for c in self._connections if c.member is None), default=float("inf"))

    def _drain(self) -> None:
        """Close our direction, then wait for the hosts to close theirs: a reset would eat unread messages."""
        until = self._clock() + DRAIN
        self._selector.unregister(self._listener)
        self._listener.close()
        for connection in list(self._connections):
            if not isinstance(connection.member, str):
                self._close(connection)
        while self._connections and self._clock() < until:
            for connection in list(self._connections):
                self._flush(connection)
                if not connection.unsent:
                    with contextlib.suppress(OSError):
                        connection.sock.shutdown(socket.SHUT_WR)
            self._turn(until)

    def _accept(self) -> None:
        strangers = [c for c in self._connections if c.member is None]
        if len(strangers) >= MAX_STRANGERS:
            self._close(strangers[0])
        try:
            sock, address = self._listener.accept()
        except OSError as error:
            # Out of descriptors, or the caller has gone again: neither may end the job.
            if strangers:
                self._close(strangers[0])
            self._note(f"a connection could not be accepted: {error}")
            return
        sock.setblocking(False)
        set_options(sock)
        connection = _Connection(sock, f"{address[0]}:{address[1]}", self._clock() + GREET_WITHIN)
        connection.unsent += connection.ours
        self._connections.append(connection)
        self._selector.register(sock, selectors.EVENT_READ, connection)
        self._flush(connection)

    def _read(self, connection: _Connection) -> None:
        try:
            data = connection.sock.recv(_CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._lose(connection)
            return
        try:
            self._feed(connection, data)
        except WireError as error:
            self._refuse(connection, str(error))
        except RefusedError as error:
            if connection.session is not None:
                connection.unsent += connection.session.pack({"kind": "refused", "value": str(error)})
                self._flush(connection)
            self._refuse(connection, str(error))

    def _feed(self, connection: _Connection, data: bytes) -> None:
        if connection.session is None:
            connection.theirs += data
            check_greeting(connection.theirs)
            if len(connection.theirs) < GREETING_BYTES:
                return
            theirs, data = connection.theirs[:GREETING_BYTES], connection.theirs[GREETING_BYTES:]
            connection.session = Session(self._key, connection.ours, theirs, is_leader=True)
        for message in connection.session.feed(data):
            try:
                self._send(self._answer(connection, connection.session, message))
            except (KeyError, TypeError, ValueError) as error:
                raise WireError(f"a message {message['kind']!r} is not as it should be: {error!r}") from error

    def _answer(self, connection: _Connection, session: Session, message: Message) -> Sends:
        now = self._clock()
        if connection.member is not None:
            return self._meeting.receive(connection.member, message, now)
        member, sends = self._meeting.join(message, now)
        connection.member = member
        session.limit = MAX_MESSAGE
        self._by_member[member] = connection
        return [(member, {"kind": "welcome"}), *sends]

    def _send(self, sends: Sends) -> None:
        for member, message in sends:
            connection = self._by_member.get(member)
            if connection is None or connection.session is None:
                continue
            try:
                connection.unsent += connection.session.pack(message)
            except WireError as error:
                failure = {"kind": "error", "value": f"The values of all ranks together: {error}."}
                connection.unsent += connection.session.pack(failure)
            self._flush(connection)

    def _flush(self, connection: _Connection) -> None:
        try:
            while connection.unsent:
                sent = connection.sock.send(memoryview(connection.unsent)[:_CHUNK])
                del connection.unsent[:sent]
        except BlockingIOError:
            pass
        except OSError:
            self._lose(connection)
            return
        wanted = selectors.EVENT_READ | (selectors.EVENT_WRITE if connection.unsent else 0)
        if self._selector.get_key(connection.sock).events != wanted:
            self._selector.modify(connection.sock, wanted, connection)

    def _lose(self, connection: _Connection) -> None:
        member = connection.member
        self._close(connection)
        if member is not None:
            self._send(self._meeting.lose(member, self._clock()))

    def _refuse(self, connection: _Connection, why: str) -> None:
        self._note(f"the connection from {connection.address} was closed: {why}.")
        self._lose(connection)

    def _close(self, connection: _Connection) -> None:
        if connection not in self._connections:
            return
        self._connections.remove(connection)
        if connection.member is not None:
            self._by_member.pop(connection.member, None)
        self._selector.unregister(connection.sock)
        connection.sock.close()

    def _note(self, text: str) -> None:
        self._notes += 1
        if self._notes <= _MAX_NOTES:
            self._say(text + (" Further ones are not told." if self._notes == _MAX_NOTES else ""))
