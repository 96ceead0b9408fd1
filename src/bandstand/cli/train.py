"""`bandstand train`: run one training job to its end."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from bandstand.cli.job_options import (
    bucket_option,
    change_options,
    check_bucket,
    check_job_or_resume,
    grace_option,
    load_plan,
    on_option,
    resume_option,
)
from bandstand.cli.place import home_option, json_option, place
from bandstand.request.abilities import SAGEMAKER


@click.command("train", short_help="Run one training job to its end.")
@click.argument("job", metavar="[JOB]", required=False, type=click.Path(path_type=Path))
@resume_option
@change_options(tuning=False)
@on_option
@bucket_option
@grace_option
@json_option
@home_option
def command(
    job: Path | None,
    resume: str | None,
    on: str,
    bucket: str | None,
    grace: float,
    as_json: bool,
    **changes: Any,
) -> int:
    """Run the training job of JOB and follow its log.

    Ctrl-C stops the job cleanly, so that it keeps its model; a second Ctrl-C kills it. Exit codes: 0
    completed, 1 failed, 2 the request is wrong, 3 stopped.

    A job whose launcher was killed goes on with --resume: as it is if it still runs, else it is started again
    from its checkpoint.

    With --on sagemaker data and code are uploaded, and the very request that `bandstand plan --on sagemaker`
    prints is handed in; that costs money. Ctrl-C then leaves the job running, and --resume watches it again.

    \b
    Examples:
      bandstand train job.toml
      bandstand train job.toml --name second-try --hosts 2 --grace 10
      bandstand train request.json --json
      bandstand train job.toml --on sagemaker
      bandstand train --resume second-try
    """
    from bandstand.cli.launch import launch, take_up
    from bandstand.cli.output import page
    from bandstand.cli.sagemaker import attach_there, launch_there, runs_there
    from bandstand.errors import InputError
    from bandstand.report import training_text
    from bandstand.request.plan import TrainingPlan
    from bandstand.runs.live import resume_training, train
    from bandstand.runs.record import Record
    from bandstand.runs.resuming import resumable_training

    def lines(document: Mapping[str, Any]) -> list[str]:
        return ["", *training_text(page(), document)]

    check_job_or_resume(job, resume)
    check_bucket(bucket, on)
    if job is None:
        with Record.open(place().folder) as record:
            if on == SAGEMAKER.name or runs_there(record, str(resume), "training"):
                return attach_there(str(resume), "training", record, lines)
        return take_up(str(resume), resumable_training, resume_training, lines=lines)
    plan = load_plan(job, changes, on=on)
    if not isinstance(plan, TrainingPlan):
        advice = place().advice(f"tune {shlex.quote(str(job))}")
        raise InputError(f"{job} is a tuning job. Run it with: {advice}")
    if on == SAGEMAKER.name:
        return launch_there(plan, insist=changes["name"] is not None, bucket=bucket, lines=lines)
    return launch(plan, train, insist=changes["name"] is not None, on=on, grace=grace, lines=lines)
