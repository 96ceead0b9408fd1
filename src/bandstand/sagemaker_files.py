"""The file contract of a SageMaker training container, both directions: what is laid out, what is read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

from bandstand.atomic_files import write_atomically
from bandstand.errors import InputError, PlatformError
from bandstand.hyperparameters import encode

__all__ = [
    "BASE",
    "MAX_FAILURE",
    "Channel",
    "Cluster",
    "Folders",
    "fit_failure",
    "host_order",
    "read_channels",
    "read_cluster",
    "read_hyperparameters",
    "write_atomically",
    "write_config",
    "write_failure",
]

BASE = Path("/opt/ml")
MAX_FAILURE = 1024
"""Characters of the failure file that become FailureReason."""

Distribution = Literal["FullyReplicated", "ShardedByS3Key"]


@dataclass(frozen=True)
class Cluster:
    """The hosts of one training job, seen from one of them (resourceconfig.json).

    Args:
        current_host: This host's name, `algo-2`.
        hosts: All hosts, in the order of the numbers in their names; the first one leads.
        instance_type: As requested, `ml.m5.xlarge`.
        network_interface: The interface to the other hosts.
        group_name: The instance group's name.
    """

    current_host: str
    hosts: tuple[str, ...]
    instance_type: str = "local"
    network_interface: str = "eth0"
    group_name: str = "homogeneousCluster"

    @property
    def leader(self) -> str:
        """The first host: where the others meet, and the one that writes."""
        return self.hosts[0]

    @property
    def index(self) -> int:
        """This host's place among the hosts, from 0."""
        return self.hosts.index(self.current_host)


@dataclass(frozen=True)
class Channel:
    """One input channel as a host sees it (inputdataconfig.json).

    Args:
        name: The channel's name, `train`.
        path: The folder that holds its files.
        content_type: As requested; passed through, never interpreted by the service. None if not given.
        distribution: Whether this host has every file or its own share.
        input_mode: `File`, `FastFile` or `Pipe`.
        record_wrapper: `None` (the word) or `RecordIO`.
    """

    name: str
    path: Path
    content_type: str | None = None
    distribution: Distribution = "FullyReplicated"
    input_mode: str = "File"
    record_wrapper: str = "None"


@dataclass(frozen=True)
class Folders:
    """Where a training container finds and leaves its files.

    Args:
        base: `/opt/ml`, or another folder that stands for it.
    """

    base: Path = BASE

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> Folders:
        """The folders below `SAGEMAKER_BASE_DIR` if that is set, else below `/opt/ml`."""
        return cls(Path(environ.get("SAGEMAKER_BASE_DIR") or BASE))

    @property
    def input(self) -> Path:
        """Everything that is given to the job."""
        return self.base / "input"

    @property
    def config(self) -> Path:
        """The three JSON documents that describe the job."""
        return self.base / "input" / "config"

    @property
    def data(self) -> Path:
        """One folder for each channel."""
        return self.base / "input" / "data"

    @property
    def model(self) -> Path:
        """Becomes model.tar.gz."""
        return self.base / "model"

    @property
    def output(self) -> Path:
        """Holds the failure file and the output data."""
        return self.base / "output"

    @property
    def output_data(self) -> Path:
        """Becomes output.tar.gz."""
        return self.base / "output" / "data"

    @property
    def failure(self) -> Path:
        """The file whose first 1,024 characters become the failure reason."""
        return self.base / "output" / "failure"

    @property
    def checkpoints(self) -> Path:
        """Kept over a restart of the job."""
        return self.base / "checkpoints"

    @property
    def code(self) -> Path:
        """The user's program, by the toolkit's convention."""
        return self.base / "code"


def host_order(hosts: Iterable[str]) -> tuple[str, ...]:
    """Hosts in the order of the numbers in their names: algo-2 before algo-10."""
    return tuple(sorted(hosts, key=lambda host: ([_part(p) for p in re.split(r"([0-9]+)", host)], host)))


def read_hyperparameters(folders: Folders) -> dict[str, str]:
    """The job's hyperparameters as raw text, those of the platform included.

    A value that is no text, in a file written by hand, is written as `encode` would. No file means none.

    Raises:
        InputError: If the file is no JSON object.
    """
    document = _read_object(folders.config / "hyperparameters.json")
    return {name: value if isinstance(value, str) else encode(value) for name, value in document.items()}


def read_cluster(folders: Folders) -> Cluster:
    """The job's hosts. No file means one host, `algo-1`; missing group fields are tolerated (SDK local mode).

    Raises:
        InputError: If the file is no JSON object, or its hosts are no list of names, current host included.
    """
    path = folders.config / "resourceconfig.json"
    document = _read_object(path)
    if not document:
        return Cluster("algo-1", ("algo-1",))
    current = document.get("current_host", "algo-1")
    hosts = document.get("hosts", [current])
    if (
        not isinstance(current, str)
        or not isinstance(hosts, list)
        or not all(isinstance(h, str) for h in hosts)
    ):
        raise InputError(
            f"{path}: 'hosts' must be a list of names and 'current_host' a name; found {document!r}."
        )
    if current not in hosts:
        raise InputError(
            f"{path}: current_host {current!r} is not among the hosts: {', '.join(hosts) or 'none'}."
        )
    return Cluster(
        current_host=current,
        hosts=host_order(dict.fromkeys(hosts)),
        instance_type=str(document.get("current_instance_type") or "local"),
        network_interface=str(document.get("network_interface_name") or "eth0"),
        group_name=str(document.get("current_group_name") or "homogeneousCluster"),
    )


def read_channels(folders: Folders) -> dict[str, Channel]:
    """The job's channels by name, sorted. No inputdataconfig.json means the folders that are there.

    Raises:
        InputError: If the file is no JSON object of objects.
    """
    path = folders.config / "inputdataconfig.json"
    document = _read_object(path)
    if not document and not path.exists() and folders.data.is_dir():
        document = {entry.name: {} for entry in folders.data.iterdir() if entry.is_dir()}
    channels = {}
    for name, entry in sorted(document.items()):
        if not isinstance(entry, dict):
            raise InputError(f"{path}: channel {name!r} must be an object; found {entry!r}.")
        sharded = entry.get("S3DistributionType") == "ShardedByS3Key"
        channels[name] = Channel(
            name=name,
            path=folders.data / name,
            content_type=entry.get("ContentType") or None,
            distribution="ShardedByS3Key" if sharded else "FullyReplicated",
            input_mode=str(entry.get("TrainingInputMode") or "File"),
            record_wrapper=str(entry.get("RecordWrapperType") or "None"),
        )
    return channels


def write_config(
    folders: Folders, hyperparameters: Mapping[str, str], cluster: Cluster, channels: Sequence[Channel]
) -> None:
    """Write the documents that a container finds in `input/config`, with SageMaker's names and letter case.

    Args:
        folders: Where; missing folders are made.
        hyperparameters: Name to text.
        cluster: The hosts, seen from the host whose folders these are.
        channels: The channels; their paths are not written, since a container finds them by name.
    """
    hosts = sorted(cluster.hosts)  # the service sorts them as text: algo-1, algo-10, algo-2
    resources = {
        "current_group_name": cluster.group_name,
        "current_host": cluster.current_host,
        "current_instance_type": cluster.instance_type,
        "hosts": hosts,
        "instance_groups": [
            {
                "hosts": hosts,
                "instance_group_name": cluster.group_name,
                "instance_type": cluster.instance_type,
            }
        ],
        "network_interface_name": cluster.network_interface,
    }
    inputs = {}
    for channel in channels:
        entry = {
            "TrainingInputMode": channel.input_mode,
            "S3DistributionType": channel.distribution,
            "RecordWrapperType": channel.record_wrapper,
        }
        if channel.content_type is not None:
            entry["ContentType"] = channel.content_type
        inputs[channel.name] = entry
    folders.config.mkdir(parents=True, exist_ok=True)
    for name, document in (
        ("hyperparameters.json", dict(hyperparameters)),
        ("resourceconfig.json", resources),
        ("inputdataconfig.json", inputs),
    ):
        write_atomically(folders.config / name, json.dumps(document))


def write_failure(folders: Folders, text: str) -> None:
    """Leave the reason of a failure for the platform, unless one is there already.

    Args:
        folders: Where; missing folders are made.
        text: The reason, most useful words first; cut at 1,024 characters.
    """
    if folders.failure.exists() and folders.failure.stat().st_size:
        return
    folders.output.mkdir(parents=True, exist_ok=True)
    write_atomically(folders.failure, fit_failure(text))


def fit_failure(text: str) -> str:
    """A reason of a failure cut to the 1,024 characters that it may have, with a mark where it was cut."""
    return text if len(text) <= MAX_FAILURE else text[: MAX_FAILURE - 1] + "…"


def _read_object(path: Path) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise PlatformError(f"{path} cannot be read: {error.strerror}. Let this user read it.") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is no UTF-8 text: {error}.") from None
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is no JSON: {error}.") from None
    if not isinstance(document, dict):
        raise InputError(f"{path} must hold one JSON object; found {text[:60]!r}.")
    return cast("dict[str, Any]", document)


def _part(text: str) -> tuple[int, str]:
    return (int(text), "") if text.isdecimal() else (-1, text)
