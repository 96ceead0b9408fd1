"""A job's own network at the engine, which takes as long to make as a supervisor takes to start."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress

from bandstand.backends.engine import Engine
from bandstand.backends.job_folder import JobFolder
from bandstand.errors import PlatformError

FOLDER = "bandstand.folder"
HOME = "bandstand.home"
JOB = "bandstand.job"
OWNER = "bandstand.owner"


class Network:
    """A network that the engine is asked for at once, and that is waited for when it is needed.

    Args:
        engine: The engine.
        job: The training job's name.
        folder: Its folder.
        isolated: Whether its hosts reach nothing but each other.

    Raises:
        EngineLostError: There is no engine.
    """

    def __init__(self, engine: Engine, job: str, folder: JobFolder, *, isolated: bool) -> None:
        self.name = f"{job}-{os.urandom(4).hex()}"
        """Its name, and the beginning of its containers' names."""
        self._engine = engine
        request = {
            "Name": self.name,
            "CheckDuplicate": True,
            "Internal": isolated,
            "Labels": labels(job, folder),
        }
        self._sent = engine.send("POST", "/networks/create", request)
        self._is_taken = False

    def take(self) -> str:
        """Wait until it is there; return its identifier, with which it is the caller's to remove.

        Raises:
            EngineError: The engine refused it.
            EngineLostError: The engine went away.
        """
        self._is_taken = True
        identifier: str = self._sent.answer()["Id"]
        return identifier

    def discard(self) -> None:
        """Remove it if nobody has taken it; what resists is found by its labels (`bandstand clean`)."""
        if not self._is_taken:
            with suppress(PlatformError):
                self._engine.ask("DELETE", f"/networks/{self.take()}")


def labels(job: str, folder: JobFolder) -> Mapping[str, str]:
    """By what a job's containers and network are known as its own."""
    return {
        JOB: job,
        FOLDER: str(folder.path),
        HOME: str(folder.path.parents[1]),
        OWNER: str(os.geteuid()),
    }
