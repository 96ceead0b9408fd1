"""How a training job ended: why it was stopped, as a document, or its last state where nobody can tell it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from bandstand.backends.backend import HostState, JobState, Transition
from bandstand.request.plan import TrainingPlan
from bandstand.runs.stored import TrainingJob
from bandstand.sagemaker_files import fit_failure
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
    words = state.transitions[-1].message if state.transitions else ""
    if state.secondary_status == "MaxRuntimeExceeded":
        return plain_stop(
            "runtime", f"Stopped because it ran for {plan.max_runtime} s (MaxRuntimeInSeconds)."
        )
    if "lease" in words:
        return plain_stop("owner", f"Stopped because its launcher was gone. {words}")
    return plain_stop("user", "Stopped on request.")


def failed_state(reason: str, job: TrainingJob, now: float) -> JobState:
    """The final state of a job that no backend can tell of."""
    text = fit_failure(reason)
    return JobState(
        "Failed",
        "Failed",
        transitions=(
            Transition("Starting", job.created, "Starting the training job."),
            Transition("Failed", now, text),
        ),
        failure_reason=text,
        created=job.created,
        started=job.started,
        ended=now,
        hosts=tuple(HostState(f"algo-{number}") for number in range(1, job.plan.hosts + 1)),
    )


def finite(value: float | None) -> float | None:
    """A number that JSON has a word for; None for NaN, infinities and None."""
    return value if value is not None and math.isfinite(value) else None
