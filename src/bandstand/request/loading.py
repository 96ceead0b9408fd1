"""The door: from a file or a document to a plan, or to every problem at once."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from bandstand.errors import InputError, PlanError
from bandstand.request.abilities import PLACES, Abilities
from bandstand.request.channel_rules import check_channels
from bandstand.request.data_rules import check_data
from bandstand.request.documents import definitions, operation_of, parse, refuse_unknown
from bandstand.request.findings import Findings, shown
from bandstand.request.hyperparameter_rules import check_hyperparameters
from bandstand.request.limit_rules import check_limits
from bandstand.request.local_rules import check_local
from bandstand.request.plan import Plan, TuningPlan
from bandstand.request.planning import make_plan
from bandstand.request.program_rules import check_program
from bandstand.request.range_rules import check_count
from bandstand.request.service_model import TRAINING, TUNING, in_order, request_shape
from bandstand.request.service_rules import check_service
from bandstand.request.shapes import check_shapes
from bandstand.request.training_rules import check_definition, check_environments, check_tags
from bandstand.request.tuning_rules import check_tuning

MAX_BYTES = 10_000_000
"""Largest file that is read as a request; the largest legal ones stay below."""

_OPTIONS = {
    "name": ("name",),
    "jobs": ("tuning", "jobs"),
    "parallel": ("tuning", "parallel"),
    "seed": ("tuning", "seed"),
    "hosts": ("cluster", "hosts"),
    "output": ("output",),
}
"""What the command line can say instead of a job file's key."""


def load(
    source: str | Path | Mapping[str, Any],
    *,
    on: str = "processes",
    name: str | None = None,
    jobs: int | None = None,
    parallel: int | None = None,
    seed: int | None = None,
    hosts: int | None = None,
    output: str | None = None,
    buckets: Path | None = None,
    roots: Sequence[Path] = (),
) -> Plan:
    """Read a request and check all of it.

    Args:
        source: By path, a job file (TOML) or a document of CreateHyperParameterTuningJob or CreateTrainingJob
            (JSON); or either as a mapping, whose paths are relative to the working folder.
        on: Where the job is to run; what cannot run there is among the problems.
        name: The job's name instead of the job file's.
        jobs: Training jobs in all, instead of the job file's.
        parallel: Training jobs at a time, instead of the job file's.
        seed: Seed of the settings, instead of the job file's.
        hosts: Hosts per training job, instead of the job file's.
        output: Where models go, instead of the job file's; relative to the working folder.
        buckets: The folder with the buckets of this machine's S3, for a request that came to its service.
        roots: The folders that a manifest's `file://` may reach; any, if there are none.

    Returns:
        A TuningPlan or a TrainingPlan.

    Raises:
        PlanError: The request breaks rules; with every problem.
        InputError: `on` is not a place where this release runs jobs.
    """
    if on not in PLACES:
        known = ", ".join(PLACES)
        raise InputError(f"Jobs cannot run on {shown(on)}; this release runs them on {known}.")
    where = replace(PLACES[on], roots=tuple(str(root) for root in roots))
    if buckets is not None:
        where = replace(where, serves_clients=True, buckets=str(buckets))
    if output and "://" not in output:
        output = str(Path(output).expanduser().absolute())
    options = {
        "name": name,
        "jobs": jobs,
        "parallel": parallel,
        "seed": seed,
        "hosts": hosts,
        "output": output,
    }
    given = {option: value for option, value in options.items() if value is not None}
    if isinstance(source, Mapping):
        return _load_mapping(source, given, where)
    path = Path(source)
    findings = Findings(exact=True)
    text = _read(path, findings)
    if text is None:
        raise PlanError(findings.problems)
    if path.suffix == ".json" or text.lstrip().startswith("{"):
        document = parse(text, str(path), findings)
        if document is not None and operation_of(document) is None:
            refuse_unknown(document, str(path), findings)
        if document is None or findings.problems:
            raise PlanError(findings.problems)
        return _load_document(document, given, where)
    return _load_text(text, path, given, where)


def _load_mapping(source: Mapping[str, Any], given: Mapping[str, Any], on: Abilities) -> Plan:
    if operation_of(source) is not None:
        return _load_document(copy.deepcopy(dict(source)), given, on)
    return _load_job(source, Path.cwd(), "job", given, on)


def _load_text(text: str, path: Path, given: Mapping[str, Any], on: Abilities) -> Plan:
    from bandstand.request.job_reading import parse_toml

    findings = Findings(exact=False, on=on)
    data = parse_toml(text, str(path), findings)
    if data is None:
        raise PlanError(findings.problems)
    return _load_job(data, path.absolute().parent, path.stem, given, on)


def _load_job(
    data: Mapping[str, Any], base: Path, stem: str, given: Mapping[str, Any], on: Abilities
) -> Plan:
    from bandstand.request.job_file import draft
    from bandstand.request.job_reading import read_job
    from bandstand.request.job_tuning import MODELLED_HYPERBAND

    findings = Findings(exact=False, on=on)
    chosen = copy.deepcopy(dict(data))
    for option, value in given.items():
        table: Any = chosen
        *tables, key = _OPTIONS[option]
        for part in tables:
            table = table.get(part) if part in table or part == "tuning" else table.setdefault(part, {})
        if isinstance(table, dict):
            table[key] = value
        elif table is None:
            fix = "Leave it out, or add the table tuning."
            findings.refuse(109, option, shown(value), f"{option} with a tuning job", fix)
    job = read_job(chosen, findings)
    if job.output == "":  # it would else stand for the job file's own folder
        fix = "Fill it in, or leave it out."
        findings.refuse(106, "output", 'the text ""', "a text that is not empty", fix)
        findings.doubt("output")
    operation = TUNING if job.tuning else TRAINING
    document = draft(job, base, stem, chosen, findings)
    plan = _checked(operation, in_order(request_shape(operation), document), findings)
    if isinstance(plan, TuningPlan) and job.tuning and job.tuning.strategy == MODELLED_HYPERBAND:
        return replace(plan, strategy="Hyperband-TPE")
    return plan


def _load_document(document: Mapping[str, Any], given: Mapping[str, Any], on: Abilities) -> Plan:
    findings = Findings(exact=True, on=on)
    for option, value in given.items():
        fix = "Change it in the document, which is passed on unchanged."
        findings.refuse(109, option, shown(value), f"{option} with a job file", fix)
    return _checked(str(operation_of(document)), document, findings)


def _checked(operation: str, document: Mapping[str, Any], findings: Findings) -> Plan:
    sound = check_shapes(operation, document, findings)
    found = definitions(operation, sound)
    check_tags(sound, findings)
    check_environments(found, findings)
    if operation == TUNING:
        check_tuning(sound, found, findings)
    for definition in found:
        check_count(definition, operation == TUNING, findings)
        check_definition(definition, findings)
        check_channels(definition, findings)
    if findings.on.is_service:
        check_service(found, findings)
    else:
        check_local(operation, sound, findings)
    for definition in found:
        check_program(sound, definition, findings)
        check_hyperparameters(definition, findings)
        check_data(definition, findings)
        check_limits(definition, findings)
    if findings.problems:
        raise PlanError(findings.problems)
    return make_plan(operation, document, findings)


def _read(path: Path, findings: Findings) -> str | None:
    where = str(path)
    try:
        if path.is_dir():
            inside = sorted(entry.name for entry in path.iterdir() if entry.suffix in (".toml", ".json"))
            fix = f"Name the file in it, such as {path / inside[0]}." if inside else "Name the job file."
            findings.refuse(101, where, "a folder", "a file", fix)
            return None
        if path.exists() and not path.is_file():
            findings.refuse(101, where, "no regular file", "a file", "Name the job file.")
            return None
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        findings.refuse(101, where, "no file of this name", "a job file or a document", "Mend the path.")
        return None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        findings.refuse(101, where, reason, "a file that can be read", "Mend the path or its rights.")
        return None
    if len(data) > MAX_BYTES:
        findings.refuse(101, where, "more than 10 MB", "a job file or a document", "Name the right file.")
        return None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        if b"\0" in data:
            findings.refuse(101, where, "bytes that are no text", "text in UTF-8", "Name the right file.")
        else:
            found = f"a byte that is no UTF-8 in line {line}"
            findings.refuse(101, where, found, "text in UTF-8", "Save the file in UTF-8.")
        return None
