"""`bandstand tune`: run a tuning job to its end."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from bandstand.cli.launch import grace_option, on_option
from bandstand.cli.place import home_option, json_option, place

NAME_LENGTH = 32
"""Most characters of a tuning job's name (HyperParameterTuningJobName of the SageMaker API)."""


@click.command("tune", short_help="Run a tuning job to its end.")
@click.argument("job", metavar="JOB", type=click.Path(path_type=Path))
@click.option("--name", metavar="NAME", help="Another name than the job file's.")
@on_option
@click.option("--jobs", type=click.IntRange(min=1), metavar="N", help="Another number of training jobs.")
@click.option("--parallel", type=click.IntRange(min=1), metavar="N", help="Another number of jobs at a time.")
@click.option("--seed", type=click.IntRange(min=0), metavar="N", help="Another seed of the settings.")
@grace_option
@json_option
@home_option
def command(
    job: Path,
    name: str | None,
    on: str,
    jobs: int | None,
    parallel: int | None,
    seed: int | None,
    grace: float,
    as_json: bool,
) -> int:
    """Run the tuning job of JOB: many training jobs, of which Hyperband stops the bad ones early.

    On a terminal a live table shows the jobs; in a pipe there is one line for each thing that happens.
    Ctrl-C stops all jobs cleanly, so that each keeps its model; a second Ctrl-C kills them. Exit codes: 0
    completed, 1 failed, 2 the request is wrong, 3 stopped.

    \b
    Examples:
      bandstand tune job.toml
      bandstand tune job.toml --jobs 10 --parallel 2 --seed 1
      bandstand tune job.toml --json > result.json
    """
    from bandstand.cli.launch import conclude, load_plan, named, open_backend, watch
    from bandstand.cli.output import page, tell
    from bandstand.errors import InputError
    from bandstand.report.tuning import summary_text
    from bandstand.request.plan import TuningPlan
    from bandstand.runs.live import tune
    from bandstand.runs.record import Record

    plan = load_plan(job, name=name, jobs=jobs, parallel=parallel, seed=seed)
    if not isinstance(plan, TuningPlan):
        raise InputError(f"{job} is one training job, without [tuning]. Run it with: bandstand train {job}")
    for note in plan.notes:
        tell(f"note: {note}")
    with Record.open(place().folder) as record:
        chosen = named(plan, record, limit=NAME_LENGTH, given=name is not None)
        backend = open_backend(on)
        try:
            outcome = watch(
                lambda observer, stop: tune(chosen, record, backend, observer, stop, grace=grace),
                title=_title(chosen),
                objective=chosen.objective,
                grace=grace,
            )
        finally:
            backend.close()

        def lines(document: Mapping[str, Any]) -> list[str]:
            return [*summary_text(page(), document), "", f"More: bandstand show {chosen.name}"]

        return conclude(outcome, record, lines, as_json=as_json)


def _title(plan: Any) -> str:
    resource = f", resource {plan.min_resource} to {plan.max_resource}" if plan.max_resource else ""
    return f"{plan.name}: {plan.goal} {plan.objective}, {plan.strategy}{resource}"
