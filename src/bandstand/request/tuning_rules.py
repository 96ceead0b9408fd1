"""Rules of a tuning job: objective, ranges and limits (rules 302 to 333)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from bandstand.hyperparameters import nearest
from bandstand.metrics import known_goal
from bandstand.request.definition_rules import OBJECTIVE, check_definitions
from bandstand.request.documents import CONFIG, SEVERAL, Definition, dig
from bandstand.request.findings import Findings, Place, listed, shown
from bandstand.request.plan import OBJECTIVE_HYPERPARAMETER
from bandstand.request.program import has_metric, image_of, is_aws_xgboost
from bandstand.request.range_rules import check_ranges, combinations
from bandstand.request.strategy_rules import check_strategy

CRITERIA = (*CONFIG, "TuningJobCompletionCriteria")
MAX_PARALLEL, USUAL_PARALLEL = 100, 10
MAX_JOBS, MAX_JOBS_RANDOM = 750, 10_000
MAX_DAYS = 30
FLOAT32_MAX = 3.4028235e38


def check_tuning(document: Mapping[str, Any], found: list[Definition], findings: Findings) -> None:
    """Check a sound CreateHyperParameterTuningJob request.

    Args:
        document: The request, as `check_shapes` returned it.
        found: Its definitions.
        findings: Takes problems and notes.
    """
    check_definitions(document, found, findings)
    autotune = dig(document, "Autotune", "Mode") == "Enabled"
    for definition in found:
        listed = definition.place[0] == SEVERAL
        place: Place = (*definition.place, "TuningObjective") if listed else (*CONFIG, OBJECTIVE)
        body = definition.body if listed else document.get(CONFIG[0], {})
        objective = body.get("TuningObjective" if listed else OBJECTIVE)
        _check_objective(definition, objective, place, findings)
        check_ranges(definition, autotune, findings)
    check_strategy(document, found, findings)
    _check_limits(document, found, findings)
    _check_criteria(document, findings)
    _check_parents(document, findings)


def _check_objective(
    definition: Definition, objective: Mapping[str, Any] | None, place: Place, findings: Findings
) -> None:
    if objective is None:
        if not findings.doubtful(place):
            fix = "Give the metric's name and whether to maximize or minimize it."
            findings.problem(302, place, "nothing", "an objective", fix)
        return
    name = objective.get("MetricName")
    if name is None:
        return
    goal = known_goal(name)
    wanted = objective.get("Type", "").lower()
    if goal is not None and wanted and goal != wanted:
        better = "more" if goal == "maximize" else "less"
        findings.note(
            f"{findings.words((*place, 'Type'))} is {wanted}, yet of a metric called {name}, {better} is "
            f"better as a rule. Set it to {goal} if that is meant."
        )
    place = (*place, "MetricName")
    given = definition.setting(OBJECTIVE_HYPERPARAMETER)
    if given is not None and given != name:
        where = (*definition.static_place, OBJECTIVE_HYPERPARAMETER)
        findings.problem(309, where, shown(given), f"{name}, which AMT sets", "Take it out.")
    spec = definition.body.get("AlgorithmSpecification", {})
    defined = [item["Name"] for item in spec.get("MetricDefinitions", []) if "Name" in item]
    metrics = (*definition.place, "AlgorithmSpecification", "MetricDefinitions")
    if name in defined or findings.doubtful(metrics) or has_metric(definition, name):
        return
    close = nearest(name, defined)
    mine = findings.words(metrics)
    fix = f"Did you mean {close}?" if close else f"Define {name} in {mine}, with the pattern that reads it."
    if is_aws_xgboost(image_of(definition)):
        fix = "Take a metric of XGBoost's: train or validation, a colon and its name, as in validation:auc."
    findings.problem(303, place, shown(name), listed(defined) or f"a metric defined in {mine}", fix)


def _check_limits(document: Mapping[str, Any], found: list[Definition], findings: Findings) -> None:
    limits = dig(document, *CONFIG, "ResourceLimits") or {}
    place: Place = (*CONFIG, "ResourceLimits")
    strategy = dig(document, *CONFIG, "Strategy")
    parallel, jobs = limits.get("MaxParallelTrainingJobs"), limits.get("MaxNumberOfTrainingJobs")
    if parallel is not None and parallel > MAX_PARALLEL:
        where = (*place, "MaxParallelTrainingJobs")
        findings.problem(327, where, str(parallel), f"at most {MAX_PARALLEL}", "Lower it.")
    elif parallel is not None and parallel > USUAL_PARALLEL:
        findings.note(
            f"{parallel} training jobs at a time: an AWS account allows {USUAL_PARALLEL} "
            "until its quota is raised."
        )
    if jobs is None and strategy == "Grid":
        jobs = _grid_jobs(found, findings)
    most = MAX_JOBS_RANDOM if strategy == "Random" else MAX_JOBS
    if jobs is not None and jobs > most:
        where = (*place, "MaxNumberOfTrainingJobs")
        fix = {"Random": "Lower it.", "Grid": "Take categories out, or search at random."}.get(
            str(strategy), "Lower it, or search at random."
        )
        findings.problem(328, where, str(jobs), f"at most {most}", fix)
    elif jobs is not None and jobs > MAX_JOBS:
        findings.note(f"{jobs} training jobs: an AWS account allows {MAX_JOBS} until its quota is raised.")
    if limits.get("MaxRuntimeInSeconds", 0) > MAX_DAYS * 86_400:
        findings.note(
            f"The tuning job may run for more than {MAX_DAYS} days, which an AWS account does not allow."
        )
    if jobs is not None and len(found) > jobs:
        findings.note(
            f"{jobs} training {'job' if jobs == 1 else 'jobs'} for {len(found)} definitions: some get none."
        )
    if (
        strategy != "Grid"
        and jobs is not None
        and len(found) == 1
        and not findings.doubtful(found[0].tuned_place)
    ):
        held = combinations(found[0])
        if held < jobs:
            findings.note(
                f"The ranges hold {held:.0f} combinations for {jobs} training jobs: settings repeat here, "
                "and SageMaker has refused such requests. Widen the ranges or ask for fewer jobs."
            )


def _check_criteria(document: Mapping[str, Any], findings: Findings) -> None:
    place: Place = (*CRITERIA, "TargetObjectiveMetricValue")
    target = dig(document, *place)
    if isinstance(target, int | float) and abs(target) > FLOAT32_MAX and not findings.doubtful(place):
        fix = "Give the objective that is good enough."
        findings.problem(329, place, shown(target), "a finite number of 32 bits", fix)
    place = (*CRITERIA, "BestObjectiveNotImproving")
    member = "MaxNumberOfTrainingJobsNotImproving"
    if dig(document, *CRITERIA, "BestObjectiveNotImproving") == {} and not findings.doubtful(place):
        findings.problem(329, (*place, member), "nothing", "a number, at least 3", f"Add {member}.")


def _grid_jobs(found: list[Definition], findings: Findings) -> int | None:
    """Return how many combinations a grid has that leaves its number of training jobs out, or None."""
    if len(found) != 1 or findings.doubtful(found[0].tuned_place):
        return None
    held = combinations(found[0])
    return int(held) if math.isfinite(held) else None


def _check_parents(document: Mapping[str, Any], findings: Findings) -> None:
    place: Place = ("WarmStartConfig", "ParentHyperParameterTuningJobs")
    seen: set[str] = set()
    for at, parent in enumerate(dig(document, *map(str, place)) or []):
        name = parent.get("HyperParameterTuningJobName", "")
        if name and name.lower() in seen:
            where = (*place, at, "HyperParameterTuningJobName")
            findings.problem(333, where, f'"{name}" a second time', "each parent once", "Keep one of them.")
        seen.add(name.lower())
