"""The state of a job on disk: replaced whole at each change, even when the disk is full."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import Any

from bandstand.backends.backend import HostState, JobState, Transition
from bandstand.backends.job_folder import JobFolder

SPARES = 4
"""States that can still be written after the disk has become full: stop, upload, end, and one more."""

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


class StateFile:
    """Writes a job's state; has room put aside for the last words on a full disk.

    A state is written over the blocks of a spare file, which is then renamed into place: neither needs new
    room.

    Args:
        folder: The job's folder.
        hosts: How many hosts the job has, which bounds the size of its state.
    """

    def __init__(self, folder: JobFolder, hosts: int) -> None:
        self._folder = folder
        self._size = 8192 + 512 * hosts
        self._spares: list[Path] = []
        self._number = 0
        self._restock()

    def write(self, state: JobState) -> None:
        """Put a state in place of the last one; raises OSError."""
        content = state_to_json(state).encode("utf-8", errors="surrogateescape").ljust(self._size)
        spare = self._spares.pop() if self._spares else self._next_spare()
        descriptor = os.open(spare, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            _write_all(descriptor, content)
            if state.is_ended:
                os.fsync(descriptor)
        finally:
            os.close(descriptor)
        spare.replace(self._folder.state)
        if not state.is_ended:
            self._restock()

    def close(self) -> None:
        """Give back the room that was put aside."""
        while self._spares:
            self._spares.pop().unlink(missing_ok=True)

    def _restock(self) -> None:
        while len(self._spares) < SPARES:
            spare = self._next_spare()
            try:
                with spare.open("xb") as file:
                    file.write(b" " * self._size)
            except OSError as error:
                spare.unlink(missing_ok=True)
                if error.errno in _FULL:
                    return
                raise
            self._spares.append(spare)

    def _next_spare(self) -> Path:
        self._number += 1
        return self._folder.path / f".state-{self._number}"


def state_to_json(state: JobState) -> str:
    """Return a state as text for `read_state`."""
    return json.dumps(
        {
            "status": state.status,
            "secondary_status": state.secondary_status,
            "transitions": [[step.status, step.time, step.message] for step in state.transitions],
            "failure_reason": state.failure_reason,
            "created": state.created,
            "started": state.started,
            "ended": state.ended,
            "hosts": [vars(host) for host in state.hosts],
            "model": None if state.model is None else str(state.model),
            "output": None if state.output is None else str(state.output),
            "stop_requested": state.stop_requested,
            "cause": state.cause,
            "attempt": state.attempt,
            "spent": state.spent,
            "had_checkpoints": state.had_checkpoints,
            "faults": state.faults,
        },
        ensure_ascii=False,
    )


def read_state(folder: JobFolder) -> JobState:
    """Return the state that was last written; raises FileNotFoundError where there is no job.

    A machine that lost its power may have left the file empty: then nothing is known of the job but that it
    was begun.
    """
    try:
        values: dict[str, Any] = json.loads(folder.state.read_text("utf-8", "surrogateescape"))
    except ValueError:
        moment = folder.state.stat().st_mtime
        return JobState("InProgress", "Starting", (Transition("Starting", moment, ""),), created=moment)
    values["transitions"] = tuple(Transition(*step) for step in values["transitions"])
    values["hosts"] = tuple(HostState(**host) for host in values["hosts"])
    for key in ("model", "output"):
        values[key] = None if values[key] is None else _place(values[key])
    return JobState(**values)


def _place(text: str) -> Path | str:
    """Where an archive lies; an address stays as it is."""
    return text if "://" in text else Path(text)


def _write_all(descriptor: int, content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]
