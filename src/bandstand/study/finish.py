"""When a tuning job is over, and with which status."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from bandstand.study.decisions import Finish, StopKind
from bandstand.study.trial import Trial

FIRST_ATTEMPTS = 5
"""When so many training jobs have ended and none succeeded, the tuning job fails, as on AMT
(aws/amazon-sagemaker-examples #2436, #2437); running ones are not waited for. Of several definitions each has
so many attempts: one that cannot succeed takes nothing from the others."""


def all_ended(trials: Collection[Trial]) -> Finish:
    """The end of a study whose training jobs are all over."""
    if not any(trial.succeeded for trial in trials):
        return Finish("Failed", _no_success(trials, len(trials)))
    jobs = "The only training job has" if len(trials) == 1 else f"All {len(trials)} training jobs have"
    return Finish("Completed", f"{jobs} ended: {_counts(trials)}.")


def ended_early(
    kind: StopKind, trials: Collection[Trial], words: str = "", attempts: int = FIRST_ATTEMPTS
) -> Finish:
    """The end of a study that did not come to its last training job.

    A run-time limit completes a tuning job, as every resource limit of AMT does, unless nothing succeeded.

    Args:
        kind: Why it ended: "runtime", "user", "failures" or a completion criterion.
        trials: The started trials, all over.
        words: What met the completion criterion, without a full stop.
        attempts: Training jobs that may fail before a success, of all definitions.
    """
    if words:
        return Finish("Completed", f"{words[0].upper()}{words[1:]}. All in all {_counts(trials)}.")
    if kind == "user":
        return Finish("Stopped", f"The tuning job was stopped on request: {_counts(trials)}.")
    if kind == "runtime" and any(trial.succeeded for trial in trials):
        return Finish("Completed", f"The tuning job reached its run-time limit: {_counts(trials)}.")
    if kind == "runtime":
        return Finish(
            "Failed", f"The tuning job reached its run-time limit. {_no_success(trials, len(trials))}"
        )
    return Finish("Failed", _no_success(trials, attempts))


def _no_success(trials: Collection[Trial], count: int) -> str:
    attempts = "1 attempt" if count == 1 else f"{count} attempts"
    text = (
        f"No training job succeeded after {attempts}. "
        "Please take a look at the training job failures to get more details."
    )
    silent = sum(trial.outcome == "completed" and trial.objective is None for trial in trials)
    unusable = sum(
        trial.outcome != "failed" and trial.objective is not None and not trial.succeeded for trial in trials
    )
    if silent:
        text += f" {silent} of them completed without reporting the objective."
    if unusable:
        text += f" {unusable} of them ended with an objective that is not a finite number."
    return text


def _counts(trials: Collection[Trial]) -> str:
    outcomes = Counter(trial.outcome for trial in trials)
    words = [f"{outcomes[name]} {name}" for name in ("completed", "stopped", "failed") if outcomes[name]]
    return ", ".join(words) or "none had started"
