"""How a training job ended: why it was stopped, as a document, or its last state where nobody can tell it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from bandstand.backends.backend import Cause, HostState, JobState, Transition
from bandstand.runs.jobs import TrainingJob
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
        "reports": reason.reports,
        "reason": reason.sentence(),
    }


def plain_stop(kind: str, reason: str) -> dict[str, Any]:
    """A stop that no comparison brought about.

    Args:
        kind: `user`, `runtime`, `wait`, `interruption` or `owner`.
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
        "reports": None,
        "reason": reason,
    }


def end_document(state: JobState, job: TrainingJob) -> dict[str, Any]:
    """Why a job was stopped that no decision of a study stopped: a limit, a wish, or the loss of its owner.

    Args:
        state: Its final state.
        job: The job.
    """
    if state.secondary_status == "MaxRuntimeExceeded":
        return plain_stop(
            "runtime", f"Stopped because it ran for {job.plan.max_runtime} s (MaxRuntimeInSeconds)."
        )
    if state.secondary_status == "MaxWaitTimeExceeded":
        text = f"Stopped because it waited and ran for {job.plan.max_wait} s (MaxWaitTimeInSeconds)."
        return plain_stop("wait", text)
    words = state.transitions[-1].message if state.transitions else ""
    if state.cause == "interruption":
        return plain_stop("interruption", f"{words} {resume_advice(job)}")
    if state.cause == "owner":
        text = f"Stopped because its launcher was gone. {words} {resume_advice(job)}"
        return plain_stop("owner", text)
    return plain_stop("user", "Stopped on request.")


def resume_advice(job: TrainingJob) -> str:
    """How a job goes on that has lost its owner, as one sentence."""
    verb, name = ("train", job.name) if job.tuning_job is None else ("tune", job.tuning_job)
    return f"It goes on with: bandstand {verb} --resume {name}"


def stopped_state(state: JobState, now: float) -> JobState:
    """The final state of a job that was told to stop and lost its owner before it had.

    Args:
        state: Its state when it was lost.
        now: Epoch seconds.
    """
    ended = now if state.ended is None else state.ended
    return replace(state, status="Stopped", secondary_status="Stopped", failure_reason=None, ended=ended)


def failed_state(reason: str, job: TrainingJob, now: float, cause: Cause = "failure") -> JobState:
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
        cause=cause,
        attempt=job.attempt,
        spent=job.spent,
    )


def finite(value: float | None) -> float | None:
    """A number that JSON has a word for; None for NaN, infinities and None."""
    return value if value is not None and math.isfinite(value) else None
