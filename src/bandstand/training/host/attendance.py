"""How a host takes part in the rendezvous: the leader's hub, and the link of every host to it."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from typing import Any

from bandstand.training.host.job import Job
from bandstand.training.host.launchers import RING_PORTS
from bandstand.training.meet.hub import Hub
from bandstand.training.meet.link import Link, LinkLostError, connect
from bandstand.training.meet.meeting import Meeting
from bandstand.training.meet.sockets import adopt, free_ports, listen
from bandstand.training.meet.wire import Message

_HUB_ENDS_SECONDS = 12.0


class Attendance:
    """One host's part in the rendezvous.

    Args:
        job: The job; several ranks.
        say: Takes lines for people.
        tell: Takes what happens: `linked`, then a `message` each, then `lost` with the fault.

    Raises:
        PlatformError: If this is the leader and it cannot listen.
    """

    def __init__(self, job: Job, say: Callable[[str], None], tell: Callable[[str, Any], None]) -> None:
        self._job = job
        self._say = say
        self._tell = tell
        self._link: Link | None = None
        self._hub: Hub | None = None
        leader = job.cluster.leader
        self._address = (job.settings.host_map or {}).get(leader, leader)
        self._port = job.settings.port
        if job.cluster.index == 0:
            listener = self._listen()
            self._address, self._port = _reachable(listener)
            self._hub = Hub(listener, job.key, self._meeting, say)
            self._hub.start()
        threading.Thread(target=self._attend, name="bandstand-link", daemon=True).start()

    @property
    def linked(self) -> bool:
        """Whether this host has joined."""
        return self._link is not None

    @property
    def meet(self) -> str | None:
        """`address:port` of the hub, as seen from here; None before this host has joined."""
        return self._link.meet if self._link is not None else None

    def send(self, message: Message) -> None:
        """Tell the hub something; when the link is lost, `tell` hears of it."""
        if self._link is None:
            return
        try:
            self._link.send(message)
        except LinkLostError as error:
            self._tell("lost", str(error))

    def leave(self) -> None:
        """End this host's link, so that the hub need not wait for it."""
        if self._link is not None:
            self._link.close()

    def finish(self) -> None:
        """On the leader, wait until every host has heard the end."""
        if self._hub is not None:
            self._hub.join(_HUB_ENDS_SECONDS)

    def _meeting(self, now: float) -> Meeting:
        settings = self._job.settings
        return Meeting(
            self._job.cluster.hosts,
            settings.ranks_per_host,
            settings.start_timeout,
            now,
            self._say,
            free_ports(RING_PORTS),
        )

    def _listen(self) -> socket.socket:
        settings = self._job.settings
        if settings.listen_fd is not None:
            return adopt(settings.listen_fd)
        if len(self._job.cluster.hosts) == 1:
            return listen("127.0.0.1", 0)
        return listen((settings.host_map or {}).get(self._job.cluster.leader, ""), settings.port)

    def _attend(self) -> None:
        cluster, settings = self._job.cluster, self._job.settings
        join = {
            "host": cluster.current_host,
            "hosts": list(cluster.hosts),
            "ranks_per_host": settings.ranks_per_host,
        }
        try:
            link = connect(
                self._address, self._port, self._job.key, join, within=settings.start_timeout, say=self._say
            )
            self._link = link
            self._tell("linked", None)
            while True:
                self._tell("message", link.receive())
        except LinkLostError as error:
            self._tell("lost", str(error))


def _reachable(listener: socket.socket) -> tuple[str, int]:
    address, port = listener.getsockname()[:2]
    return ("127.0.0.1" if address == "0.0.0.0" else str(address)), int(port)  # noqa: S104 - compared, not bound
