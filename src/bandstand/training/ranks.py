"""The rank processes of one host: started, their stderr passed on, their end noticed."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

TAIL_BYTES = 64 << 10
"""How much of a rank's stderr is kept for its failure reason."""
_CHUNK = 64 << 10
_LONGEST_LINE = 256 << 10
_TRACEBACK = b"Traceback (most recent call last):"
_RESET = (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD, signal.SIGPIPE, signal.SIGXFSZ)
_LOOK_AGAIN_SECONDS = 0.02


class ErrorStream:
    """This process's stderr, to which several threads write whole lines."""

    def __init__(self, descriptor: int = 2) -> None:
        self._descriptor = descriptor
        self._lock = threading.Lock()
        self._broken = False

    def say(self, text: str) -> None:
        """Write one line of our own."""
        self.write(f"bandstand: {text}\n".encode(errors="backslashreplace"))

    def write(self, data: bytes) -> None:
        """Write bytes; once nobody reads them, they are dropped and the training goes on."""
        with self._lock:
            while data and not self._broken:
                try:
                    data = data[os.write(self._descriptor, data) :]
                except BlockingIOError:
                    time.sleep(0.01)  # somebody has made the pipe non-blocking, and its reader is slow
                except OSError:
                    self._broken = True


class Relay(threading.Thread):
    """Passes one rank's stderr on by whole lines, and keeps its end.

    Args:
        descriptor: The reading end of the rank's stderr; the relay closes it.
        out: Where to.
        clock: Seconds of a monotonic clock.
    """

    def __init__(
        self, descriptor: int, out: ErrorStream, clock: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__(name="bandstand-stderr", daemon=True)
        self._descriptor = descriptor
        self._out = out
        self._clock = clock
        self._tail = bytearray()
        self._lock = threading.Lock()
        self._reading = False
        self.trouble_at: float | None = None

    def run(self) -> None:
        """Read until every process that holds the other end has closed it."""
        pending = bytearray()
        while data := self._read():
            with self._lock:
                self._tail += data
                if _TRACEBACK in self._tail[-len(data) - len(_TRACEBACK) + 1 :]:
                    self.trouble_at = self._clock()
                if len(self._tail) > 2 * TAIL_BYTES:
                    del self._tail[:-TAIL_BYTES]
            pending += data
            end = max(pending.rfind(b"\n"), pending.rfind(b"\r")) + 1
            if not end and len(pending) > _LONGEST_LINE:
                end = len(pending)
            self._out.write(bytes(pending[:end]))
            del pending[:end]
        if pending:
            self._out.write(bytes(pending) + b"\n")
        os.close(self._descriptor)

    def finish(self, least: float, most: float) -> None:
        """Wait until everything has been passed on: the other end is closed, or open with nothing coming.

        Args:
            least: Seconds to wait while the other end is open, held by a process that outlives the rank.
            most: Seconds to wait even while something still comes, or while nobody takes it.
        """
        begun = self._clock()
        while self.is_alive() and self._clock() - begun < (least if self._reading else most):
            self.join(_LOOK_AGAIN_SECONDS)

    def _read(self) -> bytes:
        self._reading = True
        try:
            return os.read(self._descriptor, _CHUNK)
        finally:
            self._reading = False

    def tail(self) -> str:
        """The last 64 KiB, as text."""
        with self._lock:
            return self._tail[-TAIL_BYTES:].decode("utf-8", errors="replace")


@dataclass(frozen=True)
class Ended:
    """How a rank's process ended.

    Args:
        exit_code: Its exit code, None if a signal ended it.
        signal: That signal, None if it exited.
        peak_bytes: Most memory that it held at once.
    """

    exit_code: int | None
    signal: int | None
    peak_bytes: int

    @property
    def code(self) -> int:
        """As a shell would tell it: 128 and the signal's number."""
        return self.exit_code if self.exit_code is not None else 128 + (self.signal or 0)


@dataclass
class Rank:
    """A rank's process.

    Args:
        number: In the whole job, from 0.
        pid: Also the number of its process group.
        relay: Of its stderr.
        ended: How it ended, None while it runs.
    """

    number: int
    pid: int
    relay: Relay
    ended: Ended | None = None


def start_rank(number: int, command: Sequence[str], environ: Mapping[str, str], out: ErrorStream) -> Rank:
    """Start a rank in a process group of its own, in this process's working folder.

    Raises:
        OSError: If the command cannot be started.
    """
    reader, writer = os.pipe()
    try:
        pid = os.posix_spawn(
            command[0],
            list(command),
            dict(environ),
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                (os.POSIX_SPAWN_DUP2, writer, 2),
            ],
            setpgroup=0,
            setsigmask=(),
            setsigdef=_RESET,
        )
    except OSError:
        os.close(reader)
        raise
    finally:
        os.close(writer)
    relay = Relay(reader, out)
    relay.start()
    return Rank(number, pid, relay)


def reap(ranks: Sequence[Rank], *, kill_rest: bool) -> list[Rank]:
    """Collect every child that has ended, orphans included, which fall to process 1.

    Args:
        ranks: This host's ranks.
        kill_rest: Whether what a rank leaves behind in its process group is killed with it, as all processes
            are when a container ends.

    Returns:
        The ranks that have ended since the last call.
    """
    by_pid = {rank.pid: rank for rank in ranks if rank.ended is None}
    gone: list[Rank] = []
    while True:
        try:
            child = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return gone
        if child is None:
            return gone
        rank = by_pid.get(child.si_pid)
        if rank is not None and kill_rest:
            send_signal(rank, signal.SIGKILL)  # it is dead itself, but its number is not free before wait4
        _, status, usage = os.wait4(child.si_pid, 0)
        if rank is not None:
            unit = 1 if sys.platform == "darwin" else 1024
            code = os.waitstatus_to_exitcode(status)
            rank.ended = Ended(
                code if code >= 0 else None, -code if code < 0 else None, usage.ru_maxrss * unit
            )
            gone.append(rank)


def send_signal(rank: Rank, number: int) -> bool:
    """Signal a rank's whole process group; 0 only asks.

    Returns:
        Whether there is anything left of the group.
    """
    try:
        os.killpg(rank.pid, number)
    except ProcessLookupError:
        return False
    except PermissionError:  # macOS says so of a group of zombies
        return False
    return True
