"""The rule of what each host may use (623)."""

from __future__ import annotations

from bandstand.request.documents import Definition
from bandstand.request.findings import Findings, shown
from bandstand.request.limits import LIMITS, read_limits


def check_limits(definition: Definition, findings: Findings) -> None:
    """Check the variables that limit hosts, and say so where they have no effect.

    Args:
        definition: The definition, of a sound document.
        findings: Takes the problems.
    """
    environment = definition.body.get("Environment", {})
    place = (*definition.place, "Environment")
    for fault in read_limits(environment)[1]:
        where = (*place, fault.name)
        if not findings.doubtful(where):
            findings.problem(623, where, shown(fault.found), fault.allowed, fault.fix)
    asked = [name for name in LIMITS if environment.get(name)]
    if asked and not findings.on.limits_hosts:
        names = ", ".join(asked)
        findings.note(f"{findings.words(place)}: without effect on {findings.on.name}: {names}.")
