"""Rules of a tuning job's training job definitions among themselves (301, 302, 304 and 331 to 334)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bandstand.request.documents import CONFIG, ONE, SEVERAL, Definition
from bandstand.request.findings import Findings, Place

OBJECTIVE = "HyperParameterTuningJobObjective"

_HOMES = (
    (302, OBJECTIVE, "TuningObjective"),
    (304, "ParameterRanges", "HyperParameterRanges"),
)
"""A rule, and where what it is about stands: with one definition in the configuration, in a list in each."""


def check_definitions(document: Mapping[str, Any], found: list[Definition], findings: Findings) -> None:
    """Check whether there is one definition or a list of them, and what those of a list say together.

    Args:
        document: The request, as `check_shapes` returned it.
        found: Its definitions.
        findings: Takes the problems.
    """
    if ONE in document and SEVERAL in document:
        fix = "Take one of them out."
        findings.problem(301, (SEVERAL,), "a definition and a list as well", "one of the two", fix)
    if ONE not in document and SEVERAL not in document and not findings.doubtful((ONE,)):
        findings.problem(301, (ONE,), "nothing", "a training job definition", f"Add {ONE}.")
    if ONE in document:
        _check_homes_of_one(found[0], findings)
    elif SEVERAL in document:
        _check_homes_of_list(document, findings)
        _check_names(found, findings)
        if len(found) > 1:
            _check_goals(found, findings)
            _check_single_only(document, findings)


def _check_homes_of_one(definition: Definition, findings: Findings) -> None:
    for number, home, member in _HOMES:
        if member in definition.body:
            fix = f"Move it to {findings.words((*CONFIG, home))}."
            place = (*definition.place, member)
            findings.problem(number, place, member, "it in a list of definitions only", fix)


def _check_homes_of_list(document: Mapping[str, Any], findings: Findings) -> None:
    for number, member, home in _HOMES:
        if member in document.get(CONFIG[0], {}):
            fix = f"Move it to {home} of each definition."
            findings.problem(number, (*CONFIG, member), member, "it with a single definition only", fix)


def _check_names(found: list[Definition], findings: Findings) -> None:
    names: set[str] = set()
    for definition in found:
        place = (*definition.place, "DefinitionName")
        name = definition.body.get("DefinitionName")
        if name is None and not findings.doubtful(place):
            findings.problem(331, place, "nothing", "a name", "Name the definition.")
        elif name in names:
            findings.problem(331, place, f'"{name}" a second time', "a name of its own", "Rename one.")
        names.add(name or "")


def _check_goals(found: list[Definition], findings: Findings) -> None:
    """The best training job is the best of all definitions, so that they have to agree on what is better."""
    first = ""
    for definition in found:
        goal = definition.body.get("TuningObjective", {}).get("Type")
        place = (*definition.place, "TuningObjective", "Type")
        if goal is None or findings.doubtful(place):
            continue
        first = first or goal
        if goal != first:
            fix = f"Set it to {first}; a program can report its metric with the other sign."
            findings.problem(334, place, goal, f"{first}, as in the definitions before", fix)


def _check_single_only(document: Mapping[str, Any], findings: Findings) -> None:
    if "WarmStartConfig" in document:
        fix = "Take it out, or tune one definition."
        findings.problem(332, ("WarmStartConfig",), "a warm start", "none with several definitions", fix)
    place: Place = (*CONFIG, "TrainingJobEarlyStoppingType")
    if document.get(CONFIG[0], {}).get("TrainingJobEarlyStoppingType") == "Auto":
        findings.problem(332, place, "Auto", "Off with several definitions", "Set it to Off.")
