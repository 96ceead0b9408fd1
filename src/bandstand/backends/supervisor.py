"""The process that owns one training job: `python -m bandstand.backends.supervisor FOLDER`.

It is single-threaded: it starts the hosts, writes their logs, ends them when they are to end, and has packed
what they leave. Whoever started it may go; it goes on for as long as somebody renews the lease.
"""

from __future__ import annotations

import fcntl
import os
import signal
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from bandstand.backends import kernel
from bandstand.backends.conclusion import conclude, failed_because
from bandstand.backends.ending import Ending, EndingCause, asked
from bandstand.backends.events import Events, drain
from bandstand.backends.hosting import AnyHost, AnyLaunch, AnyStream, make_launch
from bandstand.backends.job_folder import JobFolder
from bandstand.backends.journal import Journal
from bandstand.backends.outside import Outside
from bandstand.backends.requests import listen
from bandstand.backends.task import Task
from bandstand.backends.uploading import Upload, Uploader, preload
from bandstand.errors import BandstandError

if TYPE_CHECKING:
    from bandstand.backends.container_network import Network

_LOOK_SECONDS = 1.0
_RETRY_SECONDS = 0.02


class Supervisor:
    """Runs one job from its first to its last status.

    Args:
        folder: The job's folder.
        network: The network of a job on containers, if it was asked for already.
    """

    def __init__(self, folder: JobFolder, network: Network | None = None) -> None:
        self._folder = folder
        self._network = network
        self._task = Task.from_json(folder.task.read_text("utf-8", "surrogateescape"))
        self._journal = Journal(folder, len(self._task.hosts))
        self._launch: AnyLaunch | None = None
        self._uploader: Uploader | None = None
        self._ending: Ending | None = None
        self._failed: AnyHost | None = None
        self._finished: set[AnyHost] = set()
        self._unheard: list[AnyHost] = []
        self._is_killed = False
        self._grace: float | None = None
        self._outside = Outside(self._task, folder, self._journal.state.created)
        self._interval = min(_LOOK_SECONDS, self._task.lease_seconds / 4)
        self._next_look = 0.0
        self._events = Events()
        signal.signal(signal.SIGTERM, lambda _number, _frame: self._terminate())
        control = listen(folder)
        if control is not None:
            self._events.watch(control, partial(self._hear, control))

    def run(self) -> None:
        """Run the job to its end."""
        try:
            self._begin()
        except (BandstandError, OSError) as error:
            self._end_by("failure", 0.0, str(error))
        while not all(host.has_ended for host in self._hosts):
            self._turn()
        self._finish()

    def abandon(self, error: BaseException) -> None:
        """End everything at once, since this process cannot go on."""
        for host in self._hosts:
            host.kill()
        while any(host.processes for host in self._hosts):
            self._reap()
            time.sleep(_RETRY_SECONDS)
        if self._launch is not None:
            self._launch.close()
            self._launch.leave()
        reason = f"The supervisor failed: {error!r}"
        self._journal.end("Failed", "Failed", "The supervisor failed.", cause="lost", reason=reason)

    @property
    def _hosts(self) -> Sequence[AnyHost]:
        return () if self._launch is None else self._launch.hosts

    def _begin(self) -> None:
        self._look()
        capacity = time.monotonic() + self._task.capacity - time.time()
        while self._ending is None and time.monotonic() < capacity:
            self._next_look = min(self._next_look, capacity)
            self._turn()
        if self._ending is not None:
            return
        self._journal.begin("Downloading", "Laying out the hosts and linking the channels.")
        self._outside.begin()
        self._next_look = min(self._next_look, self._outside.due)
        launch = make_launch(self._task, self._folder, os.environ, self._network)
        self._journal.begin("Training", "Training is running.")
        self._launch = launch
        launch.start()
        self._journal.hosts(host.state for host in launch.hosts)
        for host in launch.hosts:
            if host.report >= 0:
                self._events.watch(host.report, partial(self._read_report, host))
            for stream in host.streams:
                self._events.watch(stream.descriptor, partial(self._read_stream, stream))

    def _read_stream(self, stream: AnyStream) -> None:
        stream.read()
        if stream.is_open:
            preload()  # a host has started: before, it would be in the way, and at the end be waited for
        else:
            self._events.forget(stream.descriptor)

    def _read_report(self, host: AnyHost) -> None:
        if not host.take_report():
            self._events.forget(host.report)

    def _read_upload(self, uploader: Uploader) -> None:
        if not uploader.take():
            self._events.forget(uploader.result)

    def _turn(self) -> None:
        """Wait for something to happen, or to be due, and act."""
        self._events.wait(self._patience())
        self._reap()
        self._judge_hosts()
        if time.monotonic() >= self._next_look:
            self._look()
        self._press()

    def _patience(self) -> float:
        due = [self._next_look]
        if self._ending is not None and not self._is_killed:
            due.append(self._ending.deadline)
        now = time.monotonic()
        if self._unheard and not self._is_killed:
            due.append(now + _RETRY_SECONDS)
        return max(0.0, min(due) - now)

    def _reap(self) -> None:
        while True:
            try:
                process, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if process == 0:
                return
            if self._uploader is not None and process == self._uploader.process:
                self._uploader.ended(status)
            for host in self._hosts:
                host.child_ended(process, status, usage)

    def _hear(self, control: int) -> None:
        drain(control)
        self._next_look = 0.0

    def _terminate(self) -> None:
        self._outside.is_terminated = True
        self._next_look = 0.0

    def _look(self) -> None:
        """See what the outside wants, and whether there is anybody outside."""
        now = time.monotonic()
        self._next_look = now + self._interval
        for wish in self._outside.wishes(now):
            if wish.cause == "stop":
                if self._uploader is not None and wish.grace == 0 != self._grace:
                    self._uploader.kill()
                self._grace = wish.grace
            self._end_by(wish.cause, wish.grace, wish.text)
        self._next_look = min(self._next_look, self._outside.due)

    def _judge_hosts(self) -> None:
        for host in self._hosts:
            if host.has_ended and host not in self._finished:
                self._finished.add(host)
                self._see_off(host)
            if host.log.fault is not None:
                fault = host.log.fault
                text = f"The log of {host.name} cannot be written: {fault.strerror} ({host.log.path})."
                self._end_by("failure", self._task.peer_grace, text)

    def _see_off(self, host: AnyHost) -> None:
        for stream in host.streams:
            if stream.is_open:
                self._events.forget(stream.descriptor)
        self._events.forget(host.report)
        host.finish()
        if self._launch is not None:
            self._launch.see_off()
        self._journal.hosts(each.state for each in self._hosts)
        if host.fault is not None:
            self._end_by("failure", self._task.peer_grace, host.fault)
        elif host.state.exit_code != 0 and (self._ending is None or self._is_the_cause(host)):
            self._failed = host
            self._end_by("failure", self._task.peer_grace)

    def _is_the_cause(self, host: AnyHost) -> bool:
        """Whether a host that ended later made another one fail: it was killed, and not by this process."""
        if self._failed is None or self._is_killed:
            return False
        return self._failed.state.signal is None and host.state.signal not in (None, "SIGTERM")

    def _end_by(self, cause: EndingCause, grace: float, text: str = "") -> None:
        """Set the hosts an end, or an earlier one than they had."""
        before = self._ending
        if (
            before is None
            and cause != "failure"
            and self._hosts
            and all(host.has_ended for host in self._hosts)
        ):
            return  # the job has ended by itself; it is only packing
        self._ending = asked(before, cause, time.monotonic(), grace, text)
        if before is None:
            self._unheard = list(self._hosts)
        if before is None or before.cause != self._ending.cause:
            if self._ending.cause == "interruption":
                self._journal.begin("Interrupted", text)
            elif self._ending.is_wanted:
                self._journal.begin("Stopping", text, status="Stopping")

    def _press(self) -> None:
        """Tell the hosts that are to end so, and kill them when their time is over."""
        if self._ending is None or self._is_killed:
            return
        self._unheard = [host for host in self._unheard if not host.terminate()]
        if time.monotonic() >= self._ending.deadline:
            self._is_killed = True
            for host in self._hosts:
                host.kill()

    def _finish(self) -> None:
        launch = self._launch
        trouble = [] if launch is None else [launch.hand_over()]
        goes_on = self._ending is not None and self._ending.cause == "interruption"
        upload = self._upload() if self._hosts and not goes_on else Upload()
        trouble += [] if launch is None else [launch.close()]
        reason = failed_because(self._ending, self._failed, self._folder)
        conclude(self._journal, self._ending, upload, reason, " ".join(filter(None, trouble)))
        if launch is not None and (resisted := launch.leave()):
            print(resisted, file=sys.stderr)

    def _upload(self) -> Upload:
        with_model = self._ending is None or self._ending.is_wanted
        self._journal.begin("Uploading", "Packing what the hosts have left.")
        uploader = Uploader(self._task, self._folder, with_model=with_model)
        self._uploader = uploader
        self._events.watch(uploader.result, partial(self._read_upload, uploader))
        while uploader.outcome is None:
            self._turn()
        return uploader.outcome


def main(arguments: Sequence[str], network: Network | None = None) -> int:
    """Supervise the job in a folder.

    Args:
        arguments: The folder and, if the caller has locked it, the number of the inherited lock's descriptor.
        network: The network of a job on containers, if it was asked for already.
    """
    folder = JobFolder(Path(arguments[0]))
    for number in (signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    if len(arguments) > 1:
        lock = int(arguments[1])
        os.set_inheritable(lock, False)
    else:
        lock = os.open(folder.lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    if sys.platform == "linux":
        kernel.adopt_orphans()
    supervisor = Supervisor(folder, network)
    try:
        supervisor.run()
    except BaseException as error:
        supervisor.abandon(error)
        raise
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
