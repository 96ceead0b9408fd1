"""One host that is a container, seen from its supervisor: its streams, how it ended."""

from __future__ import annotations

import os
import resource
import socket
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bandstand.backends.backend import HostState
from bandstand.backends.engine import Engine, EngineError, EngineLostError, Exchange
from bandstand.backends.host import handles_stop
from bandstand.backends.log_writer import LogWriter
from bandstand.backends.reasons import signal_name
from bandstand.errors import PlatformError
from bandstand.log_lines import LineSplitter

_CHUNK = 1 << 18
_HEADER_BYTES = 8
_STDERR = 2
_SIGNALLED = range(129, 193)
_DRAIN_SECONDS = 10.0
_SIGNAL_PATIENCE = 10.0
_NOT_RUNNING = (404, 409)


class Streams:
    """A container's two output streams, which come over one connection in marked parts.

    Each part begins with eight bytes: the stream, three zeros, and the part's size
    (https://docs.docker.com/engine/api/v1.41/#operation/ContainerAttach).

    Args:
        exchange: The connection, its answer's head read.
        log: Where the lines go.
    """

    def __init__(self, exchange: Exchange, log: LogWriter) -> None:
        self._socket: socket.socket = exchange.socket
        self._socket.setblocking(False)
        self.descriptor = self._socket.fileno()
        self.is_open = True
        self._log = log
        self._splitters = {False: LineSplitter(), True: LineSplitter()}
        self._is_stderr = False
        self._due = 0
        self._header = b""
        self._take(exchange.rest)

    def read(self) -> bool:
        """Take what there is, at most a bounded amount; return whether there may be more."""
        try:
            data = self._socket.recv(_CHUNK)
        except BlockingIOError:
            return False
        except OSError:  # the engine was killed
            data = b""
        if not data:
            self.close()
            return False
        self._take(data)
        return True

    def close(self) -> None:
        """Write the last, unfinished lines, and let the connection go."""
        if not self.is_open:
            return
        self.is_open = False
        self._socket.close()
        for splitter in self._splitters.values():
            self._log.write(time.time(), splitter.flush())

    def _take(self, data: bytes) -> None:
        now = time.time()
        at = 0
        while at < len(data):
            if not self._due:
                missing = _HEADER_BYTES - len(self._header)
                self._header += data[at : at + missing]
                at += missing
                if len(self._header) == _HEADER_BYTES:
                    self._is_stderr = self._header[0] == _STDERR
                    self._due = int.from_bytes(self._header[4:], "big")
                    self._header = b""
                continue
            part = data[at : at + self._due]
            at += len(part)
            self._due -= len(part)
            self._log.write(now, self._splitters[self._is_stderr].feed(part))


class ContainerHost:
    """A host from the creation of its container to its end.

    Args:
        name: The host's name.
        log: Its log.
        engine: Runs it.
        note: A file in which its process 1 leaves the greatest memory of its processes, if it is ours.
        memory: Its limit in bytes, or None.
    """

    processes: tuple[int, ...] = ()
    """Children of the supervisor that belong to this host: containers are the engine's."""

    def __init__(self, name: str, log: LogWriter, engine: Engine, *, note: Path, memory: int | None) -> None:
        self.name = name
        self.log = log
        self.address = ""
        self.container = ""
        self.fault: str | None = None
        self.hint = ""
        self.streams: tuple[Streams, ...] = ()
        self.report = -1
        self._engine = engine
        self._note = note
        self._memory = memory
        self._waiting: Exchange | None = None
        self._process = 0
        self._code: int | None = None
        self._drain_by: float | None = None
        self._is_over = False

    def attach(self, *, stdin: bool) -> None:
        """Connect to the container's streams and its end, before it starts.

        Args:
            stdin: Whether its standard input lasts as long as this process.

        Raises:
            PlatformError: The engine refuses.
        """
        attached = self._engine.attach(self.container, stdin=stdin)
        if attached.head() >= 400:
            attached.answer()
        self.streams = (Streams(attached, self.log),)
        self._waiting = self._engine.send("POST", f"/containers/{self.container}/wait", condition="next-exit")
        if self._waiting.head() >= 400:
            self._waiting.answer()
        self.report = self._waiting.socket.fileno()

    def detach(self) -> None:
        """Let go of a container that never started, before another one takes its place."""
        for stream in self.streams:
            stream.close()
        if self._waiting is not None:
            self._waiting.socket.close()
        self.streams, self._waiting, self.report, self.container = (), None, -1, ""

    def began(self, facts: Mapping[str, Any], network: str) -> None:
        """Take note of what the engine says about the running container."""
        self._process = int(facts["State"].get("Pid") or 0)
        self.address = str(facts["NetworkSettings"]["Networks"].get(network, {}).get("IPAddress", ""))

    def refuse(self, fault: str) -> None:
        """Take note that the host cannot be started."""
        self.fault = self.fault or f"{self.name} could not be started: {fault}"
        self._is_over = True

    @property
    def has_ended(self) -> bool:
        """Whether the container is over and its last word was read.

        The engine closes the streams when all is said. Should it not, the wait for that has an end.
        """
        if self._is_over or self._drain_by is None:
            return self._is_over
        return not self.streams[0].is_open or time.monotonic() > self._drain_by

    @property
    def state(self) -> HostState:
        """What is told to the outside; the engine tells a signal as 128 and its number."""
        if self._code is None:
            return HostState(self.name, address=self.address)
        is_signal = self._code in _SIGNALLED
        return HostState(
            name=self.name,
            exit_code=self._code,
            signal=signal_name(self._code - 128) if is_signal else None,
            peak_memory=_read_note(self._note),
            address=self.address,
        )

    def take_report(self) -> bool:
        """Read how the container ended; return False when there will be nothing more."""
        waiting, self._waiting = self._waiting, None
        if waiting is None:
            return False
        waiting.socket.settimeout(_DRAIN_SECONDS)
        try:
            answer = waiting.answer()
        except PlatformError as error:
            self._lose(str(error))
            return False
        self._code = int(answer["StatusCode"])
        self._drain_by = time.monotonic() + _DRAIN_SECONDS
        return False

    def child_ended(self, _pid: int, _status: int, _usage: resource.struct_rusage) -> None:
        """Nothing: no child of the supervisor is part of a container."""

    def terminate(self) -> bool:
        """Send SIGTERM to process 1; return whether it can hear it.

        The kernel drops a signal that the first process of a container has no handler for, so it is not sent
        before there is one, where that can be seen.
        """
        if self.has_ended or self._drain_by is not None:
            return True
        if not self._process:
            return False
        if _is_process_of(self._process, self.container) and not handles_stop(self._process):
            return False
        self._signal("SIGTERM")
        return True

    def kill(self) -> None:
        """End the container and everything in it; its end is told by its report."""
        if self.container and not self.has_ended:
            self._signal("SIGKILL")

    def finish(self) -> None:
        """Read what is left in the streams of a host that has ended, and close everything."""
        for stream in self.streams:
            while stream.is_open and stream.read():
                pass
            stream.close()
        if self._waiting is not None:
            self._waiting.socket.close()
        self.report = -1
        self.log.close()
        if self._memory is not None and self._code:
            self._examine(self._memory)

    def _examine(self, memory: int) -> None:
        """Ask the engine about an end that a memory limit may have brought."""
        try:
            facts = self._engine.ask("GET", f"/containers/{self.container}/json", patience=_SIGNAL_PATIENCE)
        except PlatformError:
            return  # the end itself is known, and told
        if facts["State"].get("OOMKilled"):
            size = f"{memory / (1 << 20):,.0f} MiB"
            self.hint = f"{self.name} reached its memory limit of {size} (BANDSTAND_HOST_MEMORY)."

    def _signal(self, name: str) -> None:
        path = f"/containers/{self.container}/kill"
        try:
            self._engine.ask("POST", path, patience=_SIGNAL_PATIENCE, signal=name)
        except EngineError as error:
            if error.status not in _NOT_RUNNING:
                self._lose(str(error))
        except EngineLostError as error:
            self._lose(str(error))

    def _lose(self, why: str) -> None:
        if self.fault is None:
            self.fault = f"{self.name} was lost. {why}"
        self._is_over = True


def _is_process_of(process: int, container: str) -> bool:
    """Whether a process of this machine is a container's; false where the engine has a machine of its own."""
    try:
        return container in Path(f"/proc/{process}/cgroup").read_text(encoding="ascii", errors="replace")
    except OSError:
        return False


def _read_note(path: Path) -> int | None:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        text = os.read(descriptor, 32)
    finally:
        os.close(descriptor)
    return int(text) if text.isdigit() else None
