"""Rules of the ranges of a tuning job (rules 304 to 314), and how their texts become numbers."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from bandstand.request.documents import Definition
from bandstand.request.findings import Findings, Place, shown
from bandstand.request.plan import OBJECTIVE_HYPERPARAMETER
from bandstand.request.ranges import CategoricalRange, ContinuousRange, IntegerRange, Range

MAX_RANGES = 30
MAX_HYPERPARAMETERS = 100
INTEGERS, CONTINUOUS, CATEGORIES = (
    "IntegerParameterRanges",
    "ContinuousParameterRanges",
    "CategoricalParameterRanges",
)

_WHOLE = re.compile(r"[-+]?[0-9]{1,20}", re.ASCII)
_NUMBER = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?", re.ASCII)
_INTEGER_LIMIT = 2**63


def entries(definition: Definition) -> Iterator[tuple[str, Mapping[str, Any], Place]]:
    """Yield each range: the list it stands in, the range, and its place."""
    for kind in (INTEGERS, CONTINUOUS, CATEGORIES):
        for at, item in enumerate(definition.tuned.get(kind, [])):
            yield kind, item, (*definition.tuned_place, kind, at)


def check_ranges(definition: Definition, autotune: bool, findings: Findings) -> None:
    """Check the ranges of one definition, among themselves and against its static hyperparameters.

    Args:
        definition: The definition and its ranges.
        autotune: Whether AMT chooses ranges itself.
        findings: Takes the problems.
    """
    found = list(entries(definition))
    hints = definition.tuned.get("AutoParameters", [])
    if hints and not autotune:
        place = (*definition.tuned_place, "AutoParameters")
        fix = 'Set Autotune to {"Mode": "Enabled"}, or give ranges instead of hints.'
        findings.problem(314, place, f"{len(hints)} hints", "none without Autotune", fix)
    if not found and not autotune and not findings.doubtful(definition.tuned_place):
        fix = f"Add at least one range to {findings.words(definition.tuned_place)}."
        findings.problem(304, definition.tuned_place, "no ranges", f"1 to {MAX_RANGES} ranges", fix)
    if len(found) > MAX_RANGES:
        fix = "Make the ranges that matter least static."
        findings.problem(307, definition.tuned_place, f"{len(found)} ranges", f"{MAX_RANGES} in all", fix)
    _check_names(definition, found, findings)
    for kind, item, place in found:
        if kind == CATEGORIES:
            _check_categories(item, place, findings)
        else:
            _check_bounds(kind, item, place, findings)


def check_count(definition: Definition, tuning: bool, findings: Findings) -> None:
    """Check how many hyperparameters a training job gets, and the names that nobody but AMT may give."""
    names = {*definition.static, *definition.tuned_names()}
    if tuning:
        names.add(OBJECTIVE_HYPERPARAMETER)
    if len(names) > MAX_HYPERPARAMETERS and not findings.doubtful(definition.static_place):
        own = MAX_HYPERPARAMETERS - 1 if tuning else MAX_HYPERPARAMETERS
        found = f"{len(names)} hyperparameters, those that are tuned and {OBJECTIVE_HYPERPARAMETER} included"
        fix = f"Give at most {own}."
        allowed = f"{MAX_HYPERPARAMETERS} in all"
        findings.problem(308, definition.static_place, found if tuning else f"{len(names)}", allowed, fix)
    if "" in definition.static:
        fix = "Name it, or take it out."
        findings.problem(309, (*definition.static_place, ""), "an empty name", "a name", fix)


def read_range(kind: str, item: Mapping[str, Any]) -> Range:
    """Return a range that broke no rule as the study uses it."""
    if kind == CATEGORIES:
        return CategoricalRange(item["Name"], tuple(item["Values"]))
    scaling = item.get("ScalingType", "Auto")
    if kind == INTEGERS:
        return IntegerRange(item["Name"], int(item["MinValue"]), int(item["MaxValue"]), scaling)
    return ContinuousRange(item["Name"], float(item["MinValue"]), float(item["MaxValue"]), scaling)


def combinations(definition: Definition) -> float:
    """Return how many different settings the ranges of a definition hold; infinite with a continuous one."""
    count = 1.0
    for kind, item, _ in entries(definition):
        if kind == CONTINUOUS:
            return math.inf
        if kind == CATEGORIES:
            count *= len(set(item["Values"]))
        else:
            count *= int(item["MaxValue"]) - int(item["MinValue"]) + 1
    return count


def _check_names(
    definition: Definition, found: list[tuple[str, Mapping[str, Any], Place]], findings: Findings
) -> None:
    seen: dict[str, Place] = {}
    for _, item, place in found:
        name = item.get("Name")
        if name is None:
            continue
        where = (*place, "Name")
        if name == "" or name == OBJECTIVE_HYPERPARAMETER:
            fix = "Give the hyperparameter's own name."
            findings.problem(309, where, shown(name), "a name that AMT does not set", fix)
        if name in seen:
            findings.problem(305, where, f'"{name}" a second time', "one range per name", "Keep one of them.")
        seen.setdefault(name, place)
        if name in definition.static:
            static = findings.words((*definition.static_place, name))
            fix = f"Take it out of the ranges, or take {static} out."
            findings.problem(
                306, where, f'"{name}", which is static as well', "static or tuned, not both", fix
            )


def _check_categories(item: Mapping[str, Any], place: Place, findings: Findings) -> None:
    values = item.get("Values", [])
    repeated = sorted(value for value, count in Counter(values).items() if count > 1)
    if repeated:
        found = ", ".join(shown(value) for value in repeated)
        findings.problem(313, (*place, "Values"), f"{found} more than once", "each once", "Keep one of each.")


def _check_bounds(kind: str, item: Mapping[str, Any], place: Place, findings: Findings) -> None:
    bounds: list[float] = []
    for member in ("MinValue", "MaxValue"):
        text = item.get(member)
        if text is None:
            continue
        value = as_whole(text) if kind == INTEGERS else as_finite(text)
        if value is None:
            _refuse_bound(kind, text, (*place, member), findings)
        else:
            bounds.append(value)
    if len(bounds) < 2:
        return
    low, high = bounds
    if low >= high:
        same = "Make it static." if low == high else "Swap them."
        allowed = "a lower bound less than the upper one"
        findings.problem(311, place, f"{item['MinValue']} to {item['MaxValue']}", allowed, same)
    _check_scale(kind, item, place, findings)


def _check_scale(kind: str, item: Mapping[str, Any], place: Place, findings: Findings) -> None:
    scale = item.get("ScalingType")
    where, span = (*place, "ScalingType"), f"{item['MinValue']} to {item['MaxValue']}"
    low, high = float(item["MinValue"]), float(item["MaxValue"])
    if scale == "Logarithmic" and min(low, high) <= 0:
        fix = "Raise the lower bound above 0, or take a linear scale: 0 has no logarithm."
        findings.problem(312, where, f"a logarithmic scale from {span}", "bounds above 0", fix)
    if scale == "ReverseLogarithmic" and kind == INTEGERS:
        fix = "Take a linear or logarithmic scale, or make the range continuous."
        findings.problem(312, where, "a reverse-logarithmic scale of whole numbers", "continuous ranges", fix)
    elif scale == "ReverseLogarithmic" and not (min(low, high) >= 0 and max(low, high) < 1):
        fix = "Keep the bounds at 0 or above, and below 1; or take another scale."
        findings.problem(312, where, f"a reverse-logarithmic scale from {span}", "0 <= bounds < 1", fix)


def _refuse_bound(kind: str, text: str, place: Place, findings: Findings) -> None:
    if kind == INTEGERS:
        value = as_finite(text)
        whole = value is not None and value.is_integer() and abs(value) < _INTEGER_LIMIT
        fix = (
            f'Write "{int(value)}".'
            if value is not None and whole and findings.exact
            else f"Write {int(value)}."
            if value is not None and whole
            else "Write a whole number, or make the range continuous."
        )
        findings.problem(310, place, shown(text), "a whole number of 64 bits", fix)
    else:
        findings.problem(310, place, shown(text), "a finite number", "Write a number such as 0.5 or 1e-5.")


def as_whole(text: str) -> int | None:
    """Return the whole number of 64 bits that a bound's text stands for, or None."""
    if not _WHOLE.fullmatch(text):
        return None
    value = int(text)
    return value if -_INTEGER_LIMIT <= value < _INTEGER_LIMIT else None


def as_finite(text: str) -> float | None:
    """Return the finite number that a bound's text stands for, or None."""
    if not _NUMBER.fullmatch(text):
        return None
    value = float(text)
    return value if math.isfinite(value) else None
