"""The variables that a host's process 1 gets."""

from __future__ import annotations

import json
from collections.abc import Mapping

from bandstand.backends.task import Task
from bandstand.host_variables import HOST_MAP, KEY, LISTEN_FD, PORT, THREADS

_NOT_INHERITED = ("BANDSTAND_", "SM_", "SAGEMAKER_", "TRAINING_JOB_")
"""Names that mean something inside a host; what the launcher's own shell has of them is not for the job."""

JOB_ARN = "BANDSTAND_JOB_ARN"
"""A supervisor's variable: what its hosts are to be told as the job's ARN, where somebody knows better."""

SERVICE = "BANDSTAND_SERVICE"
"""A supervisor's variable: where the service listens that its containers may ask, with the credentials that
the supervisor has; they get neither without it."""


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
    values[THREADS.name] = str(task.threads)
    values.update(task.environment)
    values |= {
        "TRAINING_JOB_NAME": task.name,
        "TRAINING_JOB_ARN": environ.get(JOB_ARN, task.arn),
        PORT.name: str(port),
        KEY.name: key,
        HOST_MAP.name: json.dumps(dict(addresses)),
    }
    if base is not None:
        values["SAGEMAKER_BASE_DIR"] = base
    if listener is not None:
        values[LISTEN_FD.name] = str(listener)
    return values
