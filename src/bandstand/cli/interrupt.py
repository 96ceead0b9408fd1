"""`bandstand interrupt`: take a spot job's hosts away, and see it go on."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from bandstand.cli.pick import JobName, kind_option
from bandstand.cli.place import home_option, json_option, place
from bandstand.cli.seconds import Seconds

if TYPE_CHECKING:
    from bandstand.runs.jobs import Kind

_LOOK_SECONDS = 0.2


@click.command("interrupt", short_help="Interrupt a running spot job, which then goes on.")
@click.argument("job", metavar="JOB", type=JobName())
@kind_option
@click.option(
    "--grace",
    type=Seconds(),
    default=120.0,
    show_default=True,
    metavar="SECONDS",
    help="Time between SIGTERM and SIGKILL; with 0 the hosts hear nothing before they are gone.",
)
@click.option(
    "--away",
    type=Seconds(),
    default=0.0,
    show_default=True,
    metavar="SECONDS",
    help="Time until there is capacity again; it counts against the longest wait.",
)
@click.option("--wait/--no-wait", default=True, show_default=True, help="Wait until the job starts again.")
@json_option
@home_option
def command(job: str, kind: Kind | None, grace: float, away: float, wait: bool, as_json: bool) -> int:
    """Interrupt a job that uses managed spot training, as SageMaker does when it needs the instances back.

    All hosts get SIGTERM, and SIGKILL after the grace time. The job is then started again under its own
    name, from what is in its checkpoint path; without CheckpointConfig, from nothing. The name of a tuning
    job stands for all of its training jobs that run.

    \b
    Examples:
      bandstand interrupt direct-marketing
      bandstand interrupt direct-marketing-007-ab2e9b77 --grace 0
      bandstand interrupt direct-marketing --away 600
    """
    from bandstand.backends.requests import Interruption
    from bandstand.cli.output import put_json, put_lines
    from bandstand.runs.interrupting import again, interrupt
    from bandstand.runs.record import Record

    with Record.open(place().folder) as record:
        found = interrupt(record, job, Interruption(grace, away), kind=kind)
        told = []
        for each in found:
            if not as_json:
                hosts = f"its hosts have {grace:g} s to end by themselves"
                none = f"it waits for capacity and has no hosts; the wait is {away:g} s from now on"
                put_lines([f"{each.name} is interrupted; {hosts if each.has_hosts else none}."])
            said = again(record, each) if wait else None
            while wait and said is None:
                time.sleep(_LOOK_SECONDS)
                said = again(record, each)
            if not as_json and said is not None:
                put_lines([f"{each.name}: {said}"])
            told.append({"name": each.name, "said": said})
        if as_json:
            put_json({"interrupted": told})
    return 0
