"""`bandstand plan`: check a job file and print the request it makes."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bandstand.cli.job_options import bucket_option, change_options, check_bucket, load_plan, on_option
from bandstand.cli.place import home_option, json_option
from bandstand.errors import InputError, PlanError
from bandstand.request.abilities import CONTAINERS, SAGEMAKER

if TYPE_CHECKING:
    from bandstand.hyperparameter_schema import Schema
    from bandstand.request.plan import Plan


@click.command("plan", short_help="Check a job file and print the request it makes.")
@click.argument("job", metavar="JOB", type=click.Path(path_type=Path), required=False)
@click.option(
    "--hyperparameters",
    "program",
    metavar="PROGRAM",
    help="Instead of a plan: the hyperparameters of a built-in (xgboost, horovod) or of a script, not run.",
)
@change_options(tuning=True)
@on_option
@bucket_option
@json_option
@home_option
def command(
    job: Path | None, program: str | None, on: str, bucket: str | None, as_json: bool, **changes: Any
) -> int:
    """Check JOB and print the request that it makes, without running anything.

    JOB is a job file (TOML) or a CreateTrainingJob or CreateHyperParameterTuningJob document (JSON).
    Standard output is the exact request as JSON and nothing else; notes go to standard error. When JOB
    breaks rules, all problems are told at once and the exit code is 2; with --json they are also printed
    as JSON.

    \b
    Examples:
      bandstand plan job.toml
      bandstand plan job.toml --jobs 10 > request.json
      bandstand plan request.json --json
      bandstand plan job.toml --on sagemaker
      bandstand plan --hyperparameters xgboost
    """
    check_bucket(bucket, on)
    if job is not None and program is None:
        _put_request(load_plan(job, changes, on=on), on, bucket)
    elif program is not None and job is None:
        _put_hyperparameters(program, as_json=as_json)
    else:
        raise click.UsageError("Give one of JOB and --hyperparameters.", click.get_current_context())
    return 0


def _put_request(plan: Plan, on: str, bucket: str | None) -> None:
    from bandstand.cli.output import put_json, tell

    for note in plan.notes:
        tell(f"note: {note}")
    if on == CONTAINERS.name:
        from bandstand.backends.container_needs import container_needs

        for need in container_needs(plan, os.environ):
            tell(f"note: {need}")
    if on == SAGEMAKER.name:
        from bandstand.cli.sagemaker import cost, placed

        placement = placed(plan, bucket)
        for note in (*placement.notes, cost(plan)):
            tell(f"note: {note}")
        plan = placement.plan
    request = json.loads(plan.document)
    local = list(_local_addresses(request))
    if local:
        tell(f"note: SageMaker needs s3:// where this request has file:// addresses: {', '.join(local)}.")
    put_json(request)


def _put_hyperparameters(program: str, *, as_json: bool) -> None:
    from bandstand.cli.output import put_json, put_lines
    from bandstand.hyperparameter_file import to_document
    from bandstand.hyperparameter_help import lines

    schema = _declared(program)
    if as_json:
        put_json(to_document(schema))
    else:
        put_lines(lines(schema))


def _declared(program: str) -> Schema:
    """Give what a built-in or a script declares, from the file beside it."""
    from bandstand.cli.output import tell
    from bandstand.hyperparameters import nearest
    from bandstand.request.findings import Findings
    from bandstand.request.program import BUILT_INS
    from bandstand.request.program_schema import built_in, of_script

    findings = Findings(exact=True)
    script = Path(program)
    declared = of_script(script, findings) if script.suffix else built_in(program, findings)
    if findings.problems:
        raise PlanError(findings.problems)
    for note in findings.notes:
        tell(f"note: {note}")
    if declared is not None:
        return declared.schema
    if script.is_file():
        raise InputError(
            f"No file beside {program} tells its hyperparameters. Declare them in "
            f"bandstand.start(schema=...) and run: python {program} --export-hyperparameters"
        )
    names = [name for name in BUILT_INS if built_in(name, findings)]
    near = nearest(program, names)
    hint = f" Did you mean {near}?" if near else f" Name a script, or a built-in: {', '.join(names)}."
    raise InputError(f"There is no program {program} that declares hyperparameters.{hint}")


def _local_addresses(value: object, where: str = "") -> Iterator[str]:
    """Give the places of a request that hold a `file://` address."""
    if isinstance(value, dict):
        for name, member in value.items():
            yield from _local_addresses(member, f"{where}.{name}" if where else name)
    elif isinstance(value, list):
        for number, member in enumerate(value):
            yield from _local_addresses(member, f"{where}[{number}]")
    elif isinstance(value, str) and value.startswith("file://"):
        yield where
