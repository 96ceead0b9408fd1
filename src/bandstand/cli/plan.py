"""`bandstand plan`: check a job file and print the request it makes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import click

from bandstand.cli.job_options import change_options, load_plan, on_option
from bandstand.cli.place import home_option, json_option


@click.command("plan", short_help="Check a job file and print the request it makes.")
@click.argument("job", metavar="JOB", type=click.Path(path_type=Path))
@change_options(tuning=True)
@on_option
@json_option
@home_option
def command(job: Path, on: Literal["processes"], as_json: bool, **changes: Any) -> int:
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
    """
    from bandstand.cli.output import put_json, tell

    plan = load_plan(job, changes, on=on)
    for note in plan.notes:
        tell(f"note: {note}")
    request = json.loads(plan.document)
    local = list(_local_addresses(request))
    if local:
        tell(f"note: SageMaker needs s3:// where this request has file:// addresses: {', '.join(local)}.")
    put_json(request)
    return 0


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
