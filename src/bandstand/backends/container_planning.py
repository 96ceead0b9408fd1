"""From a plan to what a supervisor is told about containers."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

from bandstand.backends.container_task import ContainerTask
from bandstand.backends.task import Pairs, Task
from bandstand.sagemaker_files import BASE

if TYPE_CHECKING:
    from bandstand.request.limits import HostLimits
    from bandstand.request.plan import TrainingPlan

ARCHIVES = BASE / "input" / "source"
"""Where a host finds its code's archive, if there is one."""

CODE = BASE / "code"

_SUBMITTED = ("sagemaker_submit_directory", "SAGEMAKER_SUBMIT_DIRECTORY")


def container_task(plan: TrainingPlan, image: Mapping[str, Any], environ: Mapping[str, str]) -> ContainerTask:
    """Return how a plan's hosts are made containers.

    Args:
        plan: The training job.
        image: What the engine says about its image.
        environ: The launcher's shell, whose `BANDSTAND_HOST_*` count where the plan has none.
    """
    from bandstand.request.limits import read_limits  # which a supervisor has no use for

    document = json.loads(plan.document)
    algorithm = document.get("AlgorithmSpecification", {})
    entrypoint, arguments = algorithm.get("ContainerEntrypoint"), algorithm.get("ContainerArguments")
    config = image.get("Config") or {}
    own = [*(config.get("Entrypoint") or ()), *(config.get("Cmd") or ())]
    limits, _ = read_limits({**environ, **dict(plan.environment)})
    return ContainerTask(
        image=plan.image,
        entrypoint=None if entrypoint is None else tuple(entrypoint),
        arguments=("train",) if entrypoint is None and arguments is None else tuple(arguments or ()),
        archive=_archive(plan),
        isolated=bool(document.get("EnableNetworkIsolation")),
        is_ours="bandstand.training" in (own if entrypoint is None else entrypoint),
        has_root=(config.get("User") or "root").partition(":")[0] in ("root", "0"),
        **_given(limits),
    )


def as_inside(task: Task) -> Task:
    """Return a task whose words for the code's place are those of the inside of a container."""
    container = task.container
    if container is None or (task.code is None and container.archive is None):
        return task
    place = str(CODE)
    if container.archive is not None:
        place = f"file://{quote(str(ARCHIVES / Path(container.archive).name))}"

    def inside(pairs: Pairs) -> Pairs:
        return tuple((name, place if name in _SUBMITTED else value) for name, value in pairs)

    return replace(task, hyperparameters=inside(task.hyperparameters), environment=inside(task.environment))


def _archive(plan: TrainingPlan) -> str | None:
    from bandstand.hyperparameters import decode

    submitted = decode(dict(plan.hyperparameters).get(_SUBMITTED[0], ""))
    if not isinstance(submitted, str) or not submitted.startswith("file:///"):
        return None
    path = unquote(submitted.removeprefix("file://"))
    return path if Path(path).is_file() else None


def _given(limits: HostLimits) -> dict[str, Any]:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "memory": limits.memory,
        "shared_memory": limits.shared_memory or memory // 2,
        "cores": limits.cores,
        "gpus": limits.gpus,
        "user": f"{os.geteuid()}:{os.getegid()}" if limits.user == "caller" else limits.user,
    }
