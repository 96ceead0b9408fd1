"""`bandstand show`: what became of a job, and why."""

from __future__ import annotations

import click

from bandstand.cli.place import home_option, json_option, place


@click.command("show", short_help="Show what became of a job, and why.")
@click.argument("job", metavar="[JOB]", required=False)
@json_option
@home_option
def command(job: str | None, as_json: bool) -> int:
    """Show a tuning job or a training job by its name; without JOB, the newest one.

    A tuning job comes with its best job, what early stopping saved, and a sentence for each stopped job:
    at which rung, in which place, against which cut-off. With --json there is every point of every metric.

    \b
    Examples:
      bandstand show
      bandstand show direct-marketing
      bandstand show direct-marketing-007-ab2e9b77 --json
    """
    from bandstand.cli.output import page, put_json, put_lines
    from bandstand.cli.pick import newest
    from bandstand.report import training_text, tuning_text
    from bandstand.runs.record import Record
    from bandstand.runs.views import show

    with Record.open(place().folder) as record:
        document = show(record, job or newest(record))
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
