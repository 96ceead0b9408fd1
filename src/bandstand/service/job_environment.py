"""The variables of a job's supervisor and hosts: what programs of this machine need, and the job's own."""

from __future__ import annotations

from collections.abc import Mapping

from bandstand.backends.environment import JOB_ARN, SERVICE
from bandstand.request.plan import TrainingPlan
from bandstand.service.context import ACCOUNT, REGION
from bandstand.service.credentials import MARGIN_SECONDS, Credentials

NEEDED = frozenset(
    {"HOME", "LANG", "LANGUAGE", "LD_LIBRARY_PATH", "LOGNAME", "PATH", "SHELL", "TMPDIR", "TZ", "USER"}
)
"""Variables of the service that jobs inherit."""

BEGINNINGS = ("BANDSTAND_", "CUDA_", "LC_", "NVIDIA_", "OMP_", "PYTHON")
"""Beginnings of such variables; what begins with BANDSTAND_ is for the supervisor and goes no further."""

ENGINE = ("DOCKER_",)
"""Beginnings of variables by which the supervisor of containers finds their engine; containers get none."""

REGION_VARIABLE = "AWS_REGION"


class JobEnvironment:
    """Gives each job its variables; all else of the service's own stays with the service.

    Args:
        environ: The service's variables.
        credentials: Makes the jobs' credentials.
        url: Where the service listens.
        hosts: What the hosts of jobs are: `processes`, which inherit from their supervisor, or `containers`,
            for which their supervisor opens a way to the service.
    """

    def __init__(self, environ: Mapping[str, str], credentials: Credentials, url: str, hosts: str) -> None:
        beginnings = BEGINNINGS if hosts == "processes" else BEGINNINGS + ENGINE
        self._inherited = {
            name: value for name, value in environ.items() if name in NEEDED or name.startswith(beginnings)
        }
        self._credentials = credentials
        self._where = {"AWS_ENDPOINT_URL": url} if hosts == "processes" else {SERVICE: url}

    def __call__(self, plan: TrainingPlan) -> Mapping[str, str]:
        """The variables of a job's supervisor.

        Args:
            plan: The job; its environment says in which region it was created.
        """
        region = dict(plan.environment).get(REGION_VARIABLE, REGION)
        seconds = MARGIN_SECONDS + max(plan.max_runtime or 0, plan.max_wait or 0)
        return {
            **self._inherited,
            **self._credentials.issue(plan.name, seconds),
            **self._where,
            JOB_ARN: f"arn:aws:sagemaker:{region}:{ACCOUNT}:training-job/{plan.name}",
        }


def in_region(environment: tuple[tuple[str, str], ...], region: str) -> tuple[tuple[str, str], ...]:
    """Add the region of a job to its variables, as SageMaker sets it; what the request has of them wins.

    Args:
        environment: The request's variables.
        region: The region in which the job was created.
    """
    own = {REGION_VARIABLE: region, "AWS_DEFAULT_REGION": region}
    return tuple((own | dict(environment)).items())
