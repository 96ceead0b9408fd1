from __future__ import annotations

import os
import sys

import pytest

from bandstand.cores import usable_cores


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ties a process to cores")
def test_cores_are_those_this_process_may_use() -> None:
    allowed = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {next(iter(allowed))})
        assert usable_cores() == 1
    finally:
        os.sched_setaffinity(0, allowed)
