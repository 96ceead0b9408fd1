from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from bandstand.backends.backend import HostState, JobState, Transition
from bandstand.backends.job_folder import JobFolder
from bandstand.backends.state_file import SPARES, StateFile, read_state

ENDED = JobState(
    status="Failed",
    secondary_status="Failed",
    transitions=(Transition("Starting", 1.25, "Los geht’s."), Transition("Failed", 2.5, "line\nbreak")),
    failure_reason="kaputt – \u2028 " + "x" * 1000,
    created=1.25,
    started=1.5,
    ended=2.5,
    hosts=(HostState("algo-1", 137, "SIGKILL", 1 << 40, "127.1.2.1"), HostState("algo-2")),
    model=Path(os.fsdecode(b"/out/b\xffd name/model.tar.gz")),
    stop_requested=True,
)


def test_a_state_comes_back_as_it_was_written(tmp_path: Path) -> None:
    file = StateFile(JobFolder(tmp_path), 2)
    for state in (JobState("InProgress", "Training"), ENDED):
        file.write(state)
        assert read_state(JobFolder(tmp_path)) == state


def test_states_can_still_be_written_when_the_disk_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = StateFile(JobFolder(tmp_path), 1)
    real = Path.open

    def full(path: Path, mode: str = "r", *rest: object, **more: object) -> object:
        if "x" in mode:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(path, mode, *rest, **more)  # type: ignore[call-overload]

    monkeypatch.setattr(Path, "open", full)
    for number in range(SPARES - 1):
        file.write(JobState("InProgress", f"step {number}"))
    file.write(ENDED)
    assert read_state(JobFolder(tmp_path)) == ENDED


def test_nothing_but_the_state_is_left_at_the_end(tmp_path: Path) -> None:
    file = StateFile(JobFolder(tmp_path), 1)
    assert len(list(tmp_path.iterdir())) == SPARES
    file.write(ENDED)
    file.close()
    assert [path.name for path in tmp_path.iterdir()] == ["state.json"]


def test_time_is_billed_from_downloading_to_the_end_in_whole_seconds_rounded_up() -> None:
    assert JobState("InProgress", "Training", started=1.0).billable_seconds == 0
    assert JobState("Completed", "Completed", started=1.0, ended=1.1).billable_seconds == 1
    assert JobState("Completed", "Completed", started=1.0, ended=3.0).billable_seconds == 2
    assert JobState("Completed", "Completed", started=1.0, ended=3.2).billable_seconds == 3
    assert JobState("Failed", "Failed", ended=3.2).billable_seconds == 0
