"""A job of several ranks: each asks the leader's hub over its own connection."""

from __future__ import annotations

import json
import os
import threading
from typing import Any

from bandstand.errors import JobError
from bandstand.training.meet.link import Link, LinkLostError, connect
from bandstand.training.meet.wire import Message
from bandstand.training.output import note
from bandstand.training.surroundings import Surroundings
from bandstand.training.team import Operation, Step, encode_value

_CONNECT_SECONDS = 10.0


class JobOver(SystemExit):
    """This rank has to leave, since another one has; raised by a collective, it ends the script quietly."""


class Linked:
    """One rank of several; implements `Team`.

    Args:
        link: The rank's own connection to the hub.
    """

    def __init__(self, link: Link) -> None:
        self._link = link
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._granted: Step = (0, 0)
        self._may_go_on = True
        self._told_stop = False

    def enter(self, step: Step, stop_asked: bool) -> bool:
        """Ask the hub, unless it has already let another rank enter this iteration."""
        if not self._may_go_on:
            return False
        news = stop_asked and not self._told_stop
        if step <= self._granted and not news:
            return True
        reply = self._ask({"kind": "enter", "step": step, "stop": stop_asked})
        self._told_stop = stop_asked
        self._may_go_on = reply["value"]
        self._granted = tuple(reply["granted"])
        return self._may_go_on

    def gather(self, operation: Operation, value: object, step: Step) -> list[Any]:
        """Give a value, and wait for those of all ranks."""
        found: list[Any] = self._call(operation, value, None, step)
        return found

    def broadcast(self, value: object, root: int, step: Step) -> Any:
        """Give or get the root's value, once all ranks have asked for it."""
        return self._call("broadcast", value, root, step)

    def _call(self, operation: Operation, value: object, root: int | None, step: Step) -> Any:
        json_value = json.loads(encode_value(operation, value))
        return self._ask(
            {"kind": "call", "operation": operation, "root": root, "step": step, "value": json_value}
        )["value"]

    def _ask(self, message: Message) -> Message:
        if os.getpid() != self._process:
            raise JobError(
                "A child process of a rank called the run; only the process that called bandstand.start() is "
                "a rank. Make the call there, and hand the result over."
            )
        try:
            with self._lock:
                self._link.send(message)
                reply = self._link.receive()
        except LinkLostError as error:
            note(f"this rank leaves: {error}")
            raise JobOver(1) from None
        if reply["kind"] == "error":
            raise JobError(reply["value"])
        if reply["kind"] == "stopped":
            note(f"this rank leaves: {reply['value']}")
            raise JobOver(0)
        if reply["kind"] == "failed":
            note(f"this rank leaves, since the job has failed: {reply['value']}")
            raise JobOver(1)
        return reply


def link_up(at: Surroundings, meet: str) -> Linked:
    """Join the job's other ranks.

    Args:
        at: This rank's place.
        meet: `address:port` of the leader's hub, which listens already.

    Raises:
        LinkLostError: If the hub cannot be reached.
    """
    address, _, port = meet.rpartition(":")
    key = bytes.fromhex(at.key)
    return Linked(connect(address, int(port), key, {"rank": at.rank}, within=_CONNECT_SECONDS, say=note))
