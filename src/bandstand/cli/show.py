"""`bandstand show`: what became of a job, and why."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from bandstand.cli.pick import JobName, kind_option, pick
from bandstand.cli.place import Folder, home_option, json_option, place

if TYPE_CHECKING:
    from bandstand.runs.jobs import Kind


@click.command("show", short_help="Show what became of a job, and why.")
@click.argument("job", metavar="[JOB]", required=False, type=JobName())
@kind_option
@click.option(
    "--fetch",
    type=Folder(),
    metavar="DIR",
    help="Also fetch the model, or the best training job's, from S3 to DIR/NAME/output/model.tar.gz.",
)
@json_option
@home_option
def command(job: str | None, kind: Kind | None, fetch: Path | None, as_json: bool) -> int:
    """Show a tuning job or a training job by its name; without JOB, the newest one.

    A tuning job comes with its best job, what early stopping saved, and a sentence for each stopped job:
    at which rung, in which place, against which cut-off. With --json there is every point of every metric.

    \b
    Examples:
      bandstand show
      bandstand show direct-marketing
      bandstand show direct-marketing-007-ab2e9b77 --json
      bandstand show direct-marketing --fetch models
    """
    from bandstand.cli.output import page, put_json, put_lines, tell
    from bandstand.report import training_text, tuning_text
    from bandstand.runs.finding import find
    from bandstand.runs.record import Record
    from bandstand.runs.remote.bringing_home import fetch_best
    from bandstand.runs.views import show

    with Record.open_to_read(place().folder) as record:
        name, kind = pick(record, job, kind)
        document = show(record, name, kind)
        if fetch is not None:
            fetch_best(record, find(record, name, kind), fetch, tell)
            document = show(record, name, kind)
        if as_json:
            put_json(document)
        elif document["kind"] == "tuning":
            put_lines(tuning_text(page(), document))
        else:
            put_lines(training_text(page(), document))
        if document["resumable"] and not as_json:
            verb = "tune" if document["kind"] == "tuning" else "train"
            put_lines(["", f"Go on: {place().advice(f'{verb} --resume ' + document['name'])}"])
    return 0
