"""An attempt at a job: its folder made ready for a supervisor, the first time or once more."""

from __future__ import annotations

import fcntl
import os
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from bandstand.backends.backend import HostState, JobState, Transition
from bandstand.backends.job_folder import JobFolder
from bandstand.backends.log_reader import whole_bytes
from bandstand.backends.state_file import read_state, state_to_json
from bandstand.backends.task import Task
from bandstand.backends.uploading import remove_hosts
from bandstand.errors import InputError
from bandstand.sagemaker_files import write_atomically


def claim(job: JobFolder, plan: str) -> int:
    """Make a job's folder and lock it; return the lock's descriptor.

    The lock is taken before there is a state, and inherited by the supervisor: so there is no moment at which
    the job has a state but seems to have no supervisor.
    """
    job.path.mkdir(mode=0o700, parents=True, exist_ok=True)
    job.path.chmod(0o700)
    try:
        descriptor = os.open(job.plan, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        raise InputError(f"{job.path} holds a training job already; give the new one another name.") from None
    with os.fdopen(descriptor, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(plan)
    lock = os.open(job.lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)  # waits for readers only, who hold it for no time
    return lock


def reclaim(job: JobFolder, plan: str) -> int:
    """Lock a job's folder again that nobody supervises; return the lock's descriptor.

    Raises:
        InputError: The job runs.
    """
    job.path.mkdir(mode=0o700, parents=True, exist_ok=True)
    job.path.chmod(0o700)
    if job.is_supervised() and not (job.state.exists() and read_state(job).is_ended):
        raise InputError(f"The job in {job.path} runs; it cannot be started again.")
    lock = os.open(job.lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    # Waits for readers, who hold it for no time, and for a supervisor that is about to leave.
    fcntl.flock(lock, fcntl.LOCK_EX)
    _write_private(job.plan, plan)
    return lock


def first_state(task: Task) -> JobState:
    """The state in which a job begins for the first time."""
    now = time.time()
    return JobState(
        status="InProgress",
        secondary_status="Starting",
        transitions=(Transition("Starting", now, "Starting the training job."),),
        created=now,
        hosts=tuple(HostState(name) for name in task.hosts),
    )


def next_state(job: JobFolder, task: Task, attempt: int, spent: float) -> JobState:
    """The state in which a job begins once more; what it has been through is kept."""
    fresh = replace(first_state(task), attempt=attempt, spent=spent)
    if attempt == 1:
        return fresh
    word = "Restarting"
    steps: tuple[Transition, ...] = (
        Transition(word, fresh.created, f"Starting the training job again, for attempt {attempt}."),
    )
    try:
        before = read_state(job)
    except FileNotFoundError:  # its folder was removed
        before = fresh
    else:
        steps = (*before.transitions, *steps)
    folder = Path(task.checkpoints or job.checkpoints)
    return replace(
        fresh,
        secondary_status=word,
        transitions=steps,
        created=before.created,
        had_checkpoints=_has_checkpoints(folder, None if task.checkpoints is None else task.name),
    )


def _has_checkpoints(folder: Path, job: str | None) -> bool:
    """Whether a folder of checkpoints holds a file, or one that may be a job's if jobs share the folder."""
    if not folder.is_dir():
        return False
    if job is None:
        return any(path.is_file() for path in folder.rglob("*"))
    return any(path.is_file() for path in folder.iterdir()) or _has_checkpoints(folder / job, None)


def clear(job: JobFolder, task: Task) -> None:
    """Take away what an attempt left that the next one makes anew, and half lines, which nobody has read."""
    job.stop.unlink(missing_ok=True)
    for spare in job.path.glob(".state-*"):
        spare.unlink()
    if job.hosts.exists():
        remove_hosts([job.host(host) for host in task.hosts])
        if any(job.hosts.iterdir()):  # something in it resists
            number = sum(1 for _ in job.path.glob("hosts-*")) + 1
            job.hosts.rename(job.hosts.with_name(f"hosts-{number}"))
    for host in task.hosts:
        log = job.log(host)
        if log.exists():
            os.truncate(log, whole_bytes(log))


def lay_out(job: JobFolder, task: Task, state: JobState) -> None:
    """Write what the supervisor reads, and the state last."""
    job.logs.mkdir(exist_ok=True)
    job.lease.touch(mode=0o600)
    with suppress(PermissionError, FileExistsError):
        os.mkfifo(job.control, 0o600)  # where it cannot be, the supervisor looks every second
    _write_private(job.task, task.to_json())
    _write_private(job.state, state_to_json(state))


def _write_private(path: Path, text: str) -> None:
    write_atomically(path, text)
    path.chmod(0o600)
