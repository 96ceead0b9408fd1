"""One host, seen from its supervisor: its processes, its two streams, how it ended."""

from __future__ import annotations

import os
import resource
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

from bandstand.backends.backend import HostState
from bandstand.backends.enclosure import Enclosure
from bandstand.backends.host_process import GO, HostSpec, Wires, become
from bandstand.backends.log_writer import LogWriter
from bandstand.backends.reasons import signal_name
from bandstand.backends.remaining import write_down
from bandstand.log_lines import LineSplitter

_CHUNK = 1 << 18
_PEAK_UNIT = 1 if sys.platform == "darwin" else 1024


class Stream:
    """One of a host's two output streams.

    Args:
        descriptor: The pipe's end to read from.
        log: Where its lines go.
    """

    def __init__(self, descriptor: int, log: LogWriter) -> None:
        os.set_blocking(descriptor, False)
        self.descriptor = descriptor
        self.is_open = True
        self._log = log
        self._splitter = LineSplitter()

    def read(self) -> bool:
        """Take what there is, at most a bounded amount; return whether there may be more."""
        try:
            data = os.read(self.descriptor, _CHUNK)
        except BlockingIOError:
            return False
        if not data:
            self.close()
            return False
        self._log.write(time.time(), self._splitter.feed(data))
        return True

    def close(self) -> None:
        """Write the last, unfinished line, and let the pipe go."""
        if not self.is_open:
            return
        self.is_open = False
        os.close(self.descriptor)
        self._log.write(time.time(), self._splitter.flush())


class Host:
    """A host from its start to its end.

    Args:
        name: The host's name.
        address: Its loopback address.
        log: Its log.
        process_file: Where the process is written down whose end is the host's.
    """

    def __init__(self, name: str, address: str, log: LogWriter, process_file: Path) -> None:
        self.name = name
        self.address = address
        self.log = log
        self.process_file = process_file
        self.error: str | None = None
        self.hint = ""
        self.has_ended = False
        self.streams: tuple[Stream, ...] = ()
        self.report = -1
        self._life = -1
        self._unread = b""
        self._starter: int | None = None
        self._keeper: int | None = None
        self._process: int | None = None
        self._status: int | None = None
        self._peak: int | None = None

    def start(self, spec: HostSpec, enclosure: Enclosure) -> None:
        """Fork the host; whether it came up is told by its report.

        Raises:
            OSError: No process or pipe can be had.
        """
        stdout, out = os.pipe()
        stderr, err = os.pipe()
        self.report, report_writer = os.pipe()
        living, self._life = os.pipe()
        sys.stderr.flush()
        child = os.fork()
        if child == 0:
            become(spec, enclosure, Wires(out, err, report_writer, living))
        for descriptor in (out, err, report_writer, living):
            os.close(descriptor)
        os.set_blocking(self.report, False)
        self.streams = (Stream(stdout, self.log), Stream(stderr, self.log))
        if enclosure.processes:
            self._starter = child
        else:
            self._keeper = child
            write_down(self.process_file, child)

    @property
    def fault(self) -> str | None:
        """Why the host cannot be part of the job, or None."""
        return None if self.error is None else f"{self.name} could not be started: {self.error}"

    @property
    def state(self) -> HostState:
        """What is told to the outside."""
        if self._status is None:
            return HostState(self.name, address=self.address)
        code = os.waitstatus_to_exitcode(self._status)
        return HostState(
            name=self.name,
            exit_code=code if code >= 0 else 128 - code,
            signal=None if code >= 0 else signal_name(-code),
            peak_memory=self._peak,
            address=self.address,
        )

    @property
    def processes(self) -> tuple[int, ...]:
        """The supervisor's own children that belong to this host and live."""
        children = (self._starter, self._keeper, None if self._keeper else self._process)
        return () if self.has_ended else tuple(pid for pid in children if pid is not None)

    def take_report(self) -> bool:
        """Read what the host's first moments have to tell; return False when there will be nothing more."""
        try:
            data = os.read(self.report, 4096)
        except BlockingIOError:
            return True
        *lines, self._unread = (self._unread + data).split(b"\n")
        for line in lines:
            self._hear(line.decode("utf-8", "replace"))
        return bool(data)

    def refuse(self, error: str) -> None:
        """Take note that the host cannot be started."""
        self.error = error
        self.has_ended = True

    def child_ended(self, pid: int, status: int, usage: resource.struct_rusage) -> None:
        """Take note of the end of one of the supervisor's children, if it is this host's."""
        if pid == self._starter:
            self._starter = None
            self.take_report()
            if self._process is None:
                self._end(status, usage.ru_maxrss)
            elif self._life >= 0:
                with suppress(BrokenPipeError):  # process 1 has ended already, which is told by its own end
                    os.write(self._life, GO)
        elif pid == self._keeper:
            while not self.has_ended and self.take_report():
                pass
            if not self.has_ended:  # the keeper was killed, and process 1 with it
                self._end(status if status else signal.SIGKILL, usage.ru_maxrss)
        elif pid == self._process:
            self._end(status, usage.ru_maxrss)

    def terminate(self) -> bool:
        """Send SIGTERM to process 1; return whether it can hear it.

        The first process of a PID name space does not get a signal that it has no handler for: until it has
        one, the signal would be lost without a trace, so it is not sent.
        """
        if self._process is None or self.has_ended:
            return self.has_ended
        if self._keeper is None and not handles_stop(self._process):
            return False
        with suppress(ProcessLookupError):
            os.kill(self._process, signal.SIGTERM)
        return True

    def kill(self) -> None:
        """End the host and everything in it; its end is told by `child_ended`."""
        if self._life >= 0:
            os.close(
                self._life
            )  # the keeper, or a process 1 that has not begun, takes this for the order to end
            self._life = -1
        for pid in (self._starter, self._process if self._keeper is None else None):
            if pid is not None and not self.has_ended:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    def finish(self) -> None:
        """Read what is left in the pipes of a host that has ended, and close everything."""
        for stream in self.streams:
            while stream.is_open and stream.read():
                pass
            stream.close()
        if self._life >= 0:
            os.close(self._life)
            self._life = -1
        if self.report >= 0:
            os.close(self.report)
            self.report = -1
        self.log.close()

    def _hear(self, line: str) -> None:
        word, _, rest = line.partition(" ")
        if word == "pid":
            self._process = int(rest)
            if self._keeper is None:
                write_down(self.process_file, self._process)
        elif word == "error":
            self.error = rest
        elif word == "exit":
            status, peak = rest.split()
            self._end(int(status), int(peak))

    def _end(self, status: int, peak: int) -> None:
        self._status = status
        self._peak = peak * _PEAK_UNIT
        self.has_ended = True


def handles_stop(process: int) -> bool:
    """Whether a process has a handler for SIGTERM."""
    if sys.platform != "linux":
        return True
    try:
        status = Path(f"/proc/{process}/status").read_text(encoding="ascii", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return False
    _, found, rest = status.partition("SigCgt:")
    return bool(found) and bool(int(rest.split(maxsplit=1)[0], 16) >> (signal.SIGTERM - 1) & 1)
