"""Bandstand: try out, tune and ship custom SageMaker training containers."""

from __future__ import annotations

from bandstand.errors import BandstandError, InputError, JobError, PlanError, PlatformError

TYPE_CHECKING = False  # that of typing, which takes longer to load than all that a script needs at first
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import SupportsFloat, SupportsIndex

    from bandstand.hyperparameter_by_type import hyperparameter
    from bandstand.hyperparameter_declaration import Hyperparameter
    from bandstand.problem import Problem
    from bandstand.training.run import Run

__version__ = "0.1.0"

__all__ = [
    "BandstandError",
    "InputError",
    "JobError",
    "PlanError",
    "PlatformError",
    "Problem",
    "__version__",
    "hyperparameter",
    "mean",
    "metric_definitions",
    "start",
]


def __getattr__(name: str) -> object:
    """Find `bandstand.hyperparameter` and `bandstand.Problem`, which are loaded when they are first used."""
    if name == "hyperparameter":
        from bandstand.hyperparameter_by_type import hyperparameter

        return hyperparameter
    if name == "Problem":
        from bandstand.problem import Problem

        return Problem
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def start(schema: Iterable[Hyperparameter] | None = None) -> Run:
    """Become a rank of the training job that runs this script.

    Args:
        schema: The script's hyperparameters, each made by `bandstand.hyperparameter`. They are checked before
            anything else, `run.settings` has their values, and the script has `--help` and
            `--export-hyperparameters`. Outside a job, values are taken from the command line.

    Returns:
        The run: hyperparameters, channels, hosts, rank, folders, training loop, metrics, checkpoints. The
        same object however often it is called. Outside a job it is one rank with no settings but those, so
        that a script can be tried out.

    Raises:
        InputError: If the job's configuration cannot be read.
        PlatformError: If the job has several ranks and this process was not started as one of them.
        SystemExit: If a declared hyperparameter has a wrong value, with all that is wrong as the job's
            failure reason; or after `--help`.
    """
    from bandstand.training.starting import start

    return start(schema)


def mean(value: SupportsFloat | SupportsIndex, weight: SupportsFloat | SupportsIndex = 1.0) -> float:
    """The weighted mean of one number over all ranks, equal on all of them. Every rank calls it.

    Args:
        value: This rank's value; does not count, whatever it is, when the weight is 0.
        weight: How much it counts, such as its number of rows.

    Raises:
        JobError: If `start` was not called before, a weight is negative, or all weights are 0.
    """
    from bandstand.training.starting import current

    return current().mean(value, weight)


def metric_definitions(names: Iterable[str]) -> list[dict[str, str]]:
    """What AMT needs to read the metrics that `run.report` prints: `MetricDefinitions` of a request.

    Args:
        names: The metrics' names, as given to `run.report`.

    Returns:
        `[{"Name": name, "Regex": pattern}, ...]`.

    Raises:
        InputError: For a name that a metric line cannot hold.
    """
    from bandstand.metrics import metric_definitions

    return metric_definitions(names)
