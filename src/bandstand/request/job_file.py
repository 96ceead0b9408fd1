"""From a job file to the request that it stands for, with every repair said."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bandstand.host_variables import RANKS_PER_HOST, THREADS
from bandstand.hyperparameters import decode
from bandstand.request.custom_metric_rules import NAME
from bandstand.request.default_ranges import fill_ranges
from bandstand.request.documents import CONFIG, Definition
from bandstand.request.draft import ROLE, Draft
from bandstand.request.findings import Findings, Place, shown
from bandstand.request.job_ranges import add_ranges
from bandstand.request.job_reading import dotted
from bandstand.request.job_schema import JobFile, as_text
from bandstand.request.job_tuning import put_tuning
from bandstand.request.naming import TRAINING_NAME, TUNING_NAME, legal_name
from bandstand.request.program import BUILT_INS, HOROVOD_METRICS, is_aws_xgboost, line_pattern
from bandstand.request.xgboost_metrics import reported_metrics

IMAGE = "bandstand:latest"
CONTENT_TYPES = {"csv": "text/csv", "libsvm": "text/libsvm", "parquet": "application/x-parquet"}


def draft(job: JobFile, base: Path, stem: str, data: Mapping[str, Any], findings: Findings) -> dict[str, Any]:
    """Return the request that a job file stands for.

    Args:
        job: The job file, its keys and types checked.
        base: The folder that its paths are relative to, absolute.
        stem: The job's name if the file gives none.
        data: The job file as it was read, to tell what was given from what is a default.
        findings: Takes problems, notes, and where each member came from.

    Returns:
        A CreateHyperParameterTuningJob request with the table `tuning`, else a CreateTrainingJob request.
    """
    page = Draft(findings, frozenset(_given(data)))
    tuning = job.tuning
    _put_name(page, job.name if job.name is not None else stem, tuning is not None)
    top: Place = ("TrainingJobDefinition",) if tuning else ()
    static_place: Place = (*top, "StaticHyperParameters" if tuning else "HyperParameters")
    static = _static(page, job, base, static_place)
    if tuning:
        job = fill_ranges(job, _program(job, static), findings)
        page.put(CONFIG, {}, "tuning")
        fixed = add_ranges(page, job, (*CONFIG, "ParameterRanges"), static)
        static |= fixed
        for name in fixed:
            findings.came_from((*static_place, name), _key("ranges", name), True)
        put_tuning(page, tuning, job, static)
    elif job.ranges:
        fix = "Add [tuning] with metric and jobs, or move them to hyperparameters."
        findings.refuse(107, "tuning", "nothing, yet there are ranges", "the table tuning", fix)
    page.put(static_place, static or None, "hyperparameters")
    for name in job.hyperparameters:
        page.put((*static_place, name), static[name], _key("hyperparameters", name))
    _put_algorithm(page, job, top, static)
    page.put((*top, "RoleArn"), job.role or ROLE, "role")
    if job.role is None:
        findings.note("role: none is given; the request has a placeholder, which SageMaker would refuse.")
    _put_channels(page, job, top, base)
    page.put((*top, "OutputDataConfig", "S3OutputPath"), location(job.output, base), "output")
    _put_cluster(page, job, top)
    page.put(
        (*top, "StoppingCondition", "MaxRuntimeInSeconds"), job.stopping.job_seconds, "stopping.job_seconds"
    )
    if job.stopping.spot_seconds is not None:
        page.put((*top, "EnableManagedSpotTraining"), True, "stopping.spot_seconds")
    wait = job.stopping.spot_seconds
    page.put((*top, "StoppingCondition", "MaxWaitTimeInSeconds"), wait, "stopping.spot_seconds")
    if job.checkpoints is not None:
        page.put((*top, "CheckpointConfig", "S3Uri"), location(job.checkpoints, base), "checkpoints")
    _put_environment(page, job, top)
    page.put(("Tags",), [] if job.tags else None, "tags")
    for at, (name, value) in enumerate(job.tags.items()):
        page.put(("Tags", at, "Key"), name, _key("tags", name))
        page.put(
            ("Tags", at, "Value"), value if isinstance(value, str) else as_text(value), _key("tags", name)
        )
    return page.document


def location(text: str, base: Path) -> str:
    """Return a path of a job file as a URI: URIs as they are, paths as `file://` from the root.

    Args:
        text: A path, absolute, relative to `base` or to the home with `~`, or a URI.
        base: An absolute folder.
    """
    if "://" in text:
        return text
    try:
        return (base / Path(text).expanduser()).resolve().as_uri()
    except (OSError, ValueError, RuntimeError):
        return (base / text).as_uri()


def _put_name(page: Draft, name: str, tuning: bool) -> None:
    member, limit = (
        ("HyperParameterTuningJobName", TUNING_NAME) if tuning else ("TrainingJobName", TRAINING_NAME)
    )
    legal = legal_name(name, limit)
    if legal != name:
        page.findings.note(
            f"name: {shown(name)} became {legal}: at most {limit} letters, digits and hyphens are allowed."
        )
    page.put((member,), legal, "name")


def _static(page: Draft, job: JobFile, base: Path, place: Place) -> dict[str, str]:
    static = {name: as_text(value) for name, value in job.hyperparameters.items()}
    if job.program is None:
        if job.code is None:
            return static
        if NAME in static:
            static["sagemaker_submit_directory"] = location(job.code, base)
            page.findings.came_from((*place, "sagemaker_submit_directory"), "code", True)
            return static
        fix = "Add program, the script to run, or take code out."
        page.findings.refuse(107, "program", "nothing, yet there is code", "a script", fix)
        return static
    for name, key in (("sagemaker_program", "program"), ("sagemaker_submit_directory", "code")):
        if name in static:
            fix = f"Take {_key('hyperparameters', name)} out."
            page.findings.refuse(108, key, f"{key} and {name}", "one of the two", fix)
    program = Path(job.program)
    code, script = (job.code, job.program) if job.code is not None else (str(program.parent), program.name)
    static["sagemaker_program"] = script
    static["sagemaker_submit_directory"] = location(code, base)
    page.findings.came_from((*place, "sagemaker_program"), "program", True)
    home = "program" if job.code is None else "code"
    page.findings.came_from((*place, "sagemaker_submit_directory"), home, True)
    return static


def _program(job: JobFile, static: Mapping[str, str]) -> Definition:
    """What says which program runs, before there is a whole request."""
    body: dict[str, Any] = {"Environment": {name: str(value) for name, value in job.environment.items()}}
    if job.image is not None:
        body["AlgorithmSpecification"] = {"TrainingImage": job.image}
    return Definition(body, (), static, (), {}, ())


def _put_algorithm(page: Draft, job: JobFile, top: Place, static: Mapping[str, str]) -> None:
    place: Place = (*top, "AlgorithmSpecification")
    image = job.image
    if image is None and ("sagemaker_program" in static or "algorithm" in static):
        image = IMAGE
        page.findings.note(f"image: {IMAGE}, since none is given.")
    if image is None and not any(page.findings.doubted(key) for key in ("hyperparameters", "program")):
        fix = 'Add program = "train.py", or algorithm = "xgboost" to hyperparameters, or an image.'
        page.findings.refuse(107, "program", "nothing to run", "a program, an algorithm or an image", fix)
    if image is None:
        page.findings.doubt("image")
    page.put((*place, "TrainingImage"), image, "image")
    page.put((*place, "TrainingInputMode"), "File", "channels")
    metrics = dict(job.metrics)
    built_in = decode(static.get("algorithm", "")) in BUILT_INS and "sagemaker_program" not in static
    wanted = ([job.tuning.metric] if job.tuning else []) + (_reported(job, static) if built_in else [])
    if built_in or not metrics:
        own = {} if is_aws_xgboost(image or "") else {name: line_pattern(name) for name in wanted}
        metrics = {name: regex for name, regex in own.items() if regex is not None} | metrics
    for at, (name, regex) in enumerate(metrics.items()):
        key = _key("metrics", name) if name in job.metrics else "tuning.metric"
        page.put((*place, "MetricDefinitions", at, "Name"), name, key)
        page.put((*place, "MetricDefinitions", at, "Regex"), regex, key)
    page.findings.came_from((*place, "MetricDefinitions"), "metrics", bool(job.metrics))


def _reported(job: JobFile, static: Mapping[str, str]) -> list[str]:
    """Return the metrics that a built-in reports beside the objective."""
    if decode(static.get("algorithm", "")) == "horovod":
        return [name for name in HOROVOD_METRICS if name.partition(":")[0] in ("train", *job.channels)]
    return reported_metrics(static, job.channels, job.tuning.metric if job.tuning else None)


def _put_channels(page: Draft, job: JobFile, top: Place, base: Path) -> None:
    page.findings.came_from((*top, "InputDataConfig"), "channels", bool(job.channels))
    for at, (name, channel) in enumerate(job.channels.items()):
        place: Place = (*top, "InputDataConfig", at)
        key = _key("channels", name)
        page.findings.came_from(place, key, True)
        page.put((*place, "ChannelName"), name, key)
        source: Place = (*place, "DataSource", "S3DataSource")
        page.put((*source, "S3DataType"), "S3Prefix", f"{key}.path")
        page.put((*source, "S3Uri"), location(channel.path, base), f"{key}.path")
        spread = "ShardedByS3Key" if channel.sharded else "FullyReplicated"
        page.put((*source, "S3DataDistributionType"), spread, f"{key}.sharded")
        kind = None if channel.type is None else CONTENT_TYPES.get(channel.type.lower(), channel.type)
        page.put((*place, "ContentType"), kind, f"{key}.type")


def _put_cluster(page: Draft, job: JobFile, top: Place) -> None:
    place: Place = (*top, "ResourceConfig")
    page.put((*place, "InstanceType"), job.cluster.instance_type, "cluster.instance_type")
    page.put((*place, "InstanceCount"), job.cluster.hosts, "cluster.hosts")
    page.put((*place, "VolumeSizeInGB"), job.cluster.volume_gb, "cluster.volume_gb")


def _put_environment(page: Draft, job: JobFile, top: Place) -> None:
    place: Place = (*top, "Environment")
    page.findings.came_from(place, "environment", bool(job.environment))
    for name, value in job.environment.items():
        text = value if isinstance(value, str) else as_text(value)
        page.put((*place, name), text, _key("environment", name))
    for name, key, number in (
        (RANKS_PER_HOST.name, "cluster.ranks", job.cluster.ranks),
        (THREADS.name, "cluster.threads", job.cluster.threads),
    ):
        if number is None:
            continue
        if name in job.environment:
            fix = f"Take {_key('environment', name)} out."
            page.findings.refuse(108, key, f"{key} and {name}", "one of the two", fix)
        page.put((*place, name), str(number), key)


def _key(table: str, name: str) -> str:
    return dotted([table, name])


def _given(data: Mapping[str, Any], prefix: tuple[str, ...] = ()) -> list[str]:
    found = []
    for name, value in data.items():
        found.append(dotted([*prefix, str(name)]))
        if isinstance(value, Mapping):
            found += _given(value, (*prefix, str(name)))
    return found
