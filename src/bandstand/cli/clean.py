"""`bandstand clean`: remove jobs that are over."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from bandstand.cli.pick import JobName, kind_option
from bandstand.cli.place import home_option, json_option, place

if TYPE_CHECKING:
    from bandstand.runs.jobs import Kind


@click.command("clean", short_help="Remove the records and folders of jobs that are over.")
@click.argument("jobs", metavar="[JOB]...", nargs=-1, type=JobName())
@kind_option
@click.option("--all", "all_ended", is_flag=True, help="All jobs that are over, and what crashed jobs left.")
@click.option("--dry-run", is_flag=True, help="Only say what would be removed.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@json_option
@home_option
def command(
    jobs: tuple[str, ...], kind: Kind | None, all_ended: bool, dry_run: bool, yes: bool, as_json: bool
) -> int:
    """Remove what jobs that are over left in the home: their records, logs and folders.

    A job that runs is never removed, and neither are the models and other files in a job's output folder.

    \b
    Examples:
      bandstand clean --all --dry-run
      bandstand clean direct-marketing direct-marketing-2 -y
    """
    from bandstand.cli.output import put_json, put_lines, tell
    from bandstand.runs.cleaning import clean
    from bandstand.runs.record import Record

    if not jobs and not all_ended:
        raise click.UsageError("Name the jobs to remove, or say --all.")
    if jobs and all_ended:
        raise click.UsageError("Name jobs or say --all, not both.")
    if kind and all_ended:
        raise click.UsageError("--kind is for jobs that are named; --all means both kinds.")
    with Record.open(place().folder) as record:
        found = clean(record, jobs, kind=kind, all_ended=all_ended, dry_run=True)
        if found and not dry_run:
            if not yes:
                for line in found:
                    tell(line)
                _ask(len(found))
            found = clean(record, jobs, kind=kind, all_ended=all_ended)
        if as_json:
            put_json({"removed": [] if dry_run else found, "would_remove": found if dry_run else []})
        elif found:
            put_lines(found)
        else:
            tell("There is nothing to remove.")
    return 0


def _ask(number: int) -> None:
    """Ask whether to go on; leave where the answer is no or nobody can answer."""
    if not sys.stdin.isatty():
        raise click.UsageError("Nobody is here to confirm this; say -y to remove without being asked.")
    click.confirm("Remove all this?" if number > 1 else "Remove it?", abort=True, err=True)
