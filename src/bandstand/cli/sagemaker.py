"""`--on sagemaker`: a plan is checked, uploaded, handed in and watched; Ctrl-C leaves the job running."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from bandstand.cli.launch import EXIT_CODES, conclude, title, view
from bandstand.cli.output import tell
from bandstand.cli.patient import PatientStream
from bandstand.cli.place import place
from bandstand.cli.signals import leave_on_signals
from bandstand.errors import InputError, PlatformError
from bandstand.report.quantities import count, duration
from bandstand.request.naming import TRAINING_NAME, TUNING_NAME
from bandstand.request.plan import TrainingPlan, TuningPlan
from bandstand.request.training_rules import ONE_DAY
from bandstand.runs.finding import find, words_for
from bandstand.runs.jobs import Kind, kind_of
from bandstand.runs.kinds import SAGEMAKER
from bandstand.runs.record import NameTakenError, Record
from bandstand.runs.snapshot import StopFlag
from bandstand.runs.views import show

if TYPE_CHECKING:
    from bandstand.backends.sagemaker.placing import Placement
    from bandstand.backends.sagemaker.region import Region

Lines = Callable[[Mapping[str, Any]], Sequence[str]]

LEFT = 130
"""Exit code of a command that Ctrl-C has ended while the job goes on, as of any other command."""


def placed(plan: TrainingPlan | TuningPlan, bucket: str | None) -> Placement:
    """Give a plan the addresses that SageMaker gets; uploads nothing.

    Args:
        plan: The plan of a job file or a document.
        bucket: What `--bucket` says, or None.

    Raises:
        InputError: No region or no credentials, where the bucket depends on them; or files cannot be read.
    """
    from bandstand.backends.sagemaker.placing import place as give_addresses
    from bandstand.backends.sagemaker.readiness import root_of
    from bandstand.backends.sagemaker.region import here

    return give_addresses(plan, root_of(here(), plan, bucket))


def launch_there(plan: TrainingPlan | TuningPlan, *, insist: bool, bucket: str | None, lines: Lines) -> int:
    """Run a plan on SageMaker and tell how it ended.

    Args:
        plan: The plan.
        insist: Whether the user insists on its name; else a free one is found.
        bucket: What `--bucket` says, or None.
        lines: Lays the job's facts out as text.

    Returns:
        The exit code.

    Raises:
        InputError: Region, credentials, role, rights, bucket or request are wrong; nothing has been uploaded.
    """
    from bandstand.backends.sagemaker.readiness import check, root_of
    from bandstand.backends.sagemaker.region import here

    for note in plan.notes:
        tell(f"note: {note}")
    tell(f"note: {cost(plan)}")
    region = here()
    _check_home(region)
    root = root_of(region, plan, bucket)
    for note in check(region, plan, root):
        tell(f"note: {note}")
    with Record.open(place().folder) as record:
        name = _start(plan, record, region, root, insist=insist or plan.exact)
        return watch_there(name, kind_of(plan), record, lines)


def attach_there(name: str, kind: Kind, record: Record, lines: Lines) -> int:
    """Go on watching a job that runs on SageMaker, whoever has begun it.

    Args:
        name: The job; one that the record does not know is looked for in the region.
        kind: Whether it is a tuning job or a training job.
        record: The store.
        lines: Lays the job's facts out as text.

    Returns:
        The exit code.

    Raises:
        InputError: There is no such job, or region, credentials or rights are wrong.
    """
    from bandstand.backends.sagemaker.region import here
    from bandstand.runs.remote.attaching import attach
    from bandstand.runs.remote.starting import hand_in

    there = runs_there(record, name, kind)
    if there is False:
        verb = "tune" if kind == "tuning" else "train"
        shown, go_on = (f"show {words_for(record, name, kind)}", f"{verb} --resume {name}")
        raise InputError(
            f"{name} is a {kind} job of this machine, and not on SageMaker. Look at it with:"
            f" {place().advice(shown)}; if its launcher is lost, go on with: {place().advice(go_on)}"
        )
    if there:
        hand_in(record, name, kind)
    else:
        region = here()
        _check_home(region)
        attach(record, region, name, kind)
    return watch_there(name, kind, record, lines)


def runs_there(record: Record, name: str, kind: Kind) -> bool | None:
    """Whether a job of the record runs on SageMaker; None where the record has no such job."""
    try:
        return find(record, name, kind).backend == SAGEMAKER
    except InputError:
        return None


def watch_there(name: str, kind: Kind, record: Record, lines: Lines) -> int:
    """Watch a job of the record that runs on SageMaker, and tell how it ended.

    Returns:
        The exit code; 130 where Ctrl-C came first.
    """
    from bandstand.runs.remote.watching import LEFT as GOES_ON
    from bandstand.runs.remote.watching import watch

    plan = find(record, name, kind).plan
    objective = plan.objective if isinstance(plan, TuningPlan) else ""
    stop = StopFlag()
    # With --json standard output holds the facts and nothing else.
    stream = PatientStream(sys.stderr if place().json else sys.stdout)
    shown = view(stream, title(plan), objective)
    with leave_on_signals(stop), shown:
        outcome = watch(name, kind, record, shown, stop)
    if outcome.status == GOES_ON:
        verb = "tune" if kind == "tuning" else "train"
        tell(f"{name} goes on, on SageMaker, and costs money until it ends.")
        tell(f"  watch it again: {place().advice(f'{verb} --resume {name}')}")
        tell(f"  stop it:        {place().advice(f'stop {words_for(record, name, kind)}')}")
        return LEFT
    conclude(show(record, name, kind), lines)
    return EXIT_CODES[outcome.status]


def _check_home(region: Region) -> None:
    """Refuse a service of this machine that has the very same home, where each job would be there twice."""
    from bandstand.service.home_lock import serves

    address = urlsplit(region.endpoint or "")
    if region.is_near and address.port is not None and serves(place().folder, address.port):
        raise InputError(
            f"The service at {region.endpoint} keeps its jobs in the same home, {place().folder}; what is"
            " sent to it as to SageMaker needs another one. Name a folder here with --home or BANDSTAND_HOME."
        )


def cost(plan: TrainingPlan | TuningPlan) -> str:
    """Say what a job may cost at most, in hours of instances."""
    if isinstance(plan, TrainingPlan):
        return f"cost: {_instances(plan)}: {_hours(_most(plan))} at most."
    kinds = [each.training for each in plan.definitions]
    each = " or ".join(dict.fromkeys(f"{_instances(kind)} each" for kind in kinds))
    if not plan.jobs:
        return f"cost: training jobs on {each}; AMT chooses how many."
    total = _hours(plan.jobs * max(map(_most, kinds)))
    return f"cost: {count(plan.jobs, 'training job')} on {each}: {total} at most."


def _instances(job: TrainingPlan) -> str:
    kind = job.instance_type or "a type that AWS chooses"
    return f"{count(job.hosts, 'instance')} of {kind} for at most {duration(job.max_runtime or ONE_DAY)}"


def _most(job: TrainingPlan) -> float:
    """Seconds of instances that a training job may take."""
    return job.hosts * (job.max_runtime or ONE_DAY)


def _hours(seconds: float) -> str:
    return f"{seconds / 3600:,.1f} instance-hours"


def _start(
    plan: TrainingPlan | TuningPlan, record: Record, region: Region, root: str, *, insist: bool
) -> str:
    from bandstand.backends.sagemaker.creating import JobExistsError
    from bandstand.backends.sagemaker.placing import place as give_addresses
    from bandstand.backends.sagemaker.uploading import upload
    from bandstand.runs.remote.starting import start

    limit = TUNING_NAME if isinstance(plan, TuningPlan) else TRAINING_NAME
    taken: set[str] = set()
    while True:
        name = plan.name if insist else record.free_name(plan.name, limit, taken)
        placement = give_addresses(plan if name == plan.name else plan.renamed(name), root)
        if not taken:
            for note in placement.notes:
                tell(f"note: {note}")
            upload(region, placement.uploads, tell)
        try:
            started = start(record, region, placement)
        except (NameTakenError, JobExistsError):
            if insist:
                raise
            taken.add(name)
            continue
        except PlatformError as error:
            verb = "tune" if isinstance(plan, TuningPlan) else "train"
            advice = place().advice(f"{verb} --resume {name}")
            raise PlatformError(
                f"{error} Whether {name} was begun is not known; this finds out: {advice}"
            ) from None
        if started != plan.name:
            tell(f"note: the name {plan.name} is taken; this one is {started}")
        return started
