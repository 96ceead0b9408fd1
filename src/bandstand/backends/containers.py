"""Training jobs as containers of this machine's engine, one for each host."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bandstand.backends.backend import JobState
from bandstand.backends.container_planning import container_task
from bandstand.backends.engine import Engine, EngineError
from bandstand.backends.engine_address import find_engine
from bandstand.backends.engine_faults import explained
from bandstand.backends.job_folder import JobFolder
from bandstand.backends.leftovers import of_job, remove
from bandstand.backends.platforms import check_platform
from bandstand.backends.supervised import SupervisedBackend, lost
from bandstand.backends.task import Task, task_from_plan
from bandstand.errors import PlatformError

if TYPE_CHECKING:
    from bandstand.request.plan import TrainingPlan


_PART = r"[a-zA-Z0-9]+(?:[._-]+[a-zA-Z0-9]+)*"
_IMAGE = re.compile(
    rf"(?:\[[0-9a-fA-F:]+\](?::[0-9]+)?/)?{_PART}(?::[0-9]+(?=/))?(?:/{_PART})*"
    r"(?::[a-zA-Z0-9_][a-zA-Z0-9._-]*)?(?:@[a-zA-Z0-9+._-]+:[0-9a-fA-F]+)?"
)
"""An image's name (https://pkg.go.dev/github.com/distribution/reference), or its identifier."""


class ContainerBackend(SupervisedBackend):
    """Runs each training job under a supervisor of its own, whose hosts are containers.

    All of a job's hosts are in a network of their own, under their names, with `/opt/ml` as in the service.
    Process 1 is the image's own, which is given the word `train`; the image is never pulled. A job's
    containers and network are removed when it ends. If its supervisor is killed, Bandstand's own process 1
    ends by itself, and whoever next asks for the job ends any other.

    Args:
        lease_seconds: Seconds without `renew` after which a job's supervisor stops it.
        lease_grace: Seconds between SIGTERM and SIGKILL for a job that has lost its owner.
        peer_grace: Seconds that the other hosts get to end by themselves after one has failed.
    """

    def check(self, plan: TrainingPlan) -> None:
        """See `Backend.check`."""
        find_image(find_engine(os.environ), plan.image)

    def restart(self, plan: TrainingPlan, folder: Path, *, threads: int, attempt: int, spent: float) -> None:
        """See `Backend.restart`."""
        if not JobFolder(folder).is_supervised():
            engine = find_engine(os.environ)
            remove(engine, of_job(engine, folder.absolute()))
        super().restart(plan, folder, threads=threads, attempt=attempt, spent=spent)

    def _task(self, plan: TrainingPlan, threads: int, timing: Mapping[str, float]) -> Task:
        task = task_from_plan(plan, threads=threads, command=(), timing=timing)
        image = find_image(find_engine(os.environ), plan.image)
        return replace(task, container=container_task(plan, image, os.environ))

    def _lost(self, job: JobFolder, state: JobState) -> JobState:
        """End what a killed supervisor could not; the engine has it still."""
        try:
            engine = find_engine(os.environ)
            remove(engine, of_job(engine, job.path.absolute()))
        except PlatformError as error:
            reason = f"Its containers may still run: {error} Then: bandstand clean --all"
            return lost(job, state, reason)
        return lost(job, state)


def find_image(engine: Engine, name: str) -> Mapping[str, Any]:
    """Return what an engine says about an image that it can run.

    Args:
        engine: The engine.
        name: The image's name.

    Raises:
        PlatformError: There is no engine, no such image, or it is for another kind of processor.
    """
    if not _IMAGE.fullmatch(name):
        raise PlatformError(
            f"{name!r} is no name that a container engine has for an image; expected one such as "
            "bandstand:latest or registry.example:5000/team/image:1.0. Mend image, or run --on processes."
        )
    try:
        found: Mapping[str, Any] = engine.ask("GET", f"/images/{name}/json")
    except EngineError as error:
        raise PlatformError(explained(error, name)) from error
    check_platform(engine, name, found)
    return found
