from __future__ import annotations

from pathlib import Path

import pytest

from bandstand.backends.gpus import Gpus
from bandstand.errors import PlatformError

FOUR = ("GPU-a", "GPU-b", "GPU-c", "GPU-d")


def test_hosts_of_all_jobs_share_no_gpu(tmp_path: Path) -> None:
    first = Gpus(2, 1, FOUR, tmp_path / "gpus")
    second = Gpus(1, 2, FOUR, tmp_path / "gpus")
    assert first.of_hosts == (("GPU-a",), ("GPU-b",))
    assert second.of_hosts == (("GPU-c", "GPU-d"),)
    second.close()
    first.close()


def test_gpus_that_were_let_go_are_free(tmp_path: Path) -> None:
    first = Gpus(1, 3, FOUR, tmp_path)
    with pytest.raises(PlatformError, match=r"2 GPUs; 1 of 4 are free, other jobs have the rest\."):
        Gpus(1, 2, FOUR, tmp_path)
    first.close()
    again = Gpus(2, 2, FOUR, tmp_path)
    assert len({gpu for own in again.of_hosts for gpu in own}) == 4
    again.close()


def test_more_gpus_than_there_are_are_refused(tmp_path: Path) -> None:
    with pytest.raises(PlatformError, match=r"asks for 2 GPUs for each of 3 hosts; this machine has 4\."):
        Gpus(3, 2, FOUR, tmp_path)
