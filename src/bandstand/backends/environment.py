"""The variables that a host's process 1 gets."""

from __future__ import annotations

import json
from collections.abc import Mapping

from bandstand.backends.task import Task

_NOT_INHERITED = ("BANDSTAND_", "SM_", "SAGEMAKER_", "TRAINING_JOB_")
"""Names that mean something inside a host; what the launcher's own shell has of them is not for the job."""


def inherited(environ: Mapping[str, str]) -> dict[str, str]:
    """Return what a host takes over from the user's shell."""
    return {name: value for name, value in environ.items() if not name.startswith(_NOT_INHERITED)}


def host_environment(
    task: Task,
    environ: Mapping[str, str],
    *,
    addresses: Mapping[str, str],
    port: int,
    key: str,
    base: str | None,
    listener: int | None,
) -> dict[str, str]:
    """Return all variables of one host.

    The request's own variables win over those of the shell, and over the number of threads; where the hosts
    meet is ours, since the socket is already there.

    Args:
        task: The job.
        environ: The user's shell.
        addresses: Each host's address.
        port: Where the leader listens.
        key: The job's secret, hexadecimal digits.
        base: The folder that stands for `/opt/ml`, or None where `/opt/ml` is real.
        listener: Number of the inherited listening socket, for the leader.
    """
    values = inherited(environ)
    values["BANDSTAND_THREADS"] = str(task.threads)
    values.update(task.environment)
    values |= {
        "TRAINING_JOB_NAME": task.name,
        "TRAINING_JOB_ARN": task.arn,
        "BANDSTAND_PORT": str(port),
        "BANDSTAND_KEY": key,
        "BANDSTAND_HOST_MAP": json.dumps(dict(addresses)),
    }
    if base is not None:
        values["SAGEMAKER_BASE_DIR"] = base
    if listener is not None:
        values["BANDSTAND_LISTEN_FD"] = str(listener)
    return values
