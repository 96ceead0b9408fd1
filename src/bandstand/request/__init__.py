"""From a job file or a document of the API to a plan, or to every problem at once.

`load` reads and checks; what it returns is in `bandstand.request.plan` and `bandstand.request.ranges`. Each
is loaded when it is first asked for, and the service model and pydantic when a request is read.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bandstand.request.loading import load
    from bandstand.request.plan import (
        ChannelPlan,
        DefinitionPlan,
        Plan,
        TrainingPlan,
        TuningPlan,
        local_path,
    )
    from bandstand.request.ranges import CategoricalRange, ContinuousRange, IntegerRange, Range

__all__ = [
    "CategoricalRange",
    "ChannelPlan",
    "ContinuousRange",
    "DefinitionPlan",
    "IntegerRange",
    "Plan",
    "Range",
    "TrainingPlan",
    "TuningPlan",
    "load",
    "local_path",
]

_PLACES = {
    **dict.fromkeys(
        ("ChannelPlan", "DefinitionPlan", "Plan", "TrainingPlan", "TuningPlan", "local_path"), "plan"
    ),
    **dict.fromkeys(("CategoricalRange", "ContinuousRange", "IntegerRange", "Range"), "ranges"),
    "load": "loading",
}


def __getattr__(name: str) -> Any:
    """Import the module of a public name when that is first asked for."""
    if name in _PLACES:
        return getattr(import_module(f"bandstand.request.{_PLACES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
