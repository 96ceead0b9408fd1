"""What a supervisor is told to do: a training plan made ready for this machine."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, cast

from bandstand.backends.container_task import ContainerTask

if TYPE_CHECKING:
    from bandstand.request.plan import TrainingPlan

Pairs = tuple[tuple[str, str], ...]

MOST_HOSTS = 100
"""Hosts of one job on one machine: each is several processes and files of its supervisor."""


@dataclass(frozen=True)
class ChannelTask:
    """One channel, found on this machine.

    Args:
        name: The channel's name.
        place: Absolute path of the folder, file or manifest; or `s3://` and what it is in `buckets`.
        content_type: As requested, or None.
        distribution: Whether each host sees every file or its own share.
        input_mode: `File` or `FastFile`.
        record_wrapper: `None` (the word) or `RecordIO`.
        is_manifest: Whether a manifest at the place lists the files.
        buckets: The folder with the buckets of this machine's S3, or None.
    """

    name: str
    place: str
    content_type: str | None
    distribution: Literal["FullyReplicated", "ShardedByS3Key"]
    input_mode: str
    record_wrapper: str
    is_manifest: bool = False
    buckets: str | None = None


@dataclass(frozen=True)
class Task:
    """All that a supervisor needs, as plain text and numbers, so that it starts without the request's rooms.

    Args:
        name: The training job's name.
        arn: What `TRAINING_JOB_ARN` says inside the hosts.
        hosts: Host names, the leader first.
        instance_type: As requested.
        hyperparameters: Names and texts.
        channels: The channels.
        code: Absolute path of the folder that `/opt/ml/code` shows, or None for an empty one.
        output: Absolute path of the folder below which `<job>/output/model.tar.gz` is put.
        checkpoints: Absolute path of the checkpoints' folder, or None for one of the job's own.
        environment: The request's variables for the hosts.
        max_runtime: Seconds from Downloading on after which the job is stopped, or None.
        threads: Threads per rank, unless the request's environment says otherwise.
        command: What is run as process 1 of each host.
        grace: Seconds between SIGTERM and SIGKILL when `max_runtime` is over.
        lease_seconds: Seconds without renewal after which the job has lost its owner.
        lease_grace: Seconds between SIGTERM and SIGKILL then.
        peer_grace: Seconds between SIGTERM and SIGKILL for the other hosts when one has failed.
        spent: Seconds of `max_runtime` that earlier attempts have used.
        max_wait: Seconds from when the job was handed in after which it is stopped, or None.
        capacity: When there is capacity for the hosts, in epoch seconds; what is past delays nothing.
        container: How the hosts are made containers, or None where they are processes.
    """

    name: str
    arn: str
    hosts: tuple[str, ...]
    instance_type: str
    hyperparameters: Pairs
    channels: tuple[ChannelTask, ...]
    code: str | None
    output: str
    checkpoints: str | None
    environment: Pairs
    max_runtime: int | None
    threads: int
    command: tuple[str, ...]
    grace: float = 120.0
    lease_seconds: float = 10.0
    lease_grace: float = 5.0
    peer_grace: float = 5.0
    spent: float = 0.0
    max_wait: int | None = None
    capacity: float = 0.0
    container: ContainerTask | None = None

    def to_json(self) -> str:
        """Return the task as text for `from_json`."""
        return json.dumps(asdict(self), ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Task:
        """Return the task that `to_json` wrote down."""
        values: dict[str, Any] = json.loads(text)
        values["channels"] = tuple(ChannelTask(**channel) for channel in values["channels"])
        for key in ("hyperparameters", "environment"):
            values[key] = tuple((name, value) for name, value in values[key])
        values["hosts"] = tuple(values["hosts"])
        values["command"] = tuple(values["command"])
        if values.get("container") is not None:
            values["container"] = ContainerTask.from_values(values["container"])
        return cls(**values)


def task_from_plan(
    plan: TrainingPlan, *, threads: int, command: tuple[str, ...], timing: Mapping[str, float]
) -> Task:
    """Find what a plan names on this machine.

    Args:
        plan: The training job.
        threads: Threads per rank.
        command: What is run as process 1 of each host.
        timing: Some of `grace`, `lease_seconds`, `lease_grace`, `peer_grace`, `spent` and `capacity`.

    Raises:
        PlatformError: The plan names something that is not on this machine, or has more hosts than it can
            hold.
    """
    from bandstand.errors import PlatformError

    if plan.hosts > MOST_HOSTS:
        raise PlatformError(
            f"{plan.name} asks for {plan.hosts} hosts; one machine can be at most {MOST_HOSTS} hosts. "
            "Ask for fewer hosts, or run it on SageMaker."
        )
    checkpoints = plan.checkpoint_path
    return Task(
        name=plan.name,
        arn=_arn(plan),
        hosts=tuple(f"algo-{number}" for number in range(1, plan.hosts + 1)),
        instance_type=plan.instance_type,
        hyperparameters=plan.hyperparameters,
        channels=tuple(
            ChannelTask(
                name=channel.name,
                place=channel.place,
                content_type=channel.content_type,
                distribution=channel.distribution,
                input_mode=channel.input_mode,
                record_wrapper=channel.record_wrapper,
                is_manifest=channel.data_type == "ManifestFile",
                buckets=channel.buckets,
            )
            for channel in plan.channels
        ),
        code=code_folder(dict(plan.hyperparameters)),
        output=str(plan.output_path),
        checkpoints=None if checkpoints is None else str(checkpoints),
        environment=plan.environment,
        max_runtime=plan.max_runtime,
        max_wait=plan.max_wait,
        threads=threads,
        command=command,
        **cast("Any", dict(timing)),
    )


def _arn(plan: TrainingPlan) -> str:
    """Return the name that SageMaker would give the job, with the role's account.

    The region is left `local`: no region is asked when a job runs here.
    """
    parts = plan.role.split(":")
    account = parts[4] if len(parts) > 5 and parts[4].isdecimal() else "000000000000"
    return f"arn:aws:sagemaker:local:{account}:training-job/{plan.name}"


def code_folder(hyperparameters: Mapping[str, str]) -> str | None:
    """The folder of this machine that a job's code lies in; None where it is none.

    Args:
        hyperparameters: Names and texts.
    """
    from urllib.parse import unquote

    from bandstand.hyperparameters import decode

    submitted = decode(hyperparameters.get("sagemaker_submit_directory", ""))
    if not isinstance(submitted, str) or not submitted.startswith("file:///"):
        return None
    path = unquote(submitted.removeprefix("file://"))
    return None if path.endswith((".tar.gz", ".tgz")) else path
