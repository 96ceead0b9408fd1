"""Decide a recorded study again and say where the decisions differ from the recorded ones."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bandstand.study.decisions import Answer, Decision, Finish, Start, Stop
from bandstand.study.events import Event, Started
from bandstand.study.spec import StudySpec
from bandstand.study.study import Study
from bandstand.study.written import to_document


@dataclass(frozen=True)
class Replay:
    """A study that was decided again.

    Args:
        study: The study after the last event.
        decisions: Every decision in order, with the `Start` of a trial where its `Started` was recorded.
        differences: One sentence for each recorded decision that was not made again, and for each made now
            that the record lacks; empty when the record and the rules agree.
    """

    study: Study
    decisions: tuple[Decision, ...]
    differences: tuple[str, ...]


def replay(spec: StudySpec, recorded: Iterable[Event | Decision]) -> Replay:
    """Tell the recorded events to a new study and compare its decisions with the recorded ones.

    Args:
        spec: The terms of the recorded study.
        recorded: Events and decisions in the order of the record: each `Start` somewhere before its
            `Started`, each `Stop` and `Finish` after the event that brought it and before the next event.

    Raises:
        InputError: The events are no possible history of this study.
    """
    study = Study(spec)
    decisions: list[Decision] = []
    differences: list[str] = []
    asked: dict[int, Start] = {}
    said: list[Answer] = []
    made: Sequence[Answer] = ()
    place = 0
    for number, entry in enumerate(recorded, start=1):
        if isinstance(entry, Start):
            asked[entry.trial] = entry
        elif isinstance(entry, Stop | Finish):
            said.append(entry)
        else:
            differences.extend(_differences(place, said, made))
            said, place = [], number
            starts = _start_of(study, entry)
            made = study.tell(entry)
            decisions.extend((*starts, *made))
            differences.extend(_start_differences(place, asked, entry, starts))
    differences.extend(_differences(place, said, made))
    return Replay(study, tuple(decisions), tuple(differences))


def _start_of(study: Study, event: Event) -> tuple[Start, ...]:
    if not isinstance(event, Started):
        return ()
    return tuple(start for start in study.ask() if start.trial == event.trial)


def _start_differences(
    place: int, asked: dict[int, Start], event: Event, starts: tuple[Start, ...]
) -> list[str]:
    if not isinstance(event, Started):
        return []
    if not starts:
        return [f"entry {place}: training job {event.trial} was started where no start was due"]
    recorded = asked.get(event.trial)
    if recorded is None or recorded == starts[0]:
        return []
    was, now = dict(recorded.settings), dict(starts[0].settings)
    return [f"entry {place}: training job {event.trial} was recorded to start with {was}; decided now: {now}"]


def _differences(place: int, said: Sequence[Answer], made: Sequence[Answer]) -> list[str]:
    recorded, decided = _written(said), _written(made)
    missing = [words for document, words in recorded.items() if document not in decided]
    added = [words for document, words in decided.items() if document not in recorded]
    return [f"after entry {place}: recorded but not decided now: {words}" for words in missing] + [
        f"after entry {place}: decided now but not recorded: {words}" for words in added
    ]


def _written(decisions: Sequence[Answer]) -> dict[str, str]:
    """Each decision in words by its document, since NaN equals NaN in writing only."""
    return {json.dumps(to_document(decision)): _words(decision) for decision in decisions}


def _words(decision: Answer) -> str:
    match decision:
        case Stop(trial, reason):
            return f"stop training job {trial} ({reason.sentence()})"
        case Finish(status, reason):
            return f"finish as {status} ({reason})"
