"""Rules of a training job, or of a tuning job's definition (rules 401 to 411, 501 and 502)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bandstand.host_variables import RANKS_PER_HOST, SET_BY_USERS, THREADS
from bandstand.metrics import pattern_problems, pattern_warnings
from bandstand.request.documents import Definition
from bandstand.request.findings import Findings, Place, shown
from bandstand.request.program import image_of, is_aws_xgboost

MAX_RUNTIME = 28 * 86_400
ONE_DAY = 86_400
"""Seconds a training job may run if the request does not say (StoppingCondition in the service model)."""

MAX_ENVIRONMENT = 48
_BASE = "SAGEMAKER_BASE_DIR"

_FLAT = ("InstanceType", "InstanceCount", "VolumeSizeInGB")
_LISTS = ("InstanceGroups", "InstanceConfigs", "InstancePreferences")


def check_definition(definition: Definition, findings: Findings) -> None:
    """Check algorithm, instances, limits, environment and metrics of one definition.

    Args:
        definition: The definition, of a sound document.
        findings: Takes problems and notes.
    """
    _check_algorithm(definition, findings)
    _check_instances(definition, findings)
    _check_stopping(definition, findings)
    _check_settings(definition, findings)
    _check_metrics(definition, findings)


def check_environments(found: Sequence[Definition], findings: Findings) -> None:
    """Check that several definitions stay within the limit that counts for all of them."""
    count = sum(len(definition.body.get("Environment", {})) for definition in found)
    if len(found) > 1 and count > MAX_ENVIRONMENT:
        place = (*found[-1].place, "Environment")
        fix = "Take out what is not needed."
        findings.problem(409, place, f"{count} in all definitions", f"{MAX_ENVIRONMENT} in all", fix)


def check_tags(document: Mapping[str, Any], findings: Findings) -> None:
    """Check the keys of the tags."""
    seen: set[str] = set()
    for at, tag in enumerate(document.get("Tags", [])):
        key, place = tag.get("Key", ""), ("Tags", at, "Key")
        if key.lower().startswith("aws:"):
            findings.problem(410, place, shown(key), "keys that do not begin with aws:", "Rename it.")
        if key in seen:
            findings.problem(410, place, f"{shown(key)} a second time", "each key once", "Keep one of them.")
        seen.add(key)


def _check_algorithm(definition: Definition, findings: Findings) -> None:
    spec = definition.body.get("AlgorithmSpecification", {})
    place: Place = (*definition.place, "AlgorithmSpecification")
    image, name = spec.get("TrainingImage"), spec.get("AlgorithmName")
    if image is not None and name is not None:
        fix = "Take one of them out."
        findings.problem(401, (*place, "AlgorithmName"), "an image and an algorithm", "one of the two", fix)
    if not image and not name and not findings.doubtful((*place, "TrainingImage")):
        found = "an empty text" if image == "" else "nothing"
        fix = f"Give {findings.words((*place, 'TrainingImage'))}."
        findings.problem(401, (*place, "TrainingImage"), found, "an image or an algorithm", fix)


def _check_instances(definition: Definition, findings: Findings) -> None:
    names = [
        name for name in ("ResourceConfig", "HyperParameterTuningResourceConfig") if name in definition.body
    ]
    place: Place = (*definition.place, names[0] if names else "ResourceConfig")
    if len(names) > 1:
        fix = "Take one of them out."
        findings.problem(402, place, " and ".join(names), "one of the two", fix)
    if not names:
        if not findings.doubtful(place):
            fix = f"Add {findings.words(place)} with InstanceType, InstanceCount and VolumeSizeInGB."
            findings.problem(402, place, "nothing", "the instances to run on", fix)
        return
    config = definition.body[names[0]]
    used = [name for name in ("InstanceType", *_LISTS) if name in config]
    flat = [name for name in _FLAT if name in config and name not in used]
    if used in (["InstanceGroups"], ["InstanceConfigs"]):
        refused = _FLAT if used == ["InstanceConfigs"] else _FLAT[:2]
        used += [name for name in flat if name in refused]
    if len(used) > 1:
        found = " with ".join(used)
        findings.problem(402, place, found, "one way to name the instances", "Keep one of them.")
    if "InstancePreferences" in config and definition.body.get("EnableManagedSpotTraining"):
        found, where = "InstancePreferences with spot instances", (*place, "InstancePreferences")
        findings.problem(402, where, found, "one of the two", "Give InstanceType and InstanceCount.")
    for name in ("SelectedInstanceType", "SelectedInstanceCount"):
        if name in config:
            fix = "Take it out: SageMaker fills it in."
            findings.problem(402, (*place, name), "a member that is only read", "none in a request", fix)
    _check_counts(config, place, used, findings)


def _check_counts(config: Mapping[str, Any], place: Place, used: list[str], findings: Findings) -> None:
    if used in ([], ["InstanceType"]):
        for name in _FLAT[:2]:
            if name not in config and not findings.doubtful((*place, name)):
                fix = f"Add {findings.words((*place, name))}."
                findings.problem(403, (*place, name), "nothing", "the type and number of instances", fix)
    counts = [((*place, "InstanceCount"), config.get("InstanceCount"))]
    for member in _LISTS:
        for at, item in enumerate(config.get(member, [])):
            counts.append(((*place, member, at, "InstanceCount"), item.get("InstanceCount")))
    for where, count in counts:
        if count == 0:
            findings.problem(403, where, "0", "1 or more", "Ask for at least one.")


def _check_stopping(definition: Definition, findings: Findings) -> None:
    stopping = definition.body.get("StoppingCondition", {})
    place: Place = (*definition.place, "StoppingCondition")
    longest, wait = stopping.get("MaxRuntimeInSeconds"), stopping.get("MaxWaitTimeInSeconds")
    if longest is not None and longest > MAX_RUNTIME:
        where = (*place, "MaxRuntimeInSeconds")
        findings.problem(405, where, str(longest), f"at most {MAX_RUNTIME}, 28 days", "Lower it.")
    where = (*place, "MaxWaitTimeInSeconds")
    if definition.body.get("EnableManagedSpotTraining"):
        if wait is None and not findings.doubtful(where):
            fix = "Add it: the time to wait for capacity and to run."
            findings.problem(404, where, "nothing", "a number of seconds, with spot instances", fix)
        elif (
            wait is not None
            and wait < (longest or ONE_DAY)
            and not findings.doubtful((*place, "MaxRuntimeInSeconds"))
        ):
            known = longest or f"{ONE_DAY}, one day, since the request does not say"
            allowed = f"at least MaxRuntimeInSeconds, which is {known}"
            findings.problem(404, where, str(wait), allowed, "Raise it, or lower MaxRuntimeInSeconds.")
        if "CheckpointConfig" not in definition.body:
            findings.note(
                f"{findings.words((*definition.place, 'EnableManagedSpotTraining'))}: nothing"
                " keeps checkpoints (checkpoints in a job file, CheckpointConfig in a request), so a job that"
                " is interrupted begins again from nothing."
            )
    elif wait is not None:
        fix = "Take it out, or set EnableManagedSpotTraining to true."
        findings.problem(404, where, str(wait), "none without spot instances", fix)


def _check_settings(definition: Definition, findings: Findings) -> None:
    """Check the environment's variables that Bandstand itself reads, in the launcher or in a host."""
    environment = definition.body.get("Environment", {})
    place: Place = (*definition.place, "Environment")
    for variable in SET_BY_USERS:
        text = environment.get(variable.name)
        if text is None or (text == "" and variable not in (RANKS_PER_HOST, THREADS)):
            continue  # inside a host, an empty one counts as not set
        if not variable.accepts(text):
            fix = "Write that, or leave it out."
            findings.problem(411, (*place, variable.name), shown(text), variable.expected, fix)
    base = environment.get(_BASE, "")
    if base not in ("", "/opt/ml", "/opt/ml/"):
        findings.problem(
            411, (*place, _BASE), shown(base), "/opt/ml, where a job's files are", "Take it out."
        )


def _check_metrics(definition: Definition, findings: Findings) -> None:
    defined = definition.body.get("AlgorithmSpecification", {}).get("MetricDefinitions", [])
    place: Place = (*definition.place, "AlgorithmSpecification", "MetricDefinitions")
    if defined and is_aws_xgboost(image_of(definition)):
        # "You can't override the metric definitions for Amazon SageMaker algorithms", in script mode as well
        found = "definitions, which SageMaker refuses for this image"
        fix = "Take them out: the image brings a definition of each of its metrics."
        findings.problem(503, place, found, "none", fix)
        return
    pairs = [(item["Name"], item["Regex"]) for item in defined if "Name" in item and "Regex" in item]
    seen: set[str] = set()
    for at, item in enumerate(defined):
        name, regex = item.get("Name"), item.get("Regex")
        if name in seen:
            where = (*place, at, "Name")
            findings.problem(
                502, where, f"{shown(name)} a second time", "each metric once", "Keep one of them."
            )
        seen.add(name)
        if name is None or regex is None:
            continue
        where = (*place, at, "Regex")
        lenient = findings.on.serves_clients
        for problem in pattern_problems(name, regex, lenient=lenient):
            fix = f"{problem[:1].upper()}{problem[1:].rstrip('.')}."
            findings.problem(501, where, shown(regex), "a pattern that captures one number, uncut", fix)
        others = [pair for pair in pairs if pair[0] != name]
        for warning in pattern_warnings(name, regex, others, lenient=lenient):
            findings.note(f"{findings.words(where)}: {warning}")
