"""Rules of what runs, as far as this machine can tell (421, 422, 424, 613, 620 and 621)."""

from __future__ import annotations

import os
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bandstand.hyperparameters import nearest
from bandstand.request.channel_rules import channels
from bandstand.request.custom_metric_rules import check_custom_metrics
from bandstand.request.documents import CONFIG, Definition, dig
from bandstand.request.findings import Findings, Place, shown
from bandstand.request.plan import local_path
from bandstand.request.program import (
    BUILT_INS,
    HOROVOD_METRICS,
    Program,
    image_of,
    is_ours,
    line_pattern,
    program_of,
)

CODE = "/opt/ml/code"
READ = (
    "text/csv",
    "csv",
    "text/libsvm",
    "text/x-libsvm",
    "libsvm",
    "application/x-parquet",
    "parquet",
)
"""Content types that the built-in XGBoost reads: SageMaker XGBoost's, but for RecordIO."""


def check_program(document: Mapping[str, Any], definition: Definition, findings: Findings) -> None:
    """Check that something runs, that it is there, and that a built-in has what it needs.

    Args:
        document: The whole request, sound.
        definition: Its definition.
        findings: Takes the problems.
    """
    program = program_of(definition)
    if findings.on.opens_images and _is_of_image(program, definition):
        return
    if program is None:
        _refuse_nothing(definition, findings)
    elif program.kind == "script":
        _check_script(program, definition, findings)
    elif program.name in BUILT_INS:
        _check_built_in(program.name, document, definition, findings)
        check_custom_metrics(program.folder, definition, findings)
    else:
        _refuse_algorithm(program.name, definition, findings)


def _is_of_image(program: Program | None, definition: Definition) -> bool:
    """Whether only the image knows what trains; Bandstand's own image has what its rules say."""
    if program is not None and program.kind == "script":
        return program.folder is None or program.folder.startswith(CODE)
    if program is not None and program.kind == "built-in":
        return not is_ours(image_of(definition))
    algorithm = definition.body.get("AlgorithmSpecification", {})
    return program is not None or not is_ours(image_of(definition)) or "ContainerEntrypoint" in algorithm


def _refuse_nothing(definition: Definition, findings: Findings) -> None:
    place = (*definition.place, "AlgorithmSpecification", "TrainingImage")
    if findings.doubtful(place) or findings.doubtful(definition.static_place):
        return
    static = findings.words(definition.static_place)
    fix = f'Add algorithm = "xgboost" to {static}, or name a script by program.'
    if findings.exact:
        fix = f"Add algorithm, or sagemaker_program and sagemaker_submit_directory, to {static}."
    what = shown(image_of(definition)) + ", and nothing that names the program"
    findings.problem(421, place, what, "a program that can be found without opening the image", fix)


def _refuse_algorithm(name: str, definition: Definition, findings: Findings) -> None:
    place = (*definition.static_place, "algorithm")
    close = nearest(name, BUILT_INS)
    found = f'"{name}", which is no built-in algorithm'
    fix = f"Did you mean {close}?" if close else "Name a script by sagemaker_program to run your own."
    if not is_ours(image_of(definition)) and not close:
        fix = "Name the program by sagemaker_program and sagemaker_submit_directory."
    findings.problem(620, place, found, " or ".join(BUILT_INS), fix)


def _check_script(program: Program, definition: Definition, findings: Findings) -> None:
    folder = program.folder
    place = (*definition.static_place, "sagemaker_submit_directory")
    if "SAGEMAKER_SUBMIT_DIRECTORY" in definition.body.get("Environment", {}):
        place = (*definition.place, "Environment", "SAGEMAKER_SUBMIT_DIRECTORY")
    if folder is None or folder.startswith(CODE):
        found = f"{folder or 'nothing'}, so the code of {shown(program.name)} would be in the image"
        fix = "Name the folder with the code; images are not opened for jobs on processes."
        findings.problem(422, place, found, "a folder of this machine", fix)
        return
    if "://" in folder and not folder.startswith("file:///"):
        if findings.on.is_service:
            return
        found = f"{shown(folder)}, which does not run on {findings.on.name}"
        findings.problem(613, place, found, "file:// and an absolute path", "Name the copy on this machine.")
        return
    if folder.startswith("/opt/ml/"):
        return
    source = local_path(folder) if folder.startswith("file:///") else Path(folder)
    _check_code(source, program.name, place, findings)


def _check_code(source: Path, script: str, place: Place, findings: Findings) -> None:
    words = findings.words(place)
    try:
        if source.is_file():
            if not tarfile.is_tarfile(source):
                fix = "Name a folder, or an archive made by tar."
                findings.problem(422, place, f"{source}, which is no archive", "a folder or tar.gz", fix)
            return
        if not source.is_dir():
            findings.problem(
                422, place, f"{source}, which does not exist", "a folder or tar.gz", f"Mend {words}."
            )
            return
        file = source / script
        if not file.resolve().is_relative_to(source.resolve()):
            fix = "Put the program into the folder with the code."
            findings.problem(422, place, f"{script}, outside {source}", "a program below it", fix)
        elif not file.is_file():
            here = sorted(entry.name for entry in source.iterdir() if entry.is_file())
            close = nearest(script, here)
            fix = f"Did you mean {close}?" if close else f"Put it there, or mend {words}."
            findings.problem(422, place, f"no {script} in {source}", "a folder with the program", fix)
        elif file.suffix not in (".py", ".sh") and not os.access(file, os.X_OK):
            fix = f"Run: chmod +x {file}"
            findings.problem(422, place, f"{file}, which is not executable", "a program that can be run", fix)
    except (OSError, ValueError, RuntimeError) as error:  # RuntimeError: links that lead in a circle
        findings.problem(422, place, f"{source}: {error}", "a folder that can be read", f"Mend {words}.")


def _check_built_in(
    name: str, document: Mapping[str, Any], definition: Definition, findings: Findings
) -> None:
    found = {channel.get("ChannelName"): (channel, place) for channel, place in channels(definition)}
    data = (*definition.place, "InputDataConfig")
    sound = not findings.doubtful(data)
    if "train" not in found and sound:
        what = ", ".join(sorted(str(name) for name in found)) or "no channels"
        findings.problem(424, data, what, "a channel named train", "Add the channel train.")
    metric = str(dig(document, *CONFIG, "HyperParameterTuningJobObjective", "MetricName") or "")
    if metric.startswith("validation:") and "validation" not in found and sound:
        fix = "Add the channel validation: without it nothing reports the objective."
        findings.problem(424, data, f"no channel for {metric}", "a channel named validation", fix)
    if name == "horovod":
        _check_reported(metric, findings)
        return
    _check_metric_name(metric, definition, findings)
    for channel, place in found.values():
        kind = channel.get("ContentType")
        if kind is not None and kind.partition(";")[0].strip().lower() not in READ:
            where = (*place, "ContentType")
            what = f"{shown(kind)}, which the built-in does not read"
            fix = "Give one of these, or none if the files' names tell: .csv, .libsvm, .parquet."
            findings.problem(621, where, what, f"one of {', '.join(READ)}", fix)


def _check_reported(metric: str, findings: Findings) -> None:
    """The classifier reports three metrics; another objective would never be seen."""
    place = (*CONFIG, "HyperParameterTuningJobObjective", "MetricName")
    if metric and metric not in HOROVOD_METRICS and not findings.doubtful(place):
        close = nearest(metric, HOROVOD_METRICS)
        fix = f"Did you mean {close}?" if close else "Take one of these."
        findings.problem(424, place, shown(metric), f"one of {', '.join(HOROVOD_METRICS)}", fix)


def _check_metric_name(metric: str, definition: Definition, findings: Findings) -> None:
    """The built-in prints a channel before each metric; an objective without one would never be seen."""
    if not metric or metric.startswith(("train:", "validation:")):
        return
    defined = definition.body.get("AlgorithmSpecification", {}).get("MetricDefinitions", [])
    regex = next((item.get("Regex") for item in defined if item.get("Name") == metric), None)
    place = (*CONFIG, "HyperParameterTuningJobObjective", "MetricName")
    if regex in (None, line_pattern(metric)):
        allowed = "the channel train or validation, a colon and a metric"
        if not findings.doubtful(place):
            findings.problem(424, place, shown(metric), allowed, f"Did you mean validation:{metric}?")
