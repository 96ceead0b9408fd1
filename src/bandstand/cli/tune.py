"""`bandstand tune`: run a tuning job to its end."""

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


@click.command("tune", short_help="Run a tuning job to its end.")
@click.argument("job", metavar="[JOB]", required=False, type=click.Path(path_type=Path))
@resume_option
@change_options(tuning=True)
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
    """Run the tuning job of JOB: many training jobs, of which Hyperband stops the bad ones early.

    On a terminal a live table shows the jobs; in a pipe there is one line for each thing that happens.
    Ctrl-C stops all jobs cleanly, so that each keeps its model; a second Ctrl-C kills them. Exit codes: 0
    completed, 1 failed, 2 the request is wrong, 3 stopped.

    A tuning job whose launcher was killed goes on with --resume: what has ended is kept, training jobs that
    still run go on, and those that were lost are started again from their checkpoints.

    With --on sagemaker data and code are uploaded, and the very request that `bandstand plan --on sagemaker`
    prints is handed in; that costs money. AMT decides there. Ctrl-C then leaves the job running, and --resume
    watches it again.

    \b
    Examples:
      bandstand tune job.toml
      bandstand tune job.toml --jobs 10 --parallel 2 --seed 1
      bandstand tune job.toml --json > result.json
      bandstand tune job.toml --on sagemaker
      bandstand tune --resume direct-marketing
    """
    from bandstand.cli.launch import launch, take_up
    from bandstand.cli.output import page
    from bandstand.cli.sagemaker import attach_there, launch_there, runs_there
    from bandstand.errors import InputError
    from bandstand.report.tuning import summary_text
    from bandstand.request.plan import TuningPlan
    from bandstand.runs.finding import words_for
    from bandstand.runs.live import resume_tuning, tune
    from bandstand.runs.record import Record
    from bandstand.runs.resuming import resumable_tuning

    def lines(document: Mapping[str, Any]) -> list[str]:
        with Record.open(place().folder) as record:
            words = words_for(record, document["name"], "tuning")
        more = [f"More: {place().advice(f'show {words}')}"]
        failed = [row["name"] for row in document["training_jobs"] if row["status"] == "Failed"]
        if failed:
            more.append(f"      {place().advice('logs ' + failed[0])}")
        return [*summary_text(page(), document), "", *more]

    check_job_or_resume(job, resume)
    check_bucket(bucket, on)
    if job is None:
        with Record.open(place().folder) as record:
            if on == SAGEMAKER.name or runs_there(record, str(resume), "tuning"):
                return attach_there(str(resume), "tuning", record, lines)
        return take_up(str(resume), resumable_tuning, resume_tuning, lines=lines)
    plan = load_plan(job, changes, on=on)
    if not isinstance(plan, TuningPlan):
        advice = place().advice(f"train {shlex.quote(str(job))}")
        raise InputError(f"{job} is one training job, without tuning. Run it with: {advice}")
    if on == SAGEMAKER.name:
        return launch_there(plan, insist=changes["name"] is not None, bucket=bucket, lines=lines)
    return launch(plan, tune, insist=changes["name"] is not None, on=on, grace=grace, lines=lines)
