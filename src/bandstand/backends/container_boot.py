"""The start of a supervisor of containers: the engine makes the network while the rest is loaded."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from pathlib import Path

from bandstand.backends.container_network import Network
from bandstand.backends.engine_address import find_engine
from bandstand.backends.job_folder import JobFolder
from bandstand.errors import PlatformError


def main(arguments: Sequence[str]) -> int:
    """Supervise the job in a folder; see `bandstand.backends.supervisor.main`."""
    network = _begin(JobFolder(Path(arguments[0])))
    try:
        from bandstand.backends.supervisor import main as supervise

        return supervise(arguments, network)
    finally:
        if network is not None:
            network.discard()


def _begin(folder: JobFolder) -> Network | None:
    """Ask for the job's network; None where that fails, which is then told when it is asked for again.

    A job that waits for capacity first asks when its time has come: a network that nothing is in takes one of
    the engine's few ranges of addresses, and is removed by `docker network prune`.
    """
    try:
        task = json.loads(folder.task.read_text("utf-8", "surrogateescape"))
        if task["capacity"] > time.time():
            return None
        engine = find_engine(os.environ)
        return Network(engine, task["name"], folder, isolated=task["container"]["isolated"])
    except (PlatformError, OSError):
        return None
