"""Events and decisions as JSON documents, for the record."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from bandstand.errors import InputError
from bandstand.study.decisions import Decision, Finish, Start, Stop, StopReason
from bandstand.study.events import Ended, Event, Halted, Known, Reported, Started

Document = dict[str, Any]


def to_document(entry: Event | Decision) -> Document:
    """Write an event or a decision as plain JSON types.

    Numbers that JSON has no word for are written as the texts "nan", "inf" and "-inf".

    Args:
        entry: What to write.

    Returns:
        A document with the key "type", from which `from_document` makes an equal entry.
    """
    match entry:
        case Known(source, settings, known, reports, cut):
            return {
                "type": "known",
                "source": source,
                "settings": [list(pair) for pair in settings],
                "objective": known,
                "reports": reports,
                "cut": cut,
            }
        case Started(trial, settings, definition):
            told = {} if settings is None else {"settings": [list(pair) for pair in settings]}
            return {"type": "started", "trial": trial, **told, **_definition_out(definition)}
        case Reported(trial, value):
            return {"type": "reported", "trial": trial, "value": _number_out(value)}
        case Ended(trial, outcome, objective):
            return {"type": "ended", "trial": trial, "outcome": outcome, "objective": _number_out(objective)}
        case Halted(cause):
            return {"type": "halted", "cause": cause}
        case Start(trial, settings, definition):
            chosen = [list(pair) for pair in settings]
            return {"type": "start", "trial": trial, "settings": chosen, **_definition_out(definition)}
        case Stop(trial, reason):
            return {"type": "stop", "trial": trial, "reason": _reason_out(reason)}
        case Finish(status, text):
            return {"type": "finish", "status": status, "reason": text}


def from_document(document: Mapping[str, Any]) -> Event | Decision:
    """Read what `to_document` wrote.

    Args:
        document: The document, as it came from JSON.

    Raises:
        InputError: The document is of no known type, or lacks a key.
    """
    kind = document.get("type")
    if kind not in _READERS:
        raise InputError(f"An entry of the record has type {kind!r}; expected one of {', '.join(_READERS)}.")
    try:
        return _READERS[kind](document)
    except KeyError as missing:
        raise InputError(f"An entry of type {kind!r} in the record lacks the key {missing}.") from None


def _definition_out(name: str) -> Document:
    return {"definition": name} if name else {}


def _number_out(value: float | None) -> float | str | None:
    return value if value is None or math.isfinite(value) else str(value)


def _number_in(value: float | str | None) -> float | None:
    return None if value is None else float(value)


def _reason_out(reason: StopReason) -> Document:
    return {
        "kind": reason.kind,
        "bracket": reason.bracket,
        "rung": reason.rung,
        "rank": reason.rank,
        "cutoff": _number_out(reason.cutoff),
        "compared": [[trial, _number_out(value)] for trial, value in reason.compared],
        "value": _number_out(reason.value),
        "reports": reason.reports,
    }


def _reason_in(document: Mapping[str, Any]) -> StopReason:
    return StopReason(
        kind=document["kind"],
        bracket=document["bracket"],
        rung=document["rung"],
        rank=document["rank"],
        cutoff=_number_in(document["cutoff"]),
        compared=tuple((trial, float(value)) for trial, value in document["compared"]),
        value=_number_in(document["value"]),
        reports=document.get("reports", document["rung"]),
    )


def _settings_in(pairs: list[list[str]]) -> tuple[tuple[str, str], ...]:
    return tuple((name, text) for name, text in pairs)


_READERS: dict[str, Callable[[Mapping[str, Any]], Event | Decision]] = {
    "known": lambda document: Known(
        document["source"],
        _settings_in(document["settings"]),
        float(document["objective"]),
        document["reports"],
        document["cut"],
    ),
    "started": lambda document: Started(
        document["trial"],
        _settings_in(document["settings"]) if "settings" in document else None,
        document.get("definition", ""),
    ),
    "reported": lambda document: Reported(document["trial"], float(document["value"])),
    "ended": lambda document: Ended(
        document["trial"], document["outcome"], _number_in(document["objective"])
    ),
    "halted": lambda document: Halted(document["cause"]),
    "start": lambda document: Start(
        document["trial"], _settings_in(document["settings"]), document.get("definition", "")
    ),
    "stop": lambda document: Stop(document["trial"], _reason_in(document["reason"])),
    "finish": lambda document: Finish(document["status"], document["reason"]),
}
