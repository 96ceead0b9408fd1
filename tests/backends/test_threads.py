"""One backend serves several threads at once, as in the service."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from bandstand.backends.processes import ProcessBackend

from .jobs import make_plan

THREADS = 8
JOBS = 6


@pytest.fixture
def often() -> Iterator[None]:
    """Threads take turns as often as can be."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("often")
def test_threads_that_look_at_jobs_as_they_end_do_not_disturb_each_other(tmp_path: Path) -> None:
    folders = [tmp_path / "jobs" / f"job-{number}" for number in range(JOBS)]
    with closing(ProcessBackend()) as backend, ThreadPoolExecutor(THREADS) as threads:

        def watch(_: int) -> list[str]:
            while not all(backend.describe(folder).is_ended for folder in folders):
                pass
            return [backend.describe(folder).status for folder in folders]

        for folder in folders:
            backend.submit(make_plan(tmp_path, folder.name), folder, threads=1)
        assert list(threads.map(watch, range(THREADS))) == [["Completed"] * JOBS] * THREADS
