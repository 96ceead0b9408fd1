"""Taking a job into the record that runs on SageMaker already, whoever has begun it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from bandstand.backends.sagemaker.creating import look_up, request_of
from bandstand.backends.sagemaker.mirror import write_state
from bandstand.backends.sagemaker.region import Region
from bandstand.backends.sagemaker.service_file import Served, write_served
from bandstand.backends.sagemaker.standing import first_state, hosts_in
from bandstand.errors import InputError
from bandstand.metrics import MetricParser
from bandstand.request.abilities import SAGEMAKER
from bandstand.request.findings import Findings
from bandstand.request.plan import TrainingPlan, TuningPlan
from bandstand.request.planning import make_plan
from bandstand.request.service_model import TRAINING, TUNING
from bandstand.runs.jobs import Kind
from bandstand.runs.record import Record
from bandstand.runs.remote.starting import add, hosts_by_definition


def attach(record: Record, region: Region, name: str, kind: Kind) -> None:
    """Take a job into the record by its name.

    Args:
        record: The store.
        region: Where it runs, or has run.
        name: The job.
        kind: Whether it is a tuning job or a training job.

    Raises:
        InputError: The region has no such job of this kind, or the rights are missing.
        PlatformError: AWS cannot be reached.
    """
    tuning = kind == "tuning"
    found = look_up(region, name, tuning)
    plan = described_plan(found, tuning=tuning)
    created = found["CreationTime"].timestamp()
    hosts = hosts_by_definition(plan) if tuning else {"": hosts_in(found.get("ResourceConfig", {}))}
    arn = found["HyperParameterTuningJobArn" if tuning else "TrainingJobArn"]
    add(record, plan, created)
    folder, most = record.folder(plan.name, kind), max(hosts.values())
    served = Served(plan.name, kind, region.name, region.endpoint, most, arn=arn, hosts_by_definition=hosts)
    write_served(folder, served)
    if not tuning:
        write_state(folder, first_state(created, served.hosts))


def described_plan(found: Mapping[str, Any], *, tuning: bool) -> TrainingPlan | TuningPlan:
    """The plan of a job that Describe tells of; what the service has accepted is not checked again.

    Args:
        found: The answer of DescribeTrainingJob or DescribeHyperParameterTuningJob.
        tuning: Whether it is a tuning job.
    """
    plan = make_plan(
        TUNING if tuning else TRAINING, request_of(found, tuning), Findings(exact=True, on=SAGEMAKER)
    )
    if isinstance(plan, TuningPlan):
        readable = tuple(
            replace(each, training=_with_readable_metrics(each.training)) for each in plan.definitions
        )
        return replace(plan, definitions=readable)
    return _with_readable_metrics(plan)


def _with_readable_metrics(plan: TrainingPlan) -> TrainingPlan:
    """Keep the metrics whose patterns can be read here; SageMaker's may be of another kind."""
    return replace(plan, metrics=tuple(pair for pair in plan.metrics if _compiles(pair)))


def _compiles(pair: tuple[str, str]) -> bool:
    try:
        MetricParser([pair])
    except InputError:
        return False
    return True
