"""The rank processes of one host: started, signalled, and their end noticed."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bandstand.training.host.relay import Relay, Stream

_RESET = (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD, signal.SIGPIPE, signal.SIGXFSZ)
_PEAK_UNIT = 1 if sys.platform == "darwin" else 1024  # bytes of ru_maxrss, see getrusage(2)
_OPEN_SECONDS = 1.0
_BUSY_SECONDS = 5.0


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
        stderr: Passes its stderr on.
        stdout: Passes its stdout on; None if it has this process's own.
        ended: How it ended, None while it runs.
        spared: Whether it died of a stop, so that the rest of its group still has its time.
    """

    number: int
    pid: int
    stderr: Relay
    stdout: Relay | None
    ended: Ended | None = None
    spared: bool = False

    def last_words(self) -> str:
        """The end of what it wrote on stderr, once it has ended."""
        self.stderr.finish(_OPEN_SECONDS, _OPEN_SECONDS)
        return self.stderr.tail()


class Ranks:
    """The ranks of this host.

    Args:
        out: This process's stdout.
        err: This process's stderr.
    """

    def __init__(self, out: Stream, err: Stream) -> None:
        self._out = out
        self._err = err
        self._ranks: list[Rank] = []

    @property
    def all_ended(self) -> bool:
        """Whether none runs; true before the first was started."""
        return all(rank.ended for rank in self._ranks)

    @property
    def any_spared(self) -> bool:
        """Whether a rank died of a stop and may have left processes that still save."""
        return any(rank.spared for rank in self._ranks)

    def start(
        self, number: int, command: Sequence[str], environ: Mapping[str, str], *, shares_stdout: bool
    ) -> None:
        """Start a rank in a process group of its own, in this process's working folder.

        Args:
            number: In the whole job, from 0.
            command: The program's absolute path, and its arguments.
            environ: Its environment.
            shares_stdout: Whether other ranks write to this host's stdout, so that lines must be kept apart.

        Raises:
            OSError: If the command cannot be started.
        """
        pipes = {2: os.pipe(), **({1: os.pipe()} if shares_stdout else {})}
        inherited = [(os.POSIX_SPAWN_DUP2, writer, stream) for stream, (_, writer) in pipes.items()]
        try:
            pid = os.posix_spawn(
                command[0],
                list(command),
                dict(environ),
                file_actions=[(os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0), *inherited],
                setpgroup=0,
                setsigmask=(),
                setsigdef=_RESET,
            )
        except OSError:
            for reader, _ in pipes.values():
                os.close(reader)
            raise
        finally:
            for _, writer in pipes.values():
                os.close(writer)
        stderr = Relay(pipes[2][0], self._err)
        stdout = Relay(pipes[1][0], self._out) if shares_stdout else None
        self._ranks.append(Rank(number, pid, stderr, stdout))
        for relay in filter(None, (stderr, stdout)):
            relay.start()

    def signal(self, number: int) -> None:
        """Signal the whole process group of every rank."""
        for rank in self._ranks:
            _signal(rank, number)

    def ask_to_stop(self, number: int) -> None:
        """Signal the process of each rank that listens for a stop, else, when there is none, its whole group.

        A listener's own workers go on until it has come to the end of its iteration.
        """
        for rank in self._ranks:
            listener = rank.stderr.listener
            if listener is None or not _signal_member(rank, listener, number):
                _signal(rank, number)

    def rest_remains(self) -> bool:
        """Whether there is anything left of the group of a rank that died of a stop."""
        return any(_signal(rank, 0) for rank in self._ranks if rank.spared)

    def reap(self, *, stopping: bool) -> list[Rank]:
        """Collect every child that has ended, orphans included, which fall to process 1.

        What a rank leaves behind in its process group is killed with it, as all processes are when a
        container ends; but not if a stop has killed only the shell around the one that still saves.

        Args:
            stopping: Whether the ranks have been asked to stop.

        Returns:
            The ranks that have ended since the last call.
        """
        by_pid = {rank.pid: rank for rank in self._ranks if rank.ended is None}
        gone: list[Rank] = []
        while True:
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return gone
            if pid == 0:
                return gone
            rank = by_pid.get(pid)
            if rank is None:
                continue
            code = os.waitstatus_to_exitcode(status)
            exit_code, number = (code, None) if code >= 0 else (None, -code)
            rank.ended = Ended(exit_code, number, usage.ru_maxrss * _PEAK_UNIT)
            rank.spared = stopping and number in (signal.SIGTERM, signal.SIGINT)
            if not rank.spared:
                _signal(rank, signal.SIGKILL)
            gone.append(rank)

    def finish(self) -> None:
        """Wait, within bounds, until all that the ranks have written is passed on."""
        for rank in self._ranks:
            for relay in filter(None, (rank.stderr, rank.stdout)):
                relay.finish(_OPEN_SECONDS, _BUSY_SECONDS)


def _signal_member(rank: Rank, process: int, number: int) -> bool:
    """Signal one process if it belongs to the rank's group."""
    try:
        if os.getpgid(process) != rank.pid:
            return False
        os.kill(process, number)
    except ProcessLookupError:
        return False
    return True


def _signal(rank: Rank, number: int) -> bool:
    try:
        os.killpg(rank.pid, number)
    except ProcessLookupError:
        return False
    except PermissionError:  # macOS says so of a group of zombies
        return False
    return True
