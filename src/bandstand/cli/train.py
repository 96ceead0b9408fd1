"""`bandstand train`: run one training job to its end."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from bandstand.cli.launch import grace_option, on_option
from bandstand.cli.place import home_option, json_option, place

NAME_LENGTH = 63
"""Most characters of a training job's name (TrainingJobName of the SageMaker API)."""


@click.command("train", short_help="Run one training job to its end.")
@click.argument("job", metavar="JOB", type=click.Path(path_type=Path))
@click.option("--name", metavar="NAME", help="Another name than the job file's.")
@on_option
@grace_option
@json_option
@home_option
def command(job: Path, name: str | None, on: str, grace: float, as_json: bool) -> int:
    """Run the training job of JOB and follow its log.

    Ctrl-C stops the job cleanly, so that it keeps its model; a second Ctrl-C kills it. Exit codes: 0
    completed, 1 failed, 2 the request is wrong, 3 stopped.

    \b
    Examples:
      bandstand train job.toml
      bandstand train request.json --name second-try --grace 10
    """
    from bandstand.cli.launch import conclude, load_plan, named, open_backend, watch
    from bandstand.cli.output import page, tell
    from bandstand.errors import InputError
    from bandstand.report import training_text
    from bandstand.request.plan import TrainingPlan
    from bandstand.runs.live import train
    from bandstand.runs.record import Record

    plan = load_plan(job, name=name)
    if not isinstance(plan, TrainingPlan):
        raise InputError(f"{job} is a tuning job. Run it with: bandstand tune {job}")
    for note in plan.notes:
        tell(f"note: {note}")
    with Record.open(place().folder) as record:
        chosen = named(plan, record, limit=NAME_LENGTH, given=name is not None)
        backend = open_backend(on)
        try:
            outcome = watch(
                lambda observer, stop: train(chosen, record, backend, observer, stop, grace=grace),
                title=chosen.name,
                objective="",
                grace=grace,
            )
        finally:
            backend.close()

        def lines(document: Mapping[str, Any]) -> list[str]:
            return ["", *training_text(page(), document)]

        return conclude(outcome, record, lines, as_json=as_json)
