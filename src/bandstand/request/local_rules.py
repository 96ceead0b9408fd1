"""What a request asks for that this machine does not do, or cannot mean (rules 601 to 622)."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

from bandstand.channels.objects import SCHEME
from bandstand.request.abilities import Abilities
from bandstand.request.documents import CONFIG, ONE, SEVERAL, dig
from bandstand.request.findings import Findings, Place, shown
from bandstand.request.local_effects import HONOURED, REFUSED, WHOLE, WITHOUT_EFFECT, Refusal
from bandstand.request.service_model import TUNING


def check_local(operation: str, document: Mapping[str, Any], findings: Findings) -> None:
    """Check that nothing in a sound request is refused here, and note what has no effect here.

    Args:
        operation: The document's operation.
        document: The request, as `check_shapes` returned it.
        findings: Takes the problems and one note.
    """
    idle: dict[str, str] = {}
    _check_members(document, (), (), findings, idle)
    if idle:
        reasons = ", ".join(f"{name} ({why})" for name, why in idle.items())
        findings.note(f"Accepted without effect on this machine: {reasons}.")
    place: Place = (*CONFIG, "Strategy")
    strategy = dig(document, *place)
    if strategy == "Bayesian" and not findings.doubtful(place):
        check_installed(findings.words(place), "Bayesian", findings)
    if "WarmStartConfig" in document:
        where = findings.words(("WarmStartConfig",))
        findings.note(f"{where}: the earlier tuning jobs are looked up in the record when this one starts.")
    place = (*CONFIG, "ResourceLimits", "MaxNumberOfTrainingJobs")
    grid = strategy == "Grid"
    if operation == TUNING and not grid and dig(document, *place) is None and not findings.doubtful(place):
        fix = "Say how many training jobs to run."
        findings.problem(607, place, "nothing", "a number of training jobs", fix)


def check_installed(where: str, strategy: str, findings: Findings) -> None:
    """Check that the package is there which chooses the settings of a strategy with a model.

    Args:
        where: The strategy's place, as the user wrote it.
        strategy: Its name.
        findings: Takes the problem.
    """
    if find_spec("optuna") is None:
        fix = "Install it: pip install 'bandstand[local]'."
        findings.refuse(601, where, f"{strategy}, and optuna is not installed", "optuna", fix)


def _check_members(
    members: Mapping[str, Any], path: tuple[str, ...], place: Place, findings: Findings, idle: dict[str, str]
) -> None:
    for name, value in members.items():
        inner, where = (*path, name), (*place, name)
        refusal = REFUSED.get(inner)
        if refusal is not None and _is_lifted(refusal, value, findings.on):
            continue
        if refusal is not None and (refusal.when is None or refusal.when(value)):
            if not findings.doubtful(where) or refusal.when is None:
                found = shown(value) if isinstance(value, str | int | float) else name
                found = f"{found}, which does not run on {findings.on.name}"
                findings.problem(refusal.number, where, found, refusal.allowed, refusal.fix)
        elif inner in WITHOUT_EFFECT:
            if value not in (False, None) and findings.given(where):
                same = (SEVERAL, *where[2:]) if place[:1] == (SEVERAL,) else where  # once for all of a list
                idle[findings.words(same)] = WITHOUT_EFFECT[inner]
        elif inner not in HONOURED and refusal is None:
            if findings.doubtful(where):
                continue
            found = f"{name}, which this release does not know"
            findings.problem(622, where, found, "the members that it knows", "Take it out to run here.")
        elif inner not in WHOLE:
            _descend(value, inner, where, findings, idle)


def _is_lifted(refusal: Refusal, value: object, on: Abilities) -> bool:
    stored = refusal.from_buckets and on.buckets is not None
    return refusal.number in on.lifted or (stored and str(value).startswith(SCHEME))


def _descend(
    value: object, path: tuple[str, ...], place: Place, findings: Findings, idle: dict[str, str]
) -> None:
    if path in ((ONE,), (SEVERAL,)):
        path = ()
    if isinstance(value, Mapping):
        _check_members(value, path, place, findings, idle)
    elif isinstance(value, list):
        for at, item in enumerate(value):
            if isinstance(item, Mapping):
                _check_members(item, path, (*place, at), findings, idle)
