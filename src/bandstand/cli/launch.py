"""What `train` and `tune` share: from a job file to a run that is watched to its end."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from bandstand.cli.output import put_json, put_lines, tell
from bandstand.cli.patient import PatientStream
from bandstand.cli.place import place
from bandstand.errors import InputError
from bandstand.hyperparameters import nearest

if TYPE_CHECKING:
    from bandstand.backends.backend import Backend
    from bandstand.cli.lines import LineView
    from bandstand.cli.live import LiveView
    from bandstand.request.plan import Plan, TrainingPlan, TuningPlan
    from bandstand.runs.record import Record
    from bandstand.runs.snapshot import Outcome, StopFlag

Function = TypeVar("Function", bound=Callable[..., Any])
AnyPlan = TypeVar("AnyPlan", "TrainingPlan", "TuningPlan")

EXIT_CODES = {"Completed": 0, "Failed": 1, "Stopped": 3}
GRACE = 120.0


def on_option(function: Function) -> Function:
    """Add `--on` to a verb: where jobs run."""
    return click.option(
        "--on",
        type=click.Choice(["processes"]),
        default="processes",
        show_default=True,
        help="Where hosts run: as processes of this machine.",
    )(function)


def grace_option(function: Function) -> Function:
    """Add `--grace` to a verb: how long a stopped job may take to save its model."""
    return click.option(
        "--grace",
        type=click.FloatRange(min=0),
        default=GRACE,
        show_default=True,
        metavar="SECONDS",
        help="Time between asking a job to stop and killing it.",
    )(function)


def load_plan(job: Path, *, name: str | None = None, **changes: int | None) -> Plan:
    """Read and check a job file or a document of the API.

    Args:
        job: The file.
        name: Another name than the file's, or None.
        changes: Numbers that take the place of the file's; None leaves what the file says.

    Raises:
        InputError: There is no such file; the message names the nearest one.
        PlanError: The request breaks rules; it holds every problem.
    """
    from bandstand.request import load

    if not job.is_file():
        raise InputError(_no_file(job))
    return load(job, name=name, **{key: value for key, value in changes.items() if value is not None})


def _no_file(job: Path) -> str:
    if job.is_dir():
        return f"{job} is a folder; expected a job file in it, such as {job / 'job.toml'}."
    folder = job.parent
    files = (
        [path.name for path in folder.iterdir() if path.suffix in (".toml", ".json")]
        if folder.is_dir()
        else []
    )
    near = nearest(job.name, files)
    if near:
        return f"There is no file {job}. Did you mean {folder / near}?"
    if files:
        return f"There is no file {job}. In that folder there are: {', '.join(sorted(files)[:10])}."
    return f"There is no file {job}; expected a job file (TOML) or a request (JSON)."


def open_backend(on: str) -> Backend:
    """Give the backend of a name that `--on` allows."""
    del on
    from bandstand.backends.processes import ProcessBackend

    return ProcessBackend()


def named(plan: AnyPlan, record: Record, *, limit: int, given: bool) -> AnyPlan:
    """Give a plan a name that nobody has yet, unless the user insists on one.

    Args:
        plan: The plan.
        record: Knows the names that are taken.
        limit: The greatest length of a name, in characters.
        given: Whether the user insists on the plan's name, by `--name`. A document's name is never changed.
    """
    if given or plan.exact:
        return plan
    free = record.free_name(plan.name, limit)
    if free == plan.name:
        return plan
    tell(f"note: the name {plan.name} is taken; this one is {free}")
    return plan.renamed(free)


def view(stream: PatientStream, title: str, objective: str) -> LineView | LiveView:
    """Give what shows a run on this stream: a live table on a terminal, plain lines elsewhere.

    Args:
        stream: Where the run is shown.
        title: What stands above the table.
        objective: The objective metric's name; empty where there is none.
    """
    if stream.isatty() and os.environ.get("TERM") not in (None, "", "dumb", "unknown"):
        from bandstand.cli.live import LiveView

        return LiveView(stream, title, objective)
    from bandstand.cli.lines import LineView

    return LineView(stream)


def watch(
    run: Callable[[LineView | LiveView, StopFlag], Outcome],
    *,
    title: str,
    objective: str,
    grace: float,
) -> Outcome:
    """Run something to its end, show how it goes, and turn signals into stop requests.

    Args:
        run: The run; called with who watches it and what asks it to stop.
        title: What stands above the table.
        objective: The objective metric's name; empty where there is none.
        grace: Seconds that each job has to end by itself once it is asked to.
    """
    from bandstand.cli.signals import stop_on_signals
    from bandstand.runs.snapshot import StopFlag

    stop = StopFlag()
    # With --json standard output holds the facts and nothing else.
    stream = PatientStream(sys.stderr if place().json else sys.stdout)
    with view(stream, title, objective) as shown, stop_on_signals(stop, shown.said, grace=grace):
        return run(shown, stop)


def conclude(
    outcome: Outcome, record: Record, lines: Callable[[Mapping[str, Any]], Sequence[str]], *, as_json: bool
) -> int:
    """Tell how a run ended.

    Args:
        outcome: How it ended.
        record: Where its facts are.
        lines: Lays the job's facts out as text.
        as_json: Whether the facts are printed as JSON.

    Returns:
        The exit code.
    """
    from bandstand.runs.views import show

    document = show(record, outcome.name)
    try:
        if as_json:
            put_json(document)
        else:
            put_lines(lines(document))
        sys.stdout.flush()
        if outcome.failure_reason:
            tell(f"{outcome.name} failed: {outcome.failure_reason}")
    except OSError:
        # Nobody reads any more (`| head`, a closed window); how the job ended is told by the exit code.
        pass
    return EXIT_CODES[outcome.status]
