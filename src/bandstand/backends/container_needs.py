"""What a plan needs of this machine's container engine, and whether it is there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from bandstand.backends.container_planning import container_task
from bandstand.backends.containers import find_image
from bandstand.backends.engine_address import find_engine
from bandstand.backends.reasons import megabytes
from bandstand.errors import PlatformError
from bandstand.request.plan import Plan, TrainingPlan, TuningPlan


def container_needs(plan: Plan, environ: Mapping[str, str]) -> Iterator[str]:
    """Yield one sentence for each thing that a plan needs; what is missing is told with what to do.

    Args:
        plan: The plan.
        environ: The user's shell.
    """
    if isinstance(plan, TuningPlan):
        for each in plan.definitions:
            yield from _needs(each.training, plan.parallel, environ)
    else:
        yield from _needs(plan, 1, environ)


def _needs(job: TrainingPlan, parallel: int, environ: Mapping[str, str]) -> Iterator[str]:
    at_once = "" if parallel == 1 else f" each, {parallel} jobs at a time: {parallel * job.hosts} containers"
    hosts = "1 container" if job.hosts == 1 else f"{job.hosts} containers in a network of their own"
    yield f"containers: {hosts}{at_once}."
    try:
        image = find_image(find_engine(environ), job.image)
    except PlatformError as error:
        yield f"containers: {error}"
        return
    task = container_task(job, image, environ)
    words = " ".join((*(task.entrypoint or image.get("Config", {}).get("Entrypoint") or ()), *task.arguments))
    yield f"containers: {job.image} is in the engine; process 1 is: {words}"
    limits = [f"{megabytes(task.shared_memory)} of shared memory"]
    if task.memory is not None:
        limits.append(f"{megabytes(task.memory)} of memory")
    if task.cores is not None:
        limits.append(f"{task.cores:g} cores")
    if task.gpus:
        limits.append(f"{task.gpus} GPUs")
    yield f"containers: each host may use {', '.join(limits)} (BANDSTAND_HOST_*)."
