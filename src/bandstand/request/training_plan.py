"""The plan of one training job: frozen, printable and hashable."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal
from urllib.parse import unquote

from bandstand.channels.objects import SCHEME
from bandstand.errors import PlatformError
from bandstand.host_variables import RANKS_PER_HOST, THREADS

Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class ChannelPlan:
    """One input channel of a training job.

    Args:
        name: The channel's name, the folder below `/opt/ml/input/data`.
        uri: Where the data is: `file://` and an absolute path (folder or file), or `s3://`.
        content_type: What `inputdataconfig.json` says the data is, or None.
        distribution: `FullyReplicated` (every host all files) or `ShardedByS3Key` (each host its share).
        input_mode: `File` or `FastFile`; on one machine both are read-only files.
        record_wrapper: `None` or `RecordIO`, as `inputdataconfig.json` says it.
        data_type: `S3Prefix`, or `ManifestFile` where the URI is that of a list of files.
        buckets: The folder with the buckets of this machine's S3, where `s3://` is of it; else None.
    """

    name: str
    uri: str
    content_type: str | None = None
    distribution: Literal["FullyReplicated", "ShardedByS3Key"] = "FullyReplicated"
    input_mode: str = "File"
    record_wrapper: str = "None"
    data_type: str = "S3Prefix"
    buckets: str | None = None

    @property
    def path(self) -> Path:
        """The folder or file on this machine; PlatformError where the URI is none."""
        return local_path(self.uri)

    @property
    def place(self) -> str:
        """The path on this machine, or the URI where it is of this machine's S3; else PlatformError."""
        in_buckets = self.buckets is not None and self.uri.startswith(SCHEME)
        return self.uri if in_buckets else str(self.path)


@dataclass(frozen=True)
class TrainingPlan:
    """One training job, ready to be submitted to a backend.

    Args:
        name: The training job's name; in a definition the tuning job's.
        image: The training image.
        hosts: How many hosts.
        instance_type: What each host is on SageMaker.
        volume_gb: Disk per host on SageMaker, in GB.
        role: The ARN of the role that SageMaker takes on.
        hyperparameters: Names and texts, in the order of the request.
        channels: The input channels, in the order of the request.
        output: URI below which `<job>/output/model.tar.gz` is put.
        checkpoints: URI of the checkpoints' folder, or None.
        environment: Variables for the hosts.
        max_runtime: Seconds after which the job is stopped, or None.
        metrics: Names and patterns of the metrics.
        tags: Keys and values.
        document: The CreateTrainingJob request, as JSON.
        notes: What was repaired, filled in, or is accepted without effect here; one sentence each.
        exact: Whether the request was a document of the API, which is passed on unchanged or refused.
        spot: Whether its hosts may be interrupted (managed spot training).
        max_wait: Seconds within which it has to be over, with waiting and interruptions, or None.
        retries: How often it is begun again after a fault of the platform (RetryStrategy).
    """

    name: str
    image: str
    hosts: int
    instance_type: str
    volume_gb: int
    role: str
    hyperparameters: Pairs
    channels: tuple[ChannelPlan, ...]
    output: str
    checkpoints: str | None
    environment: Pairs
    max_runtime: int | None
    metrics: Pairs
    tags: Pairs
    document: str
    notes: tuple[str, ...] = ()
    exact: bool = False
    spot: bool = False
    max_wait: int | None = None
    retries: int = 0

    @property
    def ranks_per_host(self) -> int | None:
        """Processes per host, or None for automatic: the environment's `BANDSTAND_RANKS_PER_HOST`."""
        return _number(self.environment, RANKS_PER_HOST.name)

    @property
    def threads(self) -> int | None:
        """Threads per rank, or None for automatic: the environment's `BANDSTAND_THREADS`."""
        return _number(self.environment, THREADS.name)

    @property
    def output_path(self) -> Path:
        """The output's folder on this machine; PlatformError where the URI is none."""
        return local_path(self.output)

    @property
    def checkpoint_path(self) -> Path | None:
        """The checkpoints' folder on this machine, or None; PlatformError where the URI is none."""
        return None if self.checkpoints is None else local_path(self.checkpoints)

    def renamed(self, name: str) -> TrainingPlan:
        """Return the same job under another name, in its document too."""
        return replace(self, name=name, document=with_members(self.document, TrainingJobName=name))

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as JSON-ready data, for `from_dict`."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> TrainingPlan:
        """Return the plan that `to_dict` wrote down; also after a trip through JSON."""
        known = {field.name for field in fields(cls)}
        values = {key: value for key, value in data.items() if key in known}
        values["channels"] = tuple(ChannelPlan(**channel) for channel in data["channels"])
        for key in ("hyperparameters", "environment", "metrics", "tags"):
            values[key] = tuple((name, value) for name, value in data[key])
        values["notes"] = tuple(data.get("notes", ()))
        return cls(**values)


def local_path(uri: str) -> Path:
    """Return the path that a `file://` URI names, percent codes decoded.

    Args:
        uri: `file://` and an absolute path.

    Raises:
        PlatformError: The URI is of another kind, which this machine cannot reach.
    """
    if not uri.startswith("file:///"):
        raise PlatformError(
            f"{uri} is not on this machine; expected file:// and an absolute path. "
            "Copy what it holds to this machine and name the copy."
        )
    return Path(unquote(uri.removeprefix("file://")))


def _number(environment: Pairs, name: str) -> int | None:
    text = dict(environment).get(name)
    return None if text is None else int(text)


def with_members(document: str, **members: Any) -> str:
    """Return a request, as JSON text, with some of its members changed."""
    return written(json.loads(document) | members)


def written(document: Mapping[str, Any]) -> str:
    """Return a request as JSON text, in the order of its members."""
    return json.dumps(document, indent=2, ensure_ascii=False)
