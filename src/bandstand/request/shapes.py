"""A document against the service model: members, types, patterns, words and limits, all of them at once.

botocore's own validator checks members, types and minima only; the service finds the rest, fault by fault.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from bandstand.hyperparameters import nearest
from bandstand.request.findings import Findings, Place, listed, shown
from bandstand.request.service_model import compiled, request_shape

LOCATION = "S3Uri"
"""The shape of every location in a request; `file://` is allowed there, for this machine."""

_ABSENT = object()
_ELSEWHERE = {
    "ContainerEntrypoint": "Take it out: tuning jobs start as `docker run IMAGE train`.",
    "ContainerArguments": "Take it out: tuning jobs start as `docker run IMAGE train`; use hyperparameters.",
    "HyperParameters": "Did you mean StaticHyperParameters?",
}
_WORDS = {
    "structure": "an object",
    "map": "an object",
    "list": "a list",
    "string": "a text",
    "integer": "a whole number",
    "long": "a whole number",
    "float": "a number",
    "double": "a number",
    "boolean": "true or false",
    "timestamp": "a time, as seconds since the begin of 1970",
}
_TYPES: dict[str, tuple[type, ...]] = {
    "structure": (Mapping,),
    "map": (Mapping,),
    "list": (list, tuple),
    "string": (str,),
    "integer": (int,),
    "long": (int,),
    "float": (float, int),
    "double": (float, int),
    "boolean": (bool,),
    "timestamp": (float, int),
}

_WIDEST = {"integer": 2**31 - 1, "long": 2**63 - 1}
"""The greatest whole number of a type, in AWS's own models."""


def check_shapes(operation: str, document: Mapping[str, Any], findings: Findings) -> dict[str, Any]:
    """Check a request against the shapes of its operation.

    Args:
        operation: `CreateHyperParameterTuningJob` or `CreateTrainingJob`.
        document: The request.
        findings: Takes the problems.

    Returns:
        The request without the members that are unknown or of a wrong type, so that every value left has its
        member's type. Values that break a limit stay.
    """
    sound = check_shape(request_shape(operation), document, (), findings)
    return sound if isinstance(sound, dict) else {}


def check_shape(shape: Any, value: object, place: Place, findings: Findings) -> object:
    """Check a value against any shape of the model.

    Args:
        shape: The shape.
        value: The value.
        place: Where it stands.
        findings: Takes the problems.

    Returns:
        The value without the members that are unknown or of a wrong type.
    """
    return _walk(shape, value, place, findings)


def _walk(shape: Any, value: object, place: Place, findings: Findings) -> object:
    kind = shape.type_name
    right = isinstance(value, _TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool))
    if not right:
        findings.problem(203, place, kind_and_value(value), _WORDS[kind], _retype(kind, value))
        return _ABSENT
    if isinstance(value, Mapping):
        walk = _structure if kind == "structure" else _map
        return walk(shape, value, place, findings)
    if isinstance(value, list | tuple):
        _check_size(shape, len(value), "entries", place, findings)
        items = (_walk(shape.member, item, (*place, at), findings) for at, item in enumerate(value))
        return [item for item in items if item is not _ABSENT]
    if isinstance(value, str):
        _check_text(shape, value, place, findings)
    elif isinstance(value, int | float) and kind != "boolean":
        _check_number(shape, value, place, findings)
    return value


def _structure(shape: Any, value: Mapping[str, Any], place: Place, findings: Findings) -> dict[str, Any]:
    sound: dict[str, Any] = {}
    for name, item in value.items():
        if name not in shape.members:
            close = nearest(str(name), list(shape.members))
            fix = _ELSEWHERE.get(name) or (f"Did you mean {close}?" if close else "Take it out.")
            findings.problem(
                201, (*place, str(name)), "an unknown member", listed(list(shape.members), 40), fix
            )
            continue
        walked = _walk(shape.members[name], item, (*place, name), findings)
        if walked is not _ABSENT:
            sound[name] = walked
    for name in shape.required_members:
        if name not in value and not findings.doubtful((*place, name)):
            kind = _WORDS[shape.members[name].type_name]
            findings.problem(202, (*place, name), "nothing", kind, f"Add {findings.words((*place, name))}.")
    return sound


def _map(shape: Any, value: Mapping[str, Any], place: Place, findings: Findings) -> dict[str, Any]:
    _check_size(shape, len(value), "entries", place, findings)
    sound: dict[str, Any] = {}
    for name, item in value.items():
        inside = (*place, str(name))
        if not isinstance(name, str):
            findings.problem(
                203, inside, f"the key {kind_and_value(name)}", "a text", "Write the key as text."
            )
            continue
        _check_text(shape.key, name, inside, findings, what="the name ")
        walked = _walk(shape.value, item, inside, findings)
        if walked is not _ABSENT:
            sound[name] = walked
    return sound


def _check_text(shape: Any, value: str, place: Place, findings: Findings, what: str = "") -> None:
    found = what + shown(value)
    unfit = next((letter for letter in value if letter == "\0" or "\ud800" <= letter <= "\udfff"), None)
    if unfit is not None:
        fix = f"Take {shown(unfit)} out."
        findings.problem(209, place, found, "characters that a program can be given", fix)
        return
    if shape.enum:
        if value not in shape.enum:
            close = nearest(value, shape.enum)
            fix = f"Did you mean {close}?" if close else "Take one of those."
            findings.problem(205, place, found, listed(shape.enum), fix)
        return
    if not _check_size(shape, len(value), "characters", place, findings, what):
        return
    if shape.name == LOCATION and value.startswith("file:"):
        if not value.startswith("file:///"):
            findings.problem(
                208,
                place,
                found,
                "file:// and an absolute path",
                "Write file:///, then the path from the root.",
            )
        return
    pattern = shape.metadata.get("pattern")
    if pattern is None or compiled(pattern).fullmatch(value):
        return
    if shape.name == LOCATION:
        fix = "Write s3://, the bucket and the prefix; or file:// and the path from the root."
        findings.problem(208, place, found, "s3://bucket/prefix or file:///path", fix)
    else:
        findings.problem(204, place, found, _described(pattern), _rewrite(pattern, value))


def _check_number(shape: Any, value: float, place: Place, findings: Findings) -> None:
    low, high = shape.metadata.get("min"), shape.metadata.get("max")
    widest = _WIDEST.get(shape.type_name, sys.float_info.max)
    if not -widest <= value <= widest and shape.type_name not in _WIDEST:
        findings.problem(207, place, shown(value), "a finite number", "Write a number.")
    elif not (-widest if low is None else low) <= value <= (widest if high is None else high):
        high = widest if high is None and value > widest else high
        allowed = f"{low} or more" if high is None else f"{low or 0} to {high}"
        findings.problem(207, place, shown(value), allowed, "Take a number within these limits.")


def _check_size(shape: Any, size: int, unit: str, place: Place, findings: Findings, what: str = "") -> bool:
    """Check how long something is; False if a problem was told."""
    low, high = shape.metadata.get("min"), shape.metadata.get("max")
    if high is not None and size > high:
        fix = "Take fewer." if unit == "entries" else "Take a shorter text."
        findings.problem(206, place, f"{what}{size} {unit}", f"at most {high}", fix)
    elif low is not None and size < low:
        fix = "Fill it in, or leave it out."
        findings.problem(206, place, f"{what}{size} {unit}", f"at least {low}", fix)
    else:
        return True
    return False


def kind_and_value(value: object) -> str:
    """Return a JSON value for a message, with the word for its kind before it."""
    if value is None:
        return "null"
    kinds = (
        (bool, ""),
        (str, "the text "),
        (int | float, "the number "),
        (Mapping, "an object "),
        (list, "a list "),
    )
    return next((word for kind, word in kinds if isinstance(value, kind)), "") + shown(value)


def _retype(kind: str, value: object) -> str:
    if value is None:
        return "Leave it out where nothing is meant."
    if kind == "string" and isinstance(value, bool):
        return f'Write it in quotes: "{str(value).lower()}".'
    if kind == "string" and isinstance(value, int | float):
        return f'Write it in quotes: "{value}".'
    if kind in ("integer", "long") and isinstance(value, str) and value.strip().lstrip("+-").isdigit():
        return f"Write it without quotes: {value.strip()}."
    return f"Write {_WORDS[kind]}."


_PROSE = {
    "[a-zA-Z0-9](-*[a-zA-Z0-9])": "letters, digits and hyphens, the first and last no hyphen",
    "arn:aws[a-z\\-]*:iam::": "arn:aws:iam::<12 digits>:role/<name>",
    "[a-zA-Z_][a-zA-Z0-9_]*": "letters, digits and underscores, the first no digit",
}


def _described(pattern: str) -> str:
    """Say a pattern in words before showing it, where the words are known."""
    words = next((prose for start, prose in _PROSE.items() if pattern.startswith(start)), None)
    if pattern in (".*", ".+"):
        return "one line of text"
    return f"{words} ({pattern})" if words else f"text that matches {pattern}"


def _rewrite(pattern: str, value: str) -> str:
    if pattern in (".*", ".+") and value:
        return "Take the line breaks out."
    return "Rewrite it so that all of it matches."
