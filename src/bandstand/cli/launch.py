"""What `train` and `tune` share: a plan, or a job that was left, becomes a run that is watched to its end."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from bandstand.cli.output import put_json, put_lines, tell
from bandstand.cli.patient import PatientStream
from bandstand.cli.place import place
from bandstand.cli.signals import stop_on_signals
from bandstand.request.naming import TRAINING_NAME, TUNING_NAME
from bandstand.request.plan import TrainingPlan, TuningPlan
from bandstand.runs.jobs import TrainingJob, TuningJob, kind_of
from bandstand.runs.kinds import backend_of
from bandstand.runs.record import NameTakenError, Record
from bandstand.runs.snapshot import Observer, Outcome, StopFlag
from bandstand.runs.views import show

if TYPE_CHECKING:
    from bandstand.backends.backend import Backend
    from bandstand.cli.lines import LineView
    from bandstand.cli.live import LiveView

EXIT_CODES = {"Completed": 0, "Failed": 1, "Stopped": 3}

_FOR_SAGEMAKER = ("role: ", "image: ")
"""How notes begin that matter to SageMaker alone; `plan`, which prints the request, tells them."""

AnyPlan = TypeVar("AnyPlan", TrainingPlan, TuningPlan)
Plan = TypeVar("Plan", TrainingPlan, TuningPlan, contravariant=True)


class Run(Protocol[Plan]):
    """The live loop: `tune` or `train` of the run room."""

    def __call__(
        self,
        plan: Plan,
        record: Record,
        backend: Backend,
        observer: Observer,
        stop: StopFlag,
        *,
        grace: float,
    ) -> Outcome:
        """Run a plan to its end."""


class Resume(Protocol):
    """The live loop once more: `resume_tuning` or `resume_training` of the run room."""

    def __call__(
        self, name: str, record: Record, backend: Backend, observer: Observer, stop: StopFlag
    ) -> Outcome:
        """Run a job of the record to its end."""


def launch(
    plan: AnyPlan,
    run: Run[AnyPlan],
    *,
    insist: bool,
    on: str,
    grace: float,
    lines: Callable[[Mapping[str, Any]], Sequence[str]],
) -> int:
    """Run a plan to its end and tell how it ended.

    Args:
        plan: The plan.
        run: The live loop.
        insist: Whether the user insists on the plan's name; else a free one is found.
        on: Where jobs run.
        grace: Seconds that a job has to end by itself once it is asked to.
        lines: Lays the job's facts out as text.

    Returns:
        The exit code.

    Raises:
        InputError: The user insists on a name that is taken.
    """
    for note in plan.notes:
        if not note.startswith(_FOR_SAGEMAKER):
            tell(f"note: {note}")
    backend = backend_of(on)
    try:
        for job in [each.training for each in plan.definitions] if isinstance(plan, TuningPlan) else [plan]:
            backend.check(job)
        with Record.open(place().folder) as record:
            while True:
                chosen = plan if insist or plan.exact else _named(plan, record)
                start = partial(_start, chosen, run, record, backend, grace)
                try:
                    outcome = _watch(chosen, start, grace)
                except NameTakenError:
                    if insist or plan.exact:
                        raise
                    continue  # Another command took the same free name a moment before.
                conclude(show(record, outcome.name, kind_of(chosen)), lines)
                return EXIT_CODES[outcome.status]
    finally:
        backend.close()


def take_up(
    name: str,
    find: Callable[[Record, str], TuningJob | TrainingJob],
    run: Resume,
    *,
    lines: Callable[[Mapping[str, Any]], Sequence[str]],
) -> int:
    """Run a job to its end that a lost launcher has left, and tell how it ended.

    Args:
        name: The job.
        find: Gives it from the record.
        run: The live loop.
        lines: Lays the job's facts out as text.

    Returns:
        The exit code.

    Raises:
        InputError: It cannot be resumed.
    """
    with Record.open(place().folder) as record:
        job = find(record, name)
        with closing(backend_of(job.backend)) as backend:

            def go_on(observer: Observer, stop: StopFlag) -> Outcome:
                return run(job.name, record, backend, observer, stop)

            outcome = _watch(job.plan, go_on, job.grace)
            conclude(show(record, outcome.name, job.kind), lines)
            return EXIT_CODES[outcome.status]


def _named(plan: AnyPlan, record: Record) -> AnyPlan:
    """Give a plan a name that nobody has yet."""
    free = record.free_name(plan.name, TUNING_NAME if isinstance(plan, TuningPlan) else TRAINING_NAME)
    if free == plan.name:
        return plan
    tell(f"note: the name {plan.name} is taken; this one is {free}")
    return plan.renamed(free)


def _watch(
    plan: TrainingPlan | TuningPlan, run: Callable[[Observer, StopFlag], Outcome], grace: float
) -> Outcome:
    """Run something, show how it goes, and turn signals into stop requests."""
    stop = StopFlag()
    # With --json standard output holds the facts and nothing else.
    stream = PatientStream(sys.stderr if place().json else sys.stdout)
    objective = plan.objective if isinstance(plan, TuningPlan) else ""
    shown = view(stream, title(plan), objective)
    with stop_on_signals(stop, shown.said, grace=grace), shown:
        return run(shown, stop)


def _start(
    plan: AnyPlan,
    run: Run[AnyPlan],
    record: Record,
    backend: Backend,
    grace: float,
    observer: Observer,
    stop: StopFlag,
) -> Outcome:
    return run(plan, record, backend, observer, stop, grace=grace)


def title(plan: TrainingPlan | TuningPlan) -> str:
    """Say what a run is about, for the line above its table."""
    if isinstance(plan, TrainingPlan):
        return plan.name
    resource = f", resource {plan.resource}" if plan.max_resource else ""
    return f"{plan.name}: {plan.goal} {plan.objective}, {plan.strategy}{resource}"


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


def conclude(document: Mapping[str, Any], lines: Callable[[Mapping[str, Any]], Sequence[str]]) -> None:
    """Tell how a run ended, if anybody still reads; the exit code tells it in any case."""
    try:
        if place().json:
            put_json(document)
        else:
            put_lines(lines(document))
        sys.stdout.flush()
    except OSError:
        return
