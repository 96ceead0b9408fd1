"""From a request that broke no rule to its plan."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bandstand.request.channel_rules import channels, input_mode
from bandstand.request.documents import CONFIG, Definition, definitions, dig
from bandstand.request.findings import Findings
from bandstand.request.plan import ChannelPlan, Pairs, Plan, TrainingPlan, TuningPlan, written
from bandstand.request.program import image_of, is_aws_xgboost, line_pattern, program_of
from bandstand.request.range_rules import combinations, entries, read_range
from bandstand.request.service_model import TRAINING
from bandstand.request.strategy_rules import BAND, inferred_resource

ONE_DAY = 86_400
"""Seconds a training job may run if the request does not say (StoppingCondition in the service model)."""

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
    definition = definitions(operation, document)[0]
    tags = tuple((tag["Key"], tag["Value"]) for tag in document.get("Tags", []))
    if operation == TRAINING:
        name = document["TrainingJobName"]
        return _training(name, definition, tags, document, findings, None)
    name = document["HyperParameterTuningJobName"]
    config = document[CONFIG[0]]
    objective = config["HyperParameterTuningJobObjective"]
    limits, band = config["ResourceLimits"], dig(document, *BAND) or {}
    high = band.get("MaxResource", inferred_resource(definition.static))
    criteria = config.get("TuningJobCompletionCriteria", {})
    target = criteria.get("TargetObjectiveMetricValue")
    hyperband = config["Strategy"] == "Hyperband"
    request = training_request(name, document)
    metric = objective["MetricName"]
    return TuningPlan(
        name=name,
        objective=metric,
        goal="maximize" if objective["Type"] == "Maximize" else "minimize",
        strategy=config["Strategy"],
        min_resource=band.get("MinResource", 1),
        max_resource=high if hyperband else None,
        jobs=limits.get("MaxNumberOfTrainingJobs") or int(combinations(definition)),
        parallel=limits["MaxParallelTrainingJobs"],
        seed=config.get("RandomSeed"),
        ranges=tuple(read_range(kind, item) for kind, item, _ in entries(definition)),
        definition=_training(name, definition, tags, request, findings, metric),
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


def training_request(name: str, document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the CreateTrainingJob request that a tuning job's definition stands for.

    Members that only definitions have are left out or translated; the tuning job's tags are copied, as AMT
    does.

    Args:
        name: The training job's name.
        document: The CreateHyperParameterTuningJob request.
    """
    body = document["TrainingJobDefinition"]
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
    resources = _chosen(body.get("ResourceConfig") or body["HyperParameterTuningResourceConfig"])
    return TrainingPlan(
        name=name,
        image=image_of(definition),
        hosts=resources["InstanceCount"],
        instance_type=resources["InstanceType"],
        volume_gb=resources.get("VolumeSizeInGB", 0),
        role=body["RoleArn"],
        hyperparameters=tuple(_hyperparameters(definition, findings).items()),
        channels=tuple(_channel(definition, channel) for channel, _ in channels(definition)),
        output=body["OutputDataConfig"]["S3OutputPath"],
        checkpoints=dig(body, "CheckpointConfig", "S3Uri"),
        environment=tuple(body.get("Environment", {}).items()),
        max_runtime=dig(body, "StoppingCondition", "MaxRuntimeInSeconds") or ONE_DAY,
        metrics=_metrics(definition, objective),
        tags=tags,
        document=written(request),
        notes=tuple(findings.notes) if objective is None else (),
        exact=findings.exact,
    )


def _chosen(resources: Mapping[str, Any]) -> dict[str, Any]:
    """Return the one kind of host: where several are listed, the first, as SageMaker prefers it."""
    listed = resources.get("InstanceConfigs") or resources.get("InstancePreferences") or [{}]
    return {"InstanceCount": 1} | dict(resources) | dict(listed[0])


def _hyperparameters(definition: Definition, findings: Findings) -> dict[str, str]:
    found = dict(definition.static)
    program = program_of(definition)
    if program is not None and program.kind == "image" and not findings.on.opens_images:
        findings.note(
            f"{image_of(definition)}: the built-in {program.name} of Bandstand stands in for it here."
        )
        found["algorithm"] = program.name
    return found


def _channel(definition: Definition, channel: Mapping[str, Any]) -> ChannelPlan:
    data = channel["DataSource"]["S3DataSource"]
    return ChannelPlan(
        name=channel["ChannelName"],
        uri=data["S3Uri"],
        content_type=channel.get("ContentType"),
        distribution=data.get("S3DataDistributionType", "FullyReplicated"),
        input_mode=input_mode(definition, channel),
        record_wrapper=channel.get("RecordWrapperType", "None"),
    )


def _metrics(definition: Definition, objective: str | None) -> Pairs:
    defined = definition.body["AlgorithmSpecification"].get("MetricDefinitions", [])
    pairs = {item["Name"]: item["Regex"] for item in defined}
    if objective is not None and objective not in pairs and is_aws_xgboost(image_of(definition)):
        pairs[objective] = line_pattern(objective) or ""
    return tuple(pairs.items())
