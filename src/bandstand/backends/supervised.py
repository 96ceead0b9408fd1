"""Training jobs of this machine: a supervisor for each, a folder that says all there is to know."""

from __future__ import annotations

import json
import os
import signal
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import bandstand
from bandstand.backends.attempt import (
    capacity_for,
    claim,
    clear,
    first_state,
    last_state,
    lay_out,
    next_state,
    reclaim,
)
from bandstand.backends.backend import JobState, LogLine, Transition
from bandstand.backends.job_folder import JobFolder
from bandstand.backends.log_reader import read_lines
from bandstand.backends.remaining import wait_until_gone
from bandstand.backends.requests import read_request, request_stop
from bandstand.backends.state_file import read_state
from bandstand.backends.task import Task
from bandstand.errors import InputError, PlatformError
from bandstand.sagemaker_files import fit_failure

if TYPE_CHECKING:
    from bandstand.request.plan import TrainingPlan

_BOOT = (
    "import sys; sys.path.insert(0, sys.argv.pop(1)); "
    "from bandstand.backends.{} import main; sys.exit(main(sys.argv[1:]))"
)
_LOST = "The job's supervisor ended without a word: it was killed, or the machine went down."
_LOG_END_BYTES = 4096


class SupervisedBackend(ABC):
    """Runs each training job under a supervisor process of its own, which outlives the launcher.

    What the hosts are is told by the task that a subclass makes of a plan.

    Args:
        lease_seconds: Seconds without `renew` after which a job's supervisor stops it.
        lease_grace: Seconds between SIGTERM and SIGKILL for a job that has lost its owner.
        peer_grace: Seconds that the other hosts get to end by themselves after one has failed.
        environ: Gives the variables of a job's supervisor, of which its hosts inherit; None for those of this
            process, which are the user's shell's.
    """

    def __init__(
        self,
        *,
        lease_seconds: float = 10.0,
        lease_grace: float = 5.0,
        peer_grace: float = 5.0,
        environ: Callable[[TrainingPlan], Mapping[str, str]] | None = None,
    ) -> None:
        self._environ = environ or (lambda plan: os.environ)
        self._timing = {
            "lease_seconds": lease_seconds,
            "lease_grace": lease_grace,
            "peer_grace": peer_grace,
        }
        self._supervisors: dict[int, JobFolder] = {}

    @abstractmethod
    def check(self, plan: TrainingPlan) -> None:
        """See `Backend.check`."""

    def submit(self, plan: TrainingPlan, folder: Path, *, threads: int) -> None:
        """See `Backend.submit`."""
        self._reap()
        task = self._task(plan, threads, self._timing)
        job = JobFolder(folder.absolute())
        try:
            lock = claim(job, json.dumps(plan.to_dict(), ensure_ascii=False))
            try:
                lay_out(job, task, first_state(task))
                self._supervisors[_spawn_supervisor(job, task, lock, self._environ(plan))] = job
            finally:
                os.close(lock)
        except OSError as error:
            raise PlatformError(f"The job {plan.name} cannot be started: {error}.") from error

    def restart(self, plan: TrainingPlan, folder: Path, *, threads: int, attempt: int, spent: float) -> None:
        """See `Backend.restart`."""
        self._reap()
        job = JobFolder(folder.absolute())
        before = last_state(job)
        capacity = capacity_for(job, before)
        task = self._task(plan, threads, {**self._timing, "spent": spent, "capacity": capacity})
        try:
            lock = reclaim(job, json.dumps(plan.to_dict(), ensure_ascii=False))
            try:
                _see_off(job, task)
                state = next_state(job, task, attempt, before)
                clear(job, task, before)
                lay_out(job, task, state)
                self._supervisors[_spawn_supervisor(job, task, lock, self._environ(plan))] = job
            finally:
                os.close(lock)
        except OSError as error:
            raise PlatformError(f"The job {plan.name} cannot be started again: {error}.") from error

    def describe(self, folder: Path) -> JobState:
        """See `Backend.describe`."""
        self._reap()
        job = JobFolder(folder)
        state = _read_state(job)
        if not state.is_ended and not job.is_supervised():
            state = _read_state(job)  # the last one is written before the lock is let go
            if not state.is_ended:
                return self._lost(job, state)
        if state.is_ended:
            return state
        return replace(state, stop_requested=state.stop_requested or read_request(job) is not None)

    def lines(self, folder: Path, offsets: Mapping[str, int]) -> tuple[list[LogLine], dict[str, int]]:
        """See `Backend.lines`."""
        job = JobFolder(folder)
        return read_lines([(host.name, job.log(host.name)) for host in _read_state(job).hosts], offsets)

    def stop(self, folder: Path, grace: float = 120.0) -> None:
        """See `Backend.stop`."""
        if not self.describe(folder).is_ended:
            request_stop(JobFolder(folder), grace)

    def kill(self, folder: Path) -> None:
        """See `Backend.kill`."""
        self.stop(folder, 0.0)

    def renew(self, folder: Path) -> None:
        """See `Backend.renew`."""
        try:
            os.utime(JobFolder(folder).lease)
        except FileNotFoundError:
            raise InputError(f"There is no training job in {folder}; its lease cannot be renewed.") from None

    def list(self, home: Path) -> tuple[Path, ...]:
        """See `Backend.list`."""
        jobs = home / "jobs"
        if not jobs.is_dir():
            return ()
        return tuple(sorted(path for path in jobs.iterdir() if JobFolder(path).state.exists()))

    def close(self) -> None:
        """See `Backend.close`; jobs that are over have left nothing behind afterwards."""
        for process, job in tuple(self._supervisors.items()):
            if not job.state.exists() or read_state(job).is_ended:
                with suppress(ChildProcessError):  # somebody else in this process has waited for it
                    os.waitpid(process, 0)
        self._supervisors.clear()

    @abstractmethod
    def _task(self, plan: TrainingPlan, threads: int, timing: Mapping[str, float]) -> Task:
        """Return what a job's supervisor is told; raises PlatformError if it cannot be done."""

    def _lost(self, job: JobFolder, state: JobState) -> JobState:
        """Return the state of a job whose supervisor is gone, its hosts gone with it."""
        return lost(job, state)

    def _reap(self) -> None:
        """Let the supervisors go that have ended and were started here."""
        for process in tuple(self._supervisors):
            try:
                ended, _ = os.waitpid(process, os.WNOHANG)
            except ChildProcessError:  # somebody else in this process has waited for it
                ended = process
            if ended:
                self._supervisors.pop(process, None)  # another thread may have seen it, too


def _spawn_supervisor(job: JobFolder, task: Task, lock: int, environ: Mapping[str, str]) -> int:
    """Start a job's supervisor in a session of its own; return its process number.

    Python's site module is skipped, since it may load a lot that the supervisor does not need.
    """
    inherited = 4 if lock == 3 else 3
    boot = _BOOT.format("supervisor" if task.container is None else "container_boot")
    root = str(Path(bandstand.__file__).parents[1])
    text_mode = ("-X", "utf8") if sys.flags.utf8_mode else ()
    log = os.fspath(job.supervisor_log)
    return os.posix_spawn(
        sys.executable,
        [sys.executable, "-I", "-S", *text_mode, "-c", boot, root, str(job.path), str(inherited)],
        environ,
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600),
            (os.POSIX_SPAWN_DUP2, 1, 2),
            (os.POSIX_SPAWN_DUP2, lock, inherited),
        ],
        setsid=True,
        setsigmask=(),
        setsigdef=(signal.SIGCHLD, signal.SIGTERM),
    )


def _see_off(job: JobFolder, task: Task) -> None:
    """Wait for the last hosts of a killed supervisor: no job runs twice at once."""
    left = wait_until_gone(job.process(host) for host in task.hosts)
    if left:
        numbers = ", ".join(map(str, left))
        raise PlatformError(
            f"The job {task.name} cannot be started again: hosts of its earlier attempt do not end"
            f" (processes {numbers}). End them, and try again."
        )


def _read_state(job: JobFolder) -> JobState:
    try:
        return read_state(job)
    except FileNotFoundError:
        raise InputError(
            f"There is no training job in {job.path}; found no {job.state.name} there."
        ) from None


def lost(job: JobFolder, state: JobState, hosts: str = "No host is running.") -> JobState:
    """Return the state of a job whose supervisor is gone; the same however often it is asked for.

    Args:
        job: The job's folder.
        state: What the supervisor wrote last.
        hosts: A sentence about what became of the hosts.
    """
    files = [job.state, *(job.log(host.name) for host in state.hosts)]
    ended = max(path.stat().st_mtime for path in files if path.exists())
    said = _last_line(job.supervisor_log)
    reason = f"The job's supervisor failed: {said} (see {job.supervisor_log})." if said else _LOST
    reason = fit_failure(f"{reason} {hosts}")
    return replace(
        state,
        status="Failed",
        secondary_status="Failed",
        transitions=(*state.transitions, Transition("Failed", ended, reason)),
        failure_reason=reason,
        ended=ended,
        cause="lost",
    )


def _last_line(path: Path) -> str:
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - _LOG_END_BYTES))
            lines = file.read().decode("utf-8", "replace").split("\n")
    except FileNotFoundError:
        return ""
    return next((line.strip() for line in reversed(lines) if line.strip()), "")
