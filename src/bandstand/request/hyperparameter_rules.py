"""Rules of the hyperparameters that a program declares (431 to 436)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bandstand.hyperparameter_declaration import Hyperparameter
from bandstand.hyperparameters import is_reserved
from bandstand.request.documents import Definition
from bandstand.request.findings import Findings, Place, listed, shown
from bandstand.request.program_schema import Declared, declared_by
from bandstand.request.range_rules import CATEGORIES, CONTINUOUS, INTEGERS, as_finite, as_whole, entries


def check_hyperparameters(definition: Definition, findings: Findings) -> None:
    """Check static and tuned hyperparameters against what the program declares, if a file beside it says so.

    Args:
        definition: A definition whose shapes are sound.
        findings: Takes the problems.
    """
    declared = declared_by(definition, findings)
    if declared is None:
        return
    _check_missing(definition, declared, findings)
    places: dict[str, tuple[str, Place]] = {}
    for name, text in definition.static.items():
        place = (*definition.static_place, name)
        it = None if is_reserved(name) else _known(name, place, declared, places, findings)
        if it is not None:
            _check_value(it, text, place, declared, findings)
    for kind, item, place in entries(definition):
        it = _known(item.get("Name", ""), (*place, "Name"), declared, places, findings)
        if it is not None:
            _check_range(it, kind, item, place, declared, findings)


def refuse_unknown(name: str, place: Place, declared: Declared, findings: Findings) -> None:
    """Say that a program declares no hyperparameter of this name."""
    near = declared.schema.nearest(name)
    names = [it.name for it in declared.schema.declared]
    fix = f"Did you mean {near}?" if near else f"Take it out. Declared are: {listed(names) or 'none'}."
    found = f"{shown(name)}, which {declared.program} does not declare"
    findings.problem(431, place, found, "a declared hyperparameter", fix + declared.outdated)


def _check_missing(definition: Definition, declared: Declared, findings: Findings) -> None:
    if findings.doubtful(definition.static_place) or findings.doubtful(definition.tuned_place):
        return
    static = [
        name
        for name, text in definition.static.items()
        if not ((it := declared.schema.find(name)) and it.is_absent(text))
    ]
    for it in declared.schema.missing([*static, *definition.tuned_names()]):
        place = (*definition.static_place, it.name)
        fix = f"Add {it.name}{', static or tuned' if it.tunable else ''}."
        findings.problem(435, place, "nothing", it.allowed, fix + declared.outdated)


def _known(
    name: str,
    place: Place,
    declared: Declared,
    places: dict[str, tuple[str, Place]],
    findings: Findings,
) -> Hyperparameter | None:
    """The declaration of a name that is given here, and not elsewhere under another of its names."""
    it = declared.schema.find(name)
    if it is None:
        if name and not is_reserved(name):
            refuse_unknown(name, place, declared, findings)
        return None
    other, where = places.setdefault(it.name, (name, place))
    if other != name:
        found = f"{shown(name)}, another name of {other}, which {findings.words(where)} gives"
        findings.problem(436, place, found, "one of its names", "Keep one of them.")
    return it


def _check_value(it: Hyperparameter, text: str, place: Place, declared: Declared, findings: Findings) -> None:
    if findings.doubtful(place) or it.is_absent(text):
        return
    try:
        it.read(text)
    except ValueError:
        fix = it.hint(text).strip() or "Take an allowed value."
        findings.problem(432, place, shown(text), it.allowed, fix + declared.outdated)


def _check_range(
    it: Hyperparameter,
    kind: str,
    item: Mapping[str, Any],
    place: Place,
    declared: Declared,
    findings: Findings,
) -> None:
    if not it.tunable:
        fix = "Give it one value: it does not change what is learnt, or jobs could not be compared."
        found = f"a range of {it.name}, which {declared.program} declares as not tunable"
        findings.problem(434, place, found, "a tunable hyperparameter", fix + declared.outdated)
    elif kind == CATEGORIES:
        for value in dict.fromkeys(item.get("Values", [])):
            try:
                it.read(value)
            except ValueError:
                fix = it.hint(value).strip() or "Take it out."
                where = (*place, "Values")
                findings.problem(433, where, shown(value), it.allowed, fix + declared.outdated)
    elif it.kind not in ("integer", "number"):
        fix = "List the values to try as categories."
        findings.problem(433, place, "a range of numbers", it.allowed, fix + declared.outdated)
    elif it.kind == "integer" and kind == CONTINUOUS:
        fix = "Make it a range of whole numbers."
        found = "a continuous range, whose values are no whole numbers"
        findings.problem(433, place, found, f"integer: {it.allowed}", fix + declared.outdated)
    else:
        _check_bounds(it, kind, item, place, declared, findings)


def _check_bounds(
    it: Hyperparameter,
    kind: str,
    item: Mapping[str, Any],
    place: Place,
    declared: Declared,
    findings: Findings,
) -> None:
    for member in ("MinValue", "MaxValue"):
        text = item.get(member, "")
        bound = as_whole(text) if kind == INTEGERS else as_finite(text)
        if bound is not None and not it.contains(bound):
            fix = "Narrow the range: its bounds are tried, too."
            findings.problem(433, (*place, member), shown(text), it.allowed, fix + declared.outdated)
