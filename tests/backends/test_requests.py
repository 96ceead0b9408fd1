from __future__ import annotations

import os
import select
from pathlib import Path

from bandstand.backends.job_folder import JobFolder
from bandstand.backends.requests import StopRequest, listen, read_request, request_stop


def test_a_request_stays_until_somebody_looks(tmp_path: Path) -> None:
    folder = JobFolder(tmp_path)
    assert read_request(folder) is None
    request_stop(folder, 120.0)
    assert read_request(folder) == StopRequest(120.0)


def test_of_several_requests_the_shortest_grace_counts(tmp_path: Path) -> None:
    folder = JobFolder(tmp_path)
    for grace in (120.0, 0.0, 60.0):
        request_stop(folder, grace)
    assert read_request(folder) == StopRequest(0.0)


def test_a_request_wakes_whoever_listens(tmp_path: Path) -> None:
    folder = JobFolder(tmp_path)
    os.mkfifo(folder.control)
    control = listen(folder)
    assert control is not None
    assert not select.select([control], [], [], 0)[0]
    for _ in range(3):
        request_stop(folder, 1.0)
    assert select.select([control], [], [], 0)[0]
    os.read(control, 100)
    assert not select.select([control], [], [], 0)[0]
    os.close(control)


def test_nobody_listening_and_no_fifo_do_no_harm(tmp_path: Path) -> None:
    folder = JobFolder(tmp_path)
    assert listen(folder) is None
    request_stop(folder, 1.0)
    os.mkfifo(folder.control)
    request_stop(folder, 1.0)
