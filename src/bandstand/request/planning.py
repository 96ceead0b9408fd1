"""From a request that broke no rule to its plan."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from bandstand.request.channel_rules import channels, input_mode
from bandstand.request.documents import CONFIG, Definition, definitions, dig
from bandstand.request.findings import Findings
from bandstand.request.plan import (
    ChannelPlan,
    DefinitionPlan,
    Pairs,
    Plan,
    TrainingPlan,
    TuningPlan,
    written,
)
from bandstand.request.program import image_of, is_aws_xgboost, line_pattern, program_of
from bandstand.request.range_rules import combinations, entries, read_range
from bandstand.request.service_model import TRAINING
from bandstand.request.strategy_rules import BAND, inferred_resource
from bandstand.request.training_rules import ONE_DAY
from bandstand.request.xgboost_metrics import reported_metrics

_ONLY_IN_DEFINITIONS = (
    "DefinitionName",
    "TuningObjective",
    "HyperParameterRanges",
    "StaticHyperParameters",
    "HyperParameterTuningResourceConfig",
)


def make_plan(operation: str, document: Mapping[str, Any], findings: Findings) -> Plan:
    """Return the plan of a request.

    Args:
        operation: The request's operation.
        document: The request, which broke no rule.
        findings: Holds the notes that the plan carries.
    """
    found = definitions(operation, document)
    tags = tuple((tag["Key"], tag["Value"]) for tag in document.get("Tags", []))
    if operation == TRAINING:
        name = document["TrainingJobName"]
        return _training(name, found[0], tags, document, findings, None)
    name = document["HyperParameterTuningJobName"]
    config = document[CONFIG[0]]
    objectives = [
        config.get("HyperParameterTuningJobObjective") or each.body["TuningObjective"] for each in found
    ]
    limits, band = config["ResourceLimits"], dig(document, *BAND) or {}
    told = config["Strategy"] != "Hyperband" or "MaxResource" in band
    own = [None if told else inferred_resource(each.static) for each in found]
    criteria = config.get("TuningJobCompletionCriteria", {})
    target = criteria.get("TargetObjectiveMetricValue")
    return TuningPlan(
        name=name,
        definitions=tuple(
            _definition(name, each, tags, document, findings, objective["MetricName"], most)
            for each, objective, most in zip(found, objectives, own, strict=True)
        ),
        goal="maximize" if objectives[0]["Type"] == "Maximize" else "minimize",
        strategy=config["Strategy"],
        min_resource=band.get("MinResource", 1),
        max_resource=band.get("MaxResource", max((most for most in own if most is not None), default=None)),
        jobs=limits.get("MaxNumberOfTrainingJobs") or sum(map(_combined, found)),
        parallel=limits["MaxParallelTrainingJobs"],
        seed=config.get("RandomSeed"),
        max_runtime=limits.get("MaxRuntimeInSeconds"),
        tags=tags,
        document=written(document),
        notes=tuple(findings.notes),
        exact=findings.exact,
        early_stopping=config.get("TrainingJobEarlyStoppingType") == "Auto",
        parents=tuple(
            each["HyperParameterTuningJobName"]
            for each in dig(document, "WarmStartConfig", "ParentHyperParameterTuningJobs") or ()
        ),
        warm_start=dig(document, "WarmStartConfig", "WarmStartType"),
        target=None if target is None else float(target),
        not_improving=dig(criteria, "BestObjectiveNotImproving", "MaxNumberOfTrainingJobsNotImproving"),
        convergence=dig(criteria, "ConvergenceDetected", "CompleteOnConvergence") == "Enabled",
    )


def _definition(
    name: str,
    definition: Definition,
    tags: Pairs,
    document: Mapping[str, Any],
    findings: Findings,
    objective: str,
    max_resource: int | None,
) -> DefinitionPlan:
    request = training_request(name, definition.body, document)
    return DefinitionPlan(
        training=_training(name, definition, tags, request, findings, objective),
        objective=objective,
        ranges=tuple(read_range(kind, item) for kind, item, _ in entries(definition)),
        name=definition.body.get("DefinitionName", ""),
        max_resource=max_resource,
    )


def training_request(name: str, body: Mapping[str, Any], document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the CreateTrainingJob request that a tuning job's definition stands for.

    Members that only definitions have are left out or translated; the tuning job's tags are copied, as AMT
    does.

    Args:
        name: The training job's name.
        body: The definition.
        document: The CreateHyperParameterTuningJob request that it stands in.
    """
    request: dict[str, Any] = {"TrainingJobName": name}
    request["HyperParameters"] = dict(body.get("StaticHyperParameters", {}))
    request |= {member: value for member, value in body.items() if member not in _ONLY_IN_DEFINITIONS}
    if "HyperParameterTuningResourceConfig" in body:
        request["ResourceConfig"] = _resources(body["HyperParameterTuningResourceConfig"])
    if "Tags" in document:
        request["Tags"] = document["Tags"]
    return request


def _resources(config: Mapping[str, Any]) -> dict[str, Any]:
    chosen = {
        member: value
        for member, value in config.items()
        if member not in ("InstanceConfigs", "AllocationStrategy")
    }
    return chosen | dict(next(iter(config.get("InstanceConfigs", [])), {}))


def _training(
    name: str,
    definition: Definition,
    tags: Pairs,
    request: Mapping[str, Any],
    findings: Findings,
    objective: str | None,
) -> TrainingPlan:
    body = definition.body
    resources = _chosen(body.get("ResourceConfig") or body.get("HyperParameterTuningResourceConfig") or {})
    return TrainingPlan(
        name=name,
        image=image_of(definition),
        hosts=_hosts(resources),
        instance_type=resources.get("InstanceType", ""),
        volume_gb=resources.get("VolumeSizeInGB", 0),
        role=body["RoleArn"],
        hyperparameters=tuple(_hyperparameters(definition, findings).items()),
        channels=tuple(_channel(definition, channel, findings) for channel, _ in channels(definition)),
        output=body["OutputDataConfig"]["S3OutputPath"],
        checkpoints=dig(body, "CheckpointConfig", "S3Uri"),
        environment=tuple(body.get("Environment", {}).items()),
        max_runtime=dig(body, "StoppingCondition", "MaxRuntimeInSeconds") or ONE_DAY,
        metrics=_metrics(definition, objective),
        tags=tags,
        document=written(request),
        notes=tuple(findings.notes) if objective is None else (),
        exact=findings.exact,
        spot=bool(body.get("EnableManagedSpotTraining")),
        max_wait=dig(body, "StoppingCondition", "MaxWaitTimeInSeconds"),
        retries=dig(body, "RetryStrategy", "MaximumRetryAttempts") or 0,
    )


def _chosen(resources: Mapping[str, Any]) -> dict[str, Any]:
    """Return the one kind of host: where several are listed, the first, as SageMaker prefers it."""
    listed = resources.get("InstanceConfigs") or resources.get("InstancePreferences") or [{}]
    return {"InstanceCount": 1} | dict(resources) | dict(listed[0])


def _hosts(resources: Mapping[str, Any]) -> int:
    """How many hosts a job has, over all its groups."""
    groups = resources.get("InstanceGroups")
    return sum(group["InstanceCount"] for group in groups) if groups else int(resources["InstanceCount"])


def _combined(definition: Definition) -> int:
    """How many training jobs there are where no number says it; 0 where only SageMaker knows."""
    number = combinations(definition)
    return int(number) if math.isfinite(number) else 0


def _hyperparameters(definition: Definition, findings: Findings) -> dict[str, str]:
    found = dict(definition.static)
    program = program_of(definition)
    if program is not None and program.kind == "image" and not findings.on.opens_images:
        findings.note(
            f"{image_of(definition)}: the built-in {program.name} of Bandstand stands in for it here."
        )
        found["algorithm"] = program.name
    return found


def _channel(definition: Definition, channel: Mapping[str, Any], findings: Findings) -> ChannelPlan:
    data = channel["DataSource"].get("S3DataSource", {})
    return ChannelPlan(
        name=channel["ChannelName"],
        uri=data.get("S3Uri", ""),
        content_type=channel.get("ContentType"),
        distribution=data.get("S3DataDistributionType", "FullyReplicated"),
        input_mode=input_mode(definition, channel),
        record_wrapper=channel.get("RecordWrapperType", "None"),
        data_type=data.get("S3DataType", "S3Prefix"),
        buckets=findings.on.buckets,
    )


def _metrics(definition: Definition, objective: str | None) -> Pairs:
    """Those that are defined, and those that the built-in reports where AWS's image brings its own."""
    defined = definition.body.get("AlgorithmSpecification", {}).get("MetricDefinitions", [])
    pairs = {item["Name"]: item["Regex"] for item in defined}
    if is_aws_xgboost(image_of(definition)):
        brought = [objective] if objective is not None else []
        program = program_of(definition)
        if program is not None and program.kind != "script":
            given = [channel["ChannelName"] for channel in definition.body.get("InputDataConfig", [])]
            brought += reported_metrics(definition.static, given, objective)
        for name in brought:
            pattern = line_pattern(name)
            if pattern is not None:
                pairs.setdefault(name, pattern)
    return tuple(pairs.items())
