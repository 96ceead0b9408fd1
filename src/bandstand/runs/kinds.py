"""The kinds of backend by the word that the record and the command line have for them."""

from __future__ import annotations

from collections.abc import Callable

from bandstand.backends.backend import Backend
from bandstand.backends.containers import ContainerBackend
from bandstand.backends.processes import ProcessBackend
from bandstand.errors import PlatformError

SAGEMAKER = "sagemaker"
"""The kind of jobs that run on SageMaker: each goes on by itself, whoever looks."""


def _sagemaker() -> Backend:
    from bandstand.backends.sagemaker.backend import SageMakerBackend  # boto3 takes its time

    return SageMakerBackend()


KINDS: dict[str, Callable[[], Backend]] = {
    "processes": ProcessBackend,
    "containers": ContainerBackend,
    SAGEMAKER: _sagemaker,
}


def kind_of(backend: Backend) -> str:
    """The word for a backend's kind; that of `processes` for one that is none of ours."""
    return next((kind for kind, make in KINDS.items() if type(backend) is make), "processes")


def backend_of(kind: str) -> Backend:
    """A backend that reads and ends jobs which another process started.

    Raises:
        PlatformError: This release has no such backend.
    """
    if kind not in KINDS:
        raise PlatformError(
            f"The record has a job on '{kind}'; this release knows {', '.join(KINDS)} only."
            " Install the Bandstand that started the job."
        )
    return KINDS[kind]()
