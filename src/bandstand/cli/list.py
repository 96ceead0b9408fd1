"""`bandstand list`: all jobs, one line each."""

from __future__ import annotations

import click

from bandstand.cli.place import home_option, json_option, place


@click.command("list", short_help="List all jobs.")
@json_option
@home_option
def command(as_json: bool) -> int:
    """List tuning jobs, and training jobs that belong to none; the newest comes last.

    \b
    Examples:
      bandstand list
      bandstand list --json
    """
    from bandstand.cli.output import page, put_json, put_lines, tell
    from bandstand.report import listing_text
    from bandstand.runs.record import Record
    from bandstand.runs.views import jobs

    with Record.open_to_read(place().folder) as record:
        found = jobs(record)
        if as_json:
            put_json(found)
        elif found:
            put_lines(listing_text(page(), found))
        else:
            tell(f"There are no jobs in {record.home} yet. Start one with: bandstand tune job.toml")
    return 0
