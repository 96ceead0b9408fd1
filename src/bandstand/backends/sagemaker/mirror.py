"""Training jobs of SageMaker as this machine has last seen them: states and log lines in files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from bandstand.atomic_files import write_atomically
from bandstand.backends.backend import JobState, LogLine
from bandstand.backends.job_folder import JobFolder
from bandstand.backends.log_reader import read_lines
from bandstand.backends.sagemaker.service_file import Served, read_served
from bandstand.backends.state_file import read_state, state_to_json
from bandstand.errors import InputError


class Mirror:
    """Reads the folders of jobs that run on SageMaker; asks nobody, so it never waits."""

    def describe(self, folder: Path) -> JobState:
        """See `Backend.describe`."""
        served_in(folder)
        return read_state(JobFolder(folder))

    def lines(self, folder: Path, offsets: Mapping[str, int]) -> tuple[list[LogLine], dict[str, int]]:
        """See `Backend.lines`."""
        job = JobFolder(folder)
        hosts = self.describe(folder).hosts
        return read_lines([(host.name, job.log(host.name)) for host in hosts], offsets)


def served_in(folder: Path) -> Served:
    """Where the job in a folder runs.

    Raises:
        InputError: There is no training job in it that was handed in.
    """
    served = read_served(folder)
    if served is None or not JobFolder(folder).state.exists():
        raise InputError(f"There is no training job in {folder}.")
    return served


def write_state(folder: Path, state: JobState) -> None:
    """Put a job's state in place of the last one, unless it is the same."""
    text = state_to_json(state)
    path = JobFolder(folder).state
    if not path.exists() or path.read_text("utf-8") != text:
        write_atomically(path, text)
