"""Why a training job was stopped, as a document."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from bandstand.backends.backend import JobState
from bandstand.request.plan import TrainingPlan
from bandstand.study import StopReason


def stop_document(reason: StopReason, name_of: Callable[[int], str]) -> dict[str, Any]:
    """The study's reason, with the training jobs that were compared by number and name.

    Args:
        reason: The study's reason.
        name_of: The name of the training job with a number.
    """
    compared = [
        {"number": number, "name": name_of(number), "value": finite(value)}
        for number, value in reason.compared
    ]
    return {
        "kind": reason.kind,
        "bracket": reason.bracket,
        "rung": reason.rung,
        "rank": reason.rank,
        "cutoff": finite(reason.cutoff),
        "compared": compared,
        "value": finite(reason.value),
        "reason": reason.sentence(),
    }


def plain_stop(kind: str, reason: str) -> dict[str, Any]:
    """A stop that no comparison brought about.

    Args:
        kind: `user`, `runtime` or `owner`.
        reason: One sentence.
    """
    return {
        "kind": kind,
        "bracket": None,
        "rung": None,
        "rank": None,
        "cutoff": None,
        "compared": [],
        "value": None,
        "reason": reason,
    }


def end_document(state: JobState, plan: TrainingPlan) -> dict[str, Any]:
    """Why a job was stopped that no decision of a study stopped: a limit, a wish, or the loss of its owner.

    Args:
        state: Its final state.
        plan: What was asked for.
    """
    if state.secondary_status == "MaxRuntimeExceeded":
        return plain_stop(
            "runtime", f"Stopped because it ran for its {plan.max_runtime} s (MaxRuntimeInSeconds)."
        )
    words = next((step.message for step in state.transitions if step.status == "Stopping"), "")
    return plain_stop("request", words or "Stopped on request.")


def finite(value: float | None) -> float | None:
    """A number that JSON has a word for; None for NaN, infinities and None."""
    return value if value is not None and math.isfinite(value) else None
