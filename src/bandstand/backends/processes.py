"""Training jobs as processes of this machine, each host in name spaces of its own."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from bandstand.backends.supervised import SupervisedBackend
from bandstand.backends.task import Task, task_from_plan

if TYPE_CHECKING:
    from bandstand.request.plan import TrainingPlan

HOST_COMMAND = ("-P", "-m", "bandstand.training", "train")
"""Arguments for Python: process 1 of each host."""


class ProcessBackend(SupervisedBackend):
    """Runs the hosts of each training job as processes.

    On Linux each host has name spaces of its own, as root and as any other user: a true `/opt/ml`, a host
    name, a hosts file, process numbers. Where the kernel does not grant them, `SAGEMAKER_BASE_DIR` stands for
    `/opt/ml`, and the leader's log says so. Only `file://` data can be used.

    Args:
        lease_seconds: See `SupervisedBackend`, as for all that follow.
        lease_grace: Seconds.
        peer_grace: Seconds.
        environ: Gives the variables of a job's supervisor.
    """

    def __init__(
        self,
        *,
        lease_seconds: float = 10.0,
        lease_grace: float = 5.0,
        peer_grace: float = 5.0,
        environ: Callable[[TrainingPlan], Mapping[str, str]] | None = None,
        _host_command: Sequence[str] | None = None,
    ) -> None:
        super().__init__(
            lease_seconds=lease_seconds, lease_grace=lease_grace, peer_grace=peer_grace, environ=environ
        )
        self._host_command = tuple(_host_command or (sys.executable, *HOST_COMMAND))

    def check(self, plan: TrainingPlan) -> None:
        """See `Backend.check`; processes need nothing but Python."""

    def _task(self, plan: TrainingPlan, threads: int, timing: Mapping[str, float]) -> Task:
        return task_from_plan(plan, threads=threads, command=self._host_command, timing=timing)
