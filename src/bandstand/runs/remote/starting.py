"""Handing a job in to SageMaker: into the record first, so that it can't be lost on the way."""

from __future__ import annotations

import json
import time
from dataclasses import replace

from bandstand.backends.sagemaker.creating import create
from bandstand.backends.sagemaker.mirror import write_state
from bandstand.backends.sagemaker.placing import Placement
from bandstand.backends.sagemaker.region import Region
from bandstand.backends.sagemaker.service_file import Served, read_served, write_served
from bandstand.backends.sagemaker.standing import first_state
from bandstand.errors import InputError
from bandstand.request.plan import TrainingPlan, TuningPlan
from bandstand.runs.cleaning import remove_folder
from bandstand.runs.finding import find
from bandstand.runs.jobs import Kind, TrainingJob, TuningJob, kind_of
from bandstand.runs.kinds import SAGEMAKER
from bandstand.runs.record import Record
from bandstand.runs.remote.owner import NOBODY
from bandstand.runs.stored import add_training_job, add_tuning_job, remove

GRACE_SECONDS = 120.0
"""Time between SIGTERM and SIGKILL, as SageMaker gives it (StopTrainingJob)."""


def start(record: Record, region: Region, placement: Placement) -> str:
    """Write a job into the record and hand it in, once.

    Args:
        record: The store.
        region: The region.
        placement: The plan; what it needs has been uploaded.

    Returns:
        The job's name.

    Raises:
        NameTakenError: The record has another job of this kind and name.
        JobExistsError: The region has; the record is as it was.
        InputError: SageMaker refuses the request; the record is as it was.
        PlatformError: AWS cannot be reached. Whether it has the job is not known; `resume` finds out.
    """
    plan = placement.plan
    add(record, plan, time.time())
    kind = kind_of(plan)
    hosts = hosts_by_definition(plan)
    served = Served(
        plan.name,
        kind,
        region.name,
        region.endpoint,
        max(hosts.values()),
        submitted=time.time(),
        fetch=None if placement.fetch is None else str(placement.fetch),
        hosts_by_definition=hosts,
    )
    write_served(record.folder(plan.name, kind), served)
    try:
        hand_in(record, plan.name, kind)
    except InputError:
        forget(record, plan.name, kind)
        raise
    return plan.name


def hosts_by_definition(plan: TrainingPlan | TuningPlan) -> dict[str, int]:
    """How many hosts each training job has, by the name of its definition; empty where there is none."""
    if isinstance(plan, TrainingPlan):
        return {"": plan.hosts}
    return {each.name: each.training.hosts for each in plan.definitions}


def hand_in(record: Record, name: str, kind: Kind) -> None:
    """Hand a job of the record in that was never acknowledged; one that was is left as it is.

    Raises:
        InputError: SageMaker refuses it.
        PlatformError: AWS cannot be reached.
    """
    folder = record.folder(name, kind)
    served = read_served(folder)
    if served is None:
        raise InputError(f"The folder of {name} is gone: {folder}. Nothing is known of where it runs.")
    if served.arn is None:
        document = find(record, name, kind).plan.document
        arn = create(served.there(), json.loads(document), since=served.submitted)
        write_served(folder, replace(served, arn=arn))
    if kind == "training" and not (folder / "state.json").exists():
        write_state(folder, first_state(served.submitted or time.time(), served.hosts))


def add(record: Record, plan: TrainingPlan | TuningPlan, created: float) -> None:
    """Write a job that runs on SageMaker into the record.

    Raises:
        NameTakenError: The record has another job of this kind and name.
    """
    with record.transaction() as connection:
        if isinstance(plan, TuningPlan):
            seed = plan.seed or 0
            job = TuningJob(plan.name, NOBODY, plan, seed, GRACE_SECONDS, created, backend=SAGEMAKER)
            add_tuning_job(connection, job)
            return
        add_training_job(
            connection,
            TrainingJob(
                name=plan.name,
                tuning_job=None,
                number=1,
                owner=NOBODY,
                backend=SAGEMAKER,
                folder=record.folder(plan.name),
                plan=plan,
                settings={},
                grace=GRACE_SECONDS,
                created=created,
            ),
        )


def forget(record: Record, name: str, kind: Kind) -> None:
    """Take a job out of the record that SageMaker does not have."""
    with record.transaction() as connection:
        remove(connection, name, kind)
    remove_folder(record.folder(name, kind))
