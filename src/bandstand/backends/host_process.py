"""The inside of a host's first moments: from a fork of the supervisor to process 1.

With own process numbers (a PID name space) a starter enters the name spaces and forks process 1, which the
supervisor adopts when the starter has ended. Without them a keeper stays between the two, see `keep`.

What is told to the supervisor, one line each: `pid N`, `error TEXT`, `exit STATUS PEAK`.
"""

from __future__ import annotations

import os
import select
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import NoReturn

from bandstand.backends import kernel
from bandstand.backends.descendants import kill_descendants
from bandstand.backends.enclosure import Enclosure
from bandstand.backends.mounts import Mount

GO = b"g"
NICENESS = 5
"""How much lower the hosts' priority is than their supervisor's, see nice(2)."""

_RESET = (
    signal.SIGCHLD,
    signal.SIGHUP,
    signal.SIGINT,
    signal.SIGPIPE,
    signal.SIGQUIT,
    signal.SIGTERM,
    signal.SIGXFSZ,
)


@dataclass(frozen=True)
class HostSpec:
    """What one host runs, and what it sees.

    Args:
        name: The host's name.
        command: Program and arguments of process 1.
        environment: All of its variables.
        folder: Where it starts.
        mounts: What it sees in place of the machine's files.
        listener: A listening socket that process 1 inherits, under this number; or None.
    """

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str]
    folder: str
    mounts: tuple[Mount, ...]
    listener: int | None = None


@dataclass(frozen=True)
class Wires:
    """What connects a host with its supervisor, seen from the host.

    Args:
        stdout: Becomes standard output.
        stderr: Becomes standard error.
        report: Where the host's first moments are told.
        life: Ends when the supervisor ends, or wants the host's end; a byte comes when process 1 may go on.
    """

    stdout: int
    stderr: int
    report: int
    life: int


def become(spec: HostSpec, enclosure: Enclosure, wires: Wires) -> NoReturn:
    """Turn this fresh fork of the supervisor into a host; never returns."""
    signal.set_wakeup_fd(-1)
    for number in _RESET:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    _close_all_but({wires.stdout, wires.stderr, wires.report, wires.life, spec.listener or 0})
    try:
        if enclosure.processes:
            _start(spec, enclosure, wires)
        else:
            _keep(spec, enclosure, wires)
    except (OSError, ValueError) as error:
        _tell_error(wires, error)
    except BaseException:
        _say_fault()
        raise
    finally:
        os._exit(127)


def _start(spec: HostSpec, enclosure: Enclosure, wires: Wires) -> NoReturn:
    enclosure.enter()
    child = os.fork()
    if child != 0:
        _tell(wires, f"pid {child}")
        os._exit(0)
    # The death of the parent counts from here on, so the starter has to be gone: the supervisor says when.
    if os.read(wires.life, 1) != GO:
        os._exit(127)
    kernel.die_with_parent()
    if _is_over(wires.life):
        os._exit(127)
    enclosure.arrange(spec.name, spec.mounts)
    _execute(spec, wires)


def _keep(spec: HostSpec, enclosure: Enclosure, wires: Wires) -> NoReturn:
    """Start process 1 as a child, end all of its descendants after it, and tell how it ended.

    They are ended, too, when the supervisor's end of `life` is closed: by its death, or to kill the host.
    """
    if sys.platform == "linux":
        kernel.adopt_orphans()
    keeper = os.getpid()
    failed, fails = os.pipe()
    child = os.fork()
    if child == 0:
        _become_child(spec, enclosure, Wires(wires.stdout, wires.stderr, fails, wires.life), keeper)
    os.close(fails)
    for output in (wires.stdout, wires.stderr):
        os.close(output)
    if spec.listener is not None:
        os.close(spec.listener)
    with os.fdopen(failed, "rb") as pipe:
        refusal = pipe.read()
    if refusal:
        os.write(wires.report, refusal)
    else:
        _tell(wires, f"pid {child}")
    status, peak = _watch(child, wires.life)
    _tell(wires, f"exit {status} {peak}")
    os._exit(0)


def _become_child(spec: HostSpec, enclosure: Enclosure, wires: Wires, keeper: int) -> NoReturn:
    try:
        if enclosure.files:
            enclosure.enter()
        if sys.platform == "linux":
            kernel.die_with_parent()
            if os.getppid() != keeper:
                os._exit(127)
        enclosure.arrange(spec.name, spec.mounts)
        _execute(spec, wires)
    except (OSError, ValueError) as error:
        _tell_error(wires, error)
    except BaseException:
        _say_fault()
        raise
    finally:
        os._exit(127)


def _watch(child: int, life: int) -> tuple[int, int]:
    """Wait for the end of process 1 or of `life`, then of everything; return status and peak."""
    waker, woken = os.pipe()
    os.set_blocking(woken, False)
    signal.set_wakeup_fd(woken)
    signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    events = select.poll()
    for descriptor in (waker, life):
        events.register(descriptor, select.POLLIN)
    ended: tuple[int, int] | None = None
    while ended is None:
        ended = _reap(child)
        if ended is None:
            events.poll()
            if _is_over(life):
                break
            os.read(waker, 512)
    if sys.platform != "linux":
        with suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
    while kill_descendants(os.getpid()) or ended is None:
        process, status, usage = os.wait4(-1, 0)
        if process == child:
            ended = status, usage.ru_maxrss
    return ended


def _reap(child: int) -> tuple[int, int] | None:
    ended = None
    while True:
        try:
            process, status, usage = os.wait4(-1, os.WNOHANG)
        except ChildProcessError:
            return ended
        if process == 0:
            return ended
        if process == child:
            ended = status, usage.ru_maxrss


def _execute(spec: HostSpec, wires: Wires) -> NoReturn:
    os.setsid()
    os.chdir(spec.folder)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for source, place in ((nothing, 0), (wires.stdout, 1), (wires.stderr, 2)):
        os.dup2(source, place)
    if spec.listener is not None:
        os.set_inheritable(spec.listener, True)
    _give_way()
    os.execvpe(spec.command[0], spec.command, spec.environment)  # noqa: S606 - no shell is wanted


def _give_way() -> None:
    """Run after supervisors and launchers where cores are few: a stop that waits comes rounds late."""
    with suppress(OSError):  # a system that refuses only makes stops later
        os.nice(NICENESS)
        if sys.platform == "linux":
            os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))


def _close_all_but(kept: set[int]) -> None:
    begin = 3
    for descriptor in sorted(number for number in kept if number > 2):
        os.closerange(begin, descriptor)
        begin = descriptor + 1
    os.closerange(begin, 4096)


def _is_over(life: int) -> bool:
    events = select.poll()
    events.register(life, select.POLLIN)
    return bool(events.poll(0))


def _say_fault() -> None:
    """Leave the trace of a fault of ours in the supervisor's log."""
    sys.excepthook(*sys.exc_info())
    sys.stderr.flush()


def _tell(wires: Wires, line: str) -> None:
    os.write(wires.report, f"{line}\n".encode("utf-8", "replace"))


def _tell_error(wires: Wires, error: Exception) -> None:
    text = str(error.strerror or error) if isinstance(error, OSError) else str(error)
    name = f" {error.filename}" if isinstance(error, OSError) and error.filename else ""
    _tell(wires, f"error {text}{name}".replace("\n", " "))
