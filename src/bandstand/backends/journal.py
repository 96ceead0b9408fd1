"""A job's state as its supervisor keeps it: every change is on disk before anything else happens."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from bandstand.backends.backend import Cause, HostState, JobState, Transition
from bandstand.backends.job_folder import JobFolder
from bandstand.backends.state_file import StateFile, read_state
from bandstand.sagemaker_files import fit_failure


class Journal:
    """Writes down what happens to a job.

    Args:
        folder: The job's folder, in which the first state was written when the job was handed in.
        hosts: How many hosts the job has.
    """

    def __init__(self, folder: JobFolder, hosts: int) -> None:
        self.state: JobState = read_state(folder)
        self._file = StateFile(folder, hosts)

    def begin(self, secondary: str, message: str, *, status: str | None = None) -> None:
        """Enter a secondary status that is not the last one.

        Args:
            secondary: `Downloading`, `Training`, `Interrupted`, `Stopping` or `Uploading`.
            message: One sentence for people.
            status: The status, if it changes.
        """
        now = time.time()
        self._put(
            replace(
                self._with_step(secondary, now, message),
                status=status or self.state.status,
                started=now if secondary == "Downloading" else self.state.started,
                stop_requested=self.state.stop_requested or secondary == "Stopping",
            )
        )

    def hosts(self, hosts: Iterable[HostState]) -> None:
        """Write down how the hosts are."""
        self._put(replace(self.state, hosts=tuple(hosts)))

    def end(
        self,
        status: str,
        secondary: str,
        message: str,
        *,
        cause: Cause = "",
        reason: str | None = None,
        model: Path | None = None,
        output: Path | None = None,
    ) -> None:
        """Enter the last status.

        Args:
            status: `Completed`, `Failed` or `Stopped`.
            secondary: The same, `MaxRuntimeExceeded`, `MaxWaitTimeExceeded` or `Interrupted`.
            message: One sentence for people.
            cause: Why it was ended; nothing if it ended by itself.
            reason: Why the job failed.
            model: The job's `model.tar.gz`.
            output: The job's `output.tar.gz`.
        """
        now = time.time()
        self._put(
            replace(
                self._with_step(secondary, now, message),
                status=status,
                ended=now,
                cause=cause,
                failure_reason=None if reason is None else fit_failure(reason),
                model=model,
                output=output,
            )
        )
        self._file.close()

    def _with_step(self, secondary: str, now: float, message: str) -> JobState:
        steps = self.state.transitions
        if steps and steps[-1].status == secondary:  # an interruption that has come to its end
            now, steps = steps[-1].time, steps[:-1]
        steps = (*steps, Transition(secondary, now, fit_failure(message)))
        return replace(self.state, secondary_status=secondary, transitions=steps)

    def _put(self, state: JobState) -> None:
        self.state = state
        self._file.write(state)
