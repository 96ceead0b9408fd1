"""`bandstand report`: the results of a tuning job, best jobs first, with small curves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from bandstand.cli.pick import JobName, kind_option, pick
from bandstand.cli.place import home_option, json_option, place

if TYPE_CHECKING:
    from bandstand.runs.jobs import Kind


@click.command("report", short_help="Report a tuning job's results, best jobs first.")
@click.argument("job", metavar="[JOB]", required=False, type=JobName())
@kind_option
@click.option(
    "--what-if",
    "changes",
    metavar="TERM=VALUE",
    multiple=True,
    help="Simulate the tuning job under other terms, on what was recorded; may be given several times.",
)
@json_option
@home_option
def command(job: str | None, kind: Kind | None, changes: tuple[str, ...], as_json: bool) -> int:
    """Report the results of a job by its name; without JOB, of the newest one.

    For a tuning job: the best job and its hyperparameters, what early stopping saved, how jobs ended, and
    all jobs from best to worst, each with its objective by iteration as a small curve. With --json the
    curves are numbers.

    With --what-if it tells what a tuning job would have cost and found under other terms: min_resource,
    max_resource, parallel, jobs, strategy (hyperband or random), early_stopping (auto or off). Jobs that
    would have gone on beyond what they reported are named as unknown; nothing is made up.

    \b
    Examples:
      bandstand report
      bandstand report direct-marketing > report.txt
      bandstand report direct-marketing --json
      bandstand report direct-marketing --what-if max_resource=60
    """
    from bandstand.cli.output import page, put_json, put_lines
    from bandstand.report import report_document, report_text, training_text, what_if_text
    from bandstand.runs.record import Record
    from bandstand.runs.views import show
    from bandstand.runs.what_if import what_if

    with Record.open_to_read(place().folder) as record:
        name, kind = pick(record, job, kind)
        document = show(record, name, kind)
        if changes:
            comparison = what_if(record, name, changes, kind=kind)
            if as_json:
                put_json(comparison)
            else:
                put_lines(what_if_text(page(), comparison))
            return 0
        if kind == "training":
            if as_json:
                put_json(document)
            else:
                put_lines(training_text(page(), document))
            return 0
        names = [row["name"] for row in document["training_jobs"]]
        points = {each: show(record, each, "training")["metrics"] for each in names}
        if as_json:
            put_json(report_document(document, points))
        else:
            put_lines(report_text(page(), document, points))
    return 0
