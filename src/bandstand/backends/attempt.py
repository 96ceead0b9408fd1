"""An attempt at a job: its folder made ready for a supervisor, the first time or once more."""

from __future__ import annotations

import fcntl
import json
import os
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from bandstand.backends.backend import HostState, JobState, Transition
from bandstand.backends.job_folder import JobFolder
from bandstand.backends.log_reader import whole_bytes
from bandstand.backends.requests import read_interruption
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


def last_state(job: JobFolder) -> JobState | None:
    """The state in which the last attempt was left; None where there was none, or its folder was removed."""
    try:
        return read_state(job)
    except FileNotFoundError:
        return None


def capacity_for(job: JobFolder, before: JobState | None) -> float:
    """When there is capacity for a job's next attempt, in epoch seconds; past where nothing is said of it.

    An interruption counts from the moment at which the hosts were gone. A job that waited for its end when it
    lost its owner, or its supervisor, has it from what that supervisor was told, and waits for the rest.

    Args:
        job: The job's folder.
        before: The job's last state, if there is one.
    """
    interruption = read_interruption(job)
    if interruption is not None:
        gone = before.ended if before is not None and before.ended is not None else time.time()
        return gone + interruption.away
    try:
        return float(json.loads(job.task.read_text("utf-8", "surrogateescape")).get("capacity", 0.0))
    except FileNotFoundError:
        return 0.0


def next_state(job: JobFolder, task: Task, attempt: int, before: JobState | None) -> JobState:
    """The state in which a job begins once more; what it has been through is kept.

    Args:
        job: The job's folder.
        task: What its supervisor is told.
        attempt: How often it has been begun, this time included.
        before: Its last state, if there is one.
    """
    fresh = replace(first_state(task), attempt=attempt, spent=task.spent)
    if before is None and attempt == 1:
        return fresh
    folder = Path(task.checkpoints or job.checkpoints)
    shared = None if task.checkpoints is None else task.name
    kept = _has_checkpoints(folder, shared) and not loses_checkpoints(task, before)
    source = "what is in its checkpoint path" if kept else f"nothing: {_why_nothing(task, before)}"
    text = f"Starting the training job again, for attempt {attempt}, from {source}."
    wait = task.capacity - fresh.created
    if wait > 0:
        text += f" There is no capacity for the next {max(1, round(wait))} s."
    again = Transition(fresh.secondary_status, fresh.created, text)
    if before is None:
        return replace(fresh, transitions=(again,), had_checkpoints=kept)
    lost = before.cause == "lost" or not before.is_ended
    return replace(
        fresh,
        transitions=(*before.transitions, again),
        created=before.created,
        had_checkpoints=kept,
        faults=before.faults + lost,
    )


def loses_checkpoints(task: Task, before: JobState | None) -> bool:
    """Whether a job's checkpoints are gone with its hosts: instances that are interrupted take along what no
    CheckpointConfig keeps."""
    return task.checkpoints is None and before is not None and before.cause == "interruption"


def _why_nothing(task: Task, before: JobState | None) -> str:
    if loses_checkpoints(task, before):
        return "it has no CheckpointConfig, without which interrupted instances take their checkpoints along"
    return "there is no checkpoint in its checkpoint path"


def _has_checkpoints(folder: Path, job: str | None) -> bool:
    """Whether a folder of checkpoints holds a file, or one that may be a job's if jobs share the folder."""
    if not folder.is_dir():
        return False
    if job is None:
        return any(path.is_file() for path in folder.rglob("*"))
    return any(path.is_file() for path in folder.iterdir()) or _has_checkpoints(folder / job, None)


def clear(job: JobFolder, task: Task, before: JobState | None) -> None:
    """Take away what an attempt left that the next one makes anew, and half lines, which nobody has read."""
    job.stop.unlink(missing_ok=True)
    if loses_checkpoints(task, before):
        remove_hosts([job.checkpoints])
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
    job.interruption.unlink(missing_ok=True)  # only now: how long it keeps the hosts away is in the task
    _write_private(job.state, state_to_json(state))


def _write_private(path: Path, text: str) -> None:
    write_atomically(path, text)
    path.chmod(0o600)
