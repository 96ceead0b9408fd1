"""`bandstand stop`: stop a job from any terminal."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from bandstand.cli.pick import JobName, kind_option, pick
from bandstand.cli.place import home_option, json_option, place
from bandstand.cli.seconds import Seconds

if TYPE_CHECKING:
    from bandstand.runs.jobs import Kind

_LOOK_SECONDS = 0.2
_OVER = ("Completed", "Failed", "Stopped")


@click.command("stop", short_help="Stop a running job.")
@click.argument("job", metavar="JOB", type=JobName())
@kind_option
@click.option(
    "--grace",
    type=Seconds(),
    metavar="SECONDS",
    help="Time between asking the job to stop and killing it.  [default: that of its launcher, else 120]",
)
@click.option("--wait/--no-wait", default=True, show_default=True, help="Wait until the job has stopped.")
@json_option
@home_option
def command(job: str, kind: Kind | None, grace: float | None, wait: bool, as_json: bool) -> int:
    """Stop a tuning job or a training job by its name, and wait until it has stopped.

    Every rank gets SIGTERM, leaves after the same iteration and saves its model; what still runs after
    the grace time is killed. A job that has ended already is left as it is.

    \b
    Examples:
      bandstand stop direct-marketing
      bandstand stop direct-marketing-007-ab2e9b77 --grace 10
    """
    from bandstand.cli.output import put_json, put_lines, tell
    from bandstand.runs.record import Record
    from bandstand.runs.stopping import request_stop
    from bandstand.runs.views import show

    with Record.open(place().folder) as record:
        name, kind = pick(record, job, kind)
        done = request_stop(record, name, grace, kind=kind)
        if as_json:
            tell(done)
        else:
            put_lines([done])
        document = show(record, name, kind)
        while wait and document["status"] not in _OVER:
            time.sleep(_LOOK_SECONDS)
            document = show(record, name, kind)
        if as_json:
            put_json({"name": document["name"], "status": document["status"], "said": done})
        elif wait:
            put_lines([f"{document['name']}: {document['status']}"])
    return 0
