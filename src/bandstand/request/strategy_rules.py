"""Rules of the strategies Hyperband and Grid (rules 321 to 326)."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from bandstand.hyperparameters import nearest
from bandstand.request.documents import CONFIG, Definition, dig
from bandstand.request.findings import Findings, Place, shown
from bandstand.request.range_rules import CATEGORIES, combinations, entries

BAND = (*CONFIG, "StrategyConfig", "HyperbandStrategyConfig")
MAX_RESOURCE = 20_000
RESOURCE_NAMES = ("epochs", "numepochs", "n-epochs", "n_epochs", "num_epochs")
"""The static hyperparameters from which AMT infers the maximum resource."""


def check_strategy(document: Mapping[str, Any], found: list[Definition], findings: Findings) -> None:
    """Check what belongs to the strategy of a sound CreateHyperParameterTuningJob request.

    Args:
        document: The request, as `check_shapes` returned it.
        found: Its definitions.
        findings: Takes the problems.
    """
    if findings.doubtful((*CONFIG, "Strategy")):
        return
    strategy = dig(document, *CONFIG, "Strategy")
    if strategy != "Hyperband" and strategy is not None and dig(document, *BAND) is not None:
        fix = "Take it out, or set the strategy to Hyperband."
        findings.problem(321, BAND, f"settings of Hyperband with {strategy}", "none", fix)
    if strategy == "Hyperband":
        _check_hyperband(document, found, findings)
    if strategy == "Grid":
        _check_grid(document, found, findings)


def inferred_resource(static: Mapping[str, str]) -> int | None:
    """Return the maximum resource as AMT infers it, or None.

    Exactly one of the five documented names must be among the static hyperparameters, with a whole number
    of at least 1 (HyperbandStrategyConfig in the service model).

    Args:
        static: The static hyperparameters; a value may be in JSON's quotes, as some SDKs send it.
    """
    named = [static[name] for name in RESOURCE_NAMES if name in static]
    if len(named) != 1 or not re.fullmatch(r'("?)0*[1-9][0-9]{0,8}\1', named[0], re.ASCII):
        return None
    return int(named[0].strip('"'))


def _check_hyperband(document: Mapping[str, Any], found: list[Definition], findings: Findings) -> None:
    if dig(document, *CONFIG, "TrainingJobEarlyStoppingType") == "Auto":
        place = (*CONFIG, "TrainingJobEarlyStoppingType")
        fix = "Set it to Off: Hyperband stops jobs itself."
        findings.problem(322, place, "Auto", "Off with Hyperband", fix)
    band = dig(document, *BAND) or {}
    low: int = band.get("MinResource", 1)
    top: Place = (*BAND, "MaxResource")
    where = findings.words(top)
    if findings.doubtful(top):
        return
    highs = [band["MaxResource"]] if "MaxResource" in band else _infer(found, top, findings)
    if not highs:
        return
    if max(highs) > MAX_RESOURCE:
        findings.problem(325, top, str(max(highs)), f"at most {MAX_RESOURCE}", f"Lower {where}.")
    if low > min(highs):
        bottom = (*BAND, "MinResource")
        findings.problem(
            324, bottom, str(low), f"at most {where}, which is {min(highs)}", "Swap them, or lower it."
        )


def _infer(found: list[Definition], place: Place, findings: Findings) -> list[int]:
    """The maximum resource of each definition, which need not be the same."""
    highs = []
    for definition in found:
        high = inferred_resource(definition.static)
        if high is not None:
            highs.append(high)
            continue
        named = [name for name in RESOURCE_NAMES if name in definition.static]
        tuned = [name for name in definition.tuned_names() if name in RESOURCE_NAMES]
        if len(named) > 1:
            what = f"none, and more than one to infer it from: {', '.join(named)}"
        elif named:
            what = f"none, and {named[0]} = {shown(definition.static[named[0]])} to infer it from"
        elif tuned:
            what = f"none, and {tuned[0]}, to infer it from, is tuned"
        else:
            what = "none, and no hyperparameter to infer it from" + _hint(definition)
        names = ", ".join(RESOURCE_NAMES)
        allowed = f"1 to {MAX_RESOURCE}, or exactly one static hyperparameter of these names: {names}"
        fix = f"Set {findings.words(place)} to the number of objective reports after which a job is done."
        whose = f"{definition.body['DefinitionName']}: " if "DefinitionName" in definition.body else ""
        findings.problem(323, place, whose + what, allowed, fix)
    return highs


def _hint(definition: Definition) -> str:
    """Name the hyperparameter that looks like the number of iterations, which AMT does not infer from."""
    known = (
        "num_round",
        "num-epochs",
        "num_boost_round",
        "n_estimators",
        "max_epochs",
        "iterations",
        "num_iter",
    )
    names = [*definition.static, *definition.tuned_names()]
    close = next((name for name in names if name in known), None)
    if close is None:
        close = next((name for name in names if nearest(name, RESOURCE_NAMES)), None)
    return f" ({close} is none of the names that AMT knows)" if close else ""


def _check_grid(document: Mapping[str, Any], found: list[Definition], findings: Findings) -> None:
    sound = [each for each in found if not findings.doubtful(each.tuned_place)]
    for definition in sound:
        others = [(item, place) for kind, item, place in entries(definition) if kind != CATEGORIES]
        for item, place in others:
            fix = "List the values to try as categories, or take another strategy."
            findings.problem(
                326, place, f"a range of numbers, {item['Name']}", "categorical ranges only", fix
            )
    jobs = dig(document, *CONFIG, "ResourceLimits", "MaxNumberOfTrainingJobs")
    held = math.fsum(combinations(definition) for definition in sound)
    if jobs is not None and sound == found and math.isfinite(held) and jobs != held:
        place = (*CONFIG, "ResourceLimits", "MaxNumberOfTrainingJobs")
        fix = f"Set it to {held:.0f}, or leave it out."
        findings.problem(326, place, str(jobs), f"{held:.0f}, one per combination", fix)
