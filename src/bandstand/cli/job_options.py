"""The job file on the command line: which file, what takes the place of its keys, where and how it runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from bandstand.cli.pick import JobName
from bandstand.cli.seconds import Seconds
from bandstand.errors import InputError
from bandstand.request.abilities import PLACES, PROCESSES, SAGEMAKER

if TYPE_CHECKING:
    from bandstand.request.plan import Plan

Function = TypeVar("Function", bound=Callable[..., Any])

GRACE_SECONDS = 120.0
"""Time between SIGTERM and SIGKILL, as SageMaker gives it (StopTrainingJob)."""


def change_options(*, tuning: bool) -> Callable[[Function], Function]:
    """Add the options that take the place of a job file's keys; together they are `changes` of `load_plan`.

    Args:
        tuning: Whether those of a tuning job are among them.
    """
    number = click.IntRange(min=1)
    options = [
        click.option("--name", metavar="NAME", help="Another name than the job file's."),
        click.option("--hosts", type=number, metavar="N", help="Another number of hosts per job."),
        click.option("--output", metavar="DIR", help="Another folder for models than the job file's."),
    ]
    if tuning:
        seed = click.IntRange(min=0)
        options += [
            click.option("--jobs", type=number, metavar="N", help="Another number of training jobs."),
            click.option("--parallel", type=number, metavar="N", help="Another number of jobs at a time."),
            click.option("--seed", type=seed, metavar="N", help="Another seed of the settings."),
        ]

    def add(function: Function) -> Function:
        for option in reversed(options):
            function = option(function)
        return function

    return add


def on_option(function: Function) -> Function:
    """Add `--on` to a verb: where jobs run."""
    return click.option(
        "--on",
        type=click.Choice(list(PLACES)),
        default=PROCESSES.name,
        show_default=True,
        help=f"Where hosts run: as {' or '.join(place.summary for place in PLACES.values())}.",
    )(function)


def bucket_option(function: Function) -> Function:
    """Add `--bucket` to a verb: where on S3 everything goes that lies on this machine."""
    return click.option(
        "--bucket",
        metavar="BUCKET",
        help="With --on sagemaker: the bucket, or s3://BUCKET/PREFIX, that data and code are uploaded to."
        "  [default: that of the output, else sagemaker-REGION-ACCOUNT]",
    )(function)


def check_bucket(bucket: str | None, on: str) -> None:
    """Check that `--bucket` is given where it has a meaning.

    Raises:
        click.UsageError: It is not.
    """
    if bucket is not None and on != SAGEMAKER.name:
        raise click.UsageError(
            "--bucket is for jobs on SageMaker: add --on sagemaker, or leave it out.",
            click.get_current_context(),
        )


def grace_option(function: Function) -> Function:
    """Add `--grace` to a verb: how long a stopped job may take to save its model."""
    return click.option(
        "--grace",
        type=Seconds(),
        default=GRACE_SECONDS,
        show_default=True,
        metavar="SECONDS",
        help="Time between asking a job to stop and killing it.",
    )(function)


def resume_option(function: Function) -> Function:
    """Add `--resume` to a verb: take up what a lost launcher has left."""
    return click.option(
        "--resume",
        metavar="NAME",
        type=JobName(),
        help="Go on with the job of this name whose launcher was killed, as the record has it; or watch one"
        " that runs on SageMaker (with --on sagemaker also one that Bandstand has not begun).",
    )(function)


def check_job_or_resume(job: Path | None, resume: str | None) -> None:
    """Check that a verb was given a job file, or `--resume` and no option that changes a job.

    Args:
        job: The job file, or None.
        resume: The name that goes on, or None.

    Raises:
        click.UsageError: It was not.
    """
    context = click.get_current_context()
    if resume is None:
        if job is None:
            raise click.MissingParameter(param_hint="'JOB'", param_type="argument", ctx=context)
        return
    kept = ["--resume", "--json", "--home"]
    if context.params.get("on") == SAGEMAKER.name:  # where a job is that the record may not know
        kept.append("--on")
    told = [
        option.opts[0]
        for option in context.command.params
        if isinstance(option, click.Option)
        and option.opts[0] not in kept
        and context.get_parameter_source(option.name or "") is click.core.ParameterSource.COMMANDLINE
    ]
    given = [*([str(job)] if job is not None else []), *told]
    if given:
        raise click.UsageError(
            f"--resume {resume} goes on with the job as the record has it; leave out {', '.join(given)}.",
            context,
        )


def load_plan(job: Path, changes: Mapping[str, Any], *, on: str) -> Plan:
    """Read and check a job file or a document of the API.

    Args:
        job: The file.
        changes: What `change_options` gave: what takes the place of the file's keys, or None.
        on: Where the job is to run.

    Raises:
        InputError: There is no such file; the message names the nearest one.
        PlanError: The request breaks rules; it holds every problem.
    """
    from bandstand.request import load

    if not job.exists():
        raise InputError(_no_file(job))
    return load(job, on=on, **changes)


def _no_file(job: Path) -> str:
    from bandstand.hyperparameters import nearest

    folder = job.parent
    found = folder.iterdir() if folder.is_dir() else ()
    files = sorted(path.name for path in found if path.suffix in (".toml", ".json"))
    near = nearest(job.name, files)
    if near:
        return f"There is no file {job}. Did you mean {folder / near}?"
    if files:
        return f"There is no file {job}. In that folder there are: {', '.join(files[:10])}."
    return f"There is no file {job}; expected a job file (TOML) or a request (JSON)."
