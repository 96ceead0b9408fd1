"""Why another tuner stopped a training job: what the rules known here would have decided, if they would.

AMT does not tell its reasons. They are reconstructed from what it saw: the reports of all training jobs in
the order of their times.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from bandstand.errors import InputError
from bandstand.study.decisions import StopReason
from bandstand.study.events import Ended, Event, Reported, Started
from bandstand.study.rungs import usable
from bandstand.study.spec import StudySpec
from bandstand.study.study import Study

INFERRED = "Inferred, since AMT does not tell its reasons:"
"""How the sentence of a reconstructed reason begins."""


@dataclass(frozen=True)
class Inference:
    """What is thought of one stop.

    Args:
        reason: What a rule of this project would have decided; None where none would have.
        sentence: The same in words, labelled as inferred; or what can be said without a rule.
        brief: In a few words, for a table.
    """

    reason: StopReason | None
    sentence: str
    brief: str


def infer_stops(spec: StudySpec, events: Sequence[Event], stopped: Iterable[int]) -> dict[int, Inference]:
    """Reconstruct why training jobs were stopped.

    The study is told all that happened, and what it decides of a training job is the reason. Where it would
    have let the job go on, the place of the job among all that made as many reports is told.

    Args:
        spec: The terms of the tuning job.
        events: What happened, in order: each start, report and end.
        stopped: The training jobs in question, by number.

    Returns:
        For each of them what is thought.
    """
    study = _told(spec, events)
    return {number: _of(spec, study, events, number) for number in stopped}


def _told(spec: StudySpec, events: Sequence[Event]) -> Study | None:
    # Settings are AMT's: only the rules that stop matter, so that no model is needed.
    chosen = spec if spec.strategy == "Hyperband" else replace(spec, strategy="Random")
    study = Study(chosen)
    try:
        for event in events:
            study.tell(event)
    except InputError:  # AMT began jobs that this study would not have: nothing is known of its rules then
        return None
    return study


def _of(spec: StudySpec, study: Study | None, events: Sequence[Event], number: int) -> Inference:
    reason = None if study is None else study.stop_reason(number)
    if reason is not None:
        return Inference(reason, f"{INFERRED} {reason.sentence()}", f"{reason.brief()}, inferred")
    values, others = _compared(events, number)
    most = spec.max_resource_of(_definition(events, number))
    if not values:
        return Inference(None, "Stopped by AMT before its first report.", "by AMT")
    count = len(values)
    reports = "1 report" if count == 1 else f"{count} reports"
    if most is not None and count >= most:
        reached = StopReason("max_resource", rung=most)
        return Inference(reached, f"{INFERRED} {reached.sentence()}", f"{reached.brief()}, inferred")
    head = f"Stopped by AMT after {reports}; no rule that is known here explains it."
    if not usable(values[-1]) or not others:
        return Inference(None, head, "by AMT")
    sign = -1.0 if spec.maximize else 1.0
    place = 1 + sum(sign * value < sign * values[-1] for value in others.values())
    text = f"{head} Its objective was place {place} of {len(others) + 1} at that report."
    return Inference(None, text, f"by AMT, place {place} of {len(others) + 1}")


def _definition(events: Sequence[Event], number: int) -> str:
    """The name of a training job's definition; empty where it is not told."""
    starts = (event for event in events if isinstance(event, Started) and event.trial == number)
    return next((start.definition for start in starts), "")


def _compared(events: Sequence[Event], number: int) -> tuple[list[float], Mapping[int, float]]:
    """A training job's reports, and those of the others of its definition at the report at which it ended."""
    curves: dict[int, list[float]] = {}
    definition = _definition(events, number)
    others = {each.trial for each in events if isinstance(each, Started) and each.definition != definition}
    for event in events:
        if isinstance(event, Reported) and event.trial not in others:
            curves.setdefault(event.trial, []).append(event.value)
        elif isinstance(event, Ended) and event.trial == number:
            break
    own = curves.pop(number, [])
    at = len(own) - 1
    return own, {trial: curve[at] for trial, curve in curves.items() if len(curve) > at and usable(curve[at])}
