"""A job file's ranges as a request's, repaired where AMT would refuse what is plainly meant."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bandstand.hyperparameter_declaration import SCALES
from bandstand.request.draft import Draft
from bandstand.request.findings import Findings, Place, shown
from bandstand.request.job_reading import dotted
from bandstand.request.job_schema import JobFile, Span, as_text
from bandstand.request.range_rules import CATEGORIES, CONTINUOUS, INTEGERS, as_finite, as_whole

_LISTS = {"integer": INTEGERS, "continuous": CONTINUOUS, "categorical": CATEGORIES}


def add_ranges(page: Draft, job: JobFile, place: Place, static: Mapping[str, str]) -> dict[str, str]:
    """Write the ranges into a request.

    Args:
        page: The request being written.
        job: The job file.
        place: Where the ranges go.
        static: The static hyperparameters, which a range of one value must not hide.

    Returns:
        The hyperparameters whose range holds one value: static from here on.
    """
    page.findings.came_from(place, "ranges", bool(job.ranges))
    counts = dict.fromkeys(_LISTS.values(), 0)
    fixed: dict[str, str] = {}
    for name, span in job.ranges.items():
        key = dotted(["ranges", name])
        kind = _kind(span, key, page.findings)
        if kind is None:
            continue
        values = _values(span, kind, key, page.findings)
        if values is None:
            continue
        one = _single(values, kind)
        if one is not None and name not in static:
            page.findings.note(f"{key}: holds one value, {one}; it is a static hyperparameter.")
            fixed[name] = one
            continue
        where: Place = (*place, _LISTS[kind], counts[_LISTS[kind]])
        counts[_LISTS[kind]] += 1
        page.findings.came_from(where, key, True)
        page.put((*where, "Name"), name, key)
        if kind == "categorical":
            page.put((*where, "Values"), values, f"{key}.categorical")
        else:
            page.put((*where, "MinValue"), values[0], f"{key}.{kind}")
            page.put((*where, "MaxValue"), values[1], f"{key}.{kind}")
            page.put((*where, "ScalingType"), SCALES[span.scale or "auto"], f"{key}.scale")
    if fixed and not any(counts.values()) and not page.findings.doubted("ranges"):
        found = f"nothing to choose: {', '.join(fixed)} can take one value only"
        fix = "Widen a range, or take [tuning] out to run one training job."
        page.findings.refuse(304, "ranges", found, "a range of several values", fix)
        page.findings.doubt("ranges")
    return fixed


def _kind(span: Span, key: str, findings: Findings) -> str | None:
    found = [kind for kind in _LISTS if getattr(span, kind) is not None]
    if len(found) == 1:
        if found[0] == "categorical" and span.scale is not None:
            fix = "Take it out: categories have no order."
            findings.refuse(106, f"{key}.scale", shown(span.scale), "none with categories", fix)
        return found[0]
    if not found and findings.doubted(key):
        return None
    what = " and ".join(found) or "no values"
    fix = "Write { integer = [1, 10] }, { continuous = [0.1, 1.0] } or { categorical = [...] }."
    findings.refuse(106, key, what, "one of integer, continuous, categorical", fix)
    findings.doubt(key)
    return None


def _values(span: Span, kind: str, key: str, findings: Findings) -> list[str] | None:
    given: list[Any] = getattr(span, kind)
    values = [as_text(value) for value in given]
    if kind == "categorical":
        unique = list(dict.fromkeys(values))
        if len(unique) < len(values):
            findings.note(f"{key}: repeated categories are taken once.")
        if unique:
            return unique
    elif len(values) == 2:
        return values
    fix = "List the values." if kind == "categorical" else "Write the least and the greatest value."
    allowed = "1 to 30 values" if kind == "categorical" else "two numbers"
    findings.refuse(106, f"{key}.{kind}", f"{len(values)} values", allowed, fix)
    findings.doubt(key)
    return None


def _single(values: list[str], kind: str) -> str | None:
    """Return the one value that a range holds, or None; texts of the same number are the same bound."""
    if kind == "categorical":
        return values[0] if len(values) == 1 else None
    low, high = ((as_whole if kind == "integer" else as_finite)(value) for value in values)
    return values[0] if low is not None and low == high else None
