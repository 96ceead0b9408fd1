"""From a job file or a document of the API to a plan, or to every problem at once.

`load` reads and checks; what it returns is in `bandstand.request.plan` and `bandstand.request.ranges`. The
service model and pydantic are read when a request is, not when this package is imported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bandstand.request.plan import ChannelPlan, Plan, TrainingPlan, TuningPlan, local_path
from bandstand.request.ranges import CategoricalRange, ContinuousRange, IntegerRange, Range

if TYPE_CHECKING:
    from bandstand.request.loading import load

__all__ = [
    "CategoricalRange",
    "ChannelPlan",
    "ContinuousRange",
    "IntegerRange",
    "Plan",
    "Range",
    "TrainingPlan",
    "TuningPlan",
    "load",
    "local_path",
]


def __getattr__(name: str) -> Any:
    """Import `load`, with the rules behind it, when it is first asked for."""
    if name == "load":
        from bandstand.request.loading import load

        return load
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
