"""The plan: a request that was found right, frozen, printable and hashable."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal
from urllib.parse import unquote

from bandstand.errors import PlatformError
from bandstand.host_variables import RANKS_PER_HOST, THREADS
from bandstand.request.ranges import CategoricalRange, ContinuousRange, IntegerRange, Range

OBJECTIVE_HYPERPARAMETER = "_tuning_objective_metric"
"""The static hyperparameter that AMT adds to every training job of a tuning job."""

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
    """

    name: str
    uri: str
    content_type: str | None = None
    distribution: Literal["FullyReplicated", "ShardedByS3Key"] = "FullyReplicated"
    input_mode: str = "File"
    record_wrapper: str = "None"

    @property
    def path(self) -> Path:
        """The folder or file on this machine; PlatformError where the URI is none."""
        return local_path(self.uri)


@dataclass(frozen=True)
class TrainingPlan:
    """One training job, ready to be submitted to a backend.

    Args:
        name: The training job's name; in `TuningPlan.definition`, the tuning job's.
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
        return replace(self, name=name, document=_with(self.document, TrainingJobName=name))

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


@dataclass(frozen=True)
class TuningPlan:
    """One tuning job: many training jobs of one definition, with different settings.

    Args:
        name: The tuning job's name.
        objective: The metric that is tuned for.
        goal: Whether more of it is better, or less.
        strategy: How settings are chosen and, with Hyperband, jobs are stopped. `Hyperband-TPE` is for this
            machine only: its document says Hyperband.
        min_resource: Objective reports before which Hyperband stops no job.
        max_resource: Objective reports after which Hyperband stops every job; None with Random.
        jobs: How many training jobs in all.
        parallel: How many of them at a time, at most.
        seed: The seed of the settings, or None where any will do.
        ranges: The hyperparameters that are tuned.
        definition: What all training jobs have in common; its name is the tuning job's.
        max_runtime: Seconds after which the tuning job is stopped, or None.
        tags: Keys and values.
        document: The CreateHyperParameterTuningJob request, as JSON.
        notes: What was repaired, filled in, or is accepted without effect here; one sentence each.
        exact: Whether the request was a document of the API, which is passed on unchanged or refused.
        early_stopping: Whether the median rule stops training jobs.
        target: The objective at which the tuning job is complete, or None.
        not_improving: Training jobs without an improvement of 1 % after which it is complete, or None.
        convergence: Whether it is complete when the search has converged.
        parents: Earlier tuning jobs whose training jobs it learns from.
        warm_start: How it is like them, or None without parents.
    """

    name: str
    objective: str
    goal: Literal["maximize", "minimize"]
    strategy: Literal["Hyperband", "Hyperband-TPE", "Random", "Grid", "Bayesian"]
    min_resource: int
    max_resource: int | None
    jobs: int
    parallel: int
    seed: int | None
    ranges: tuple[Range, ...]
    definition: TrainingPlan
    max_runtime: int | None
    tags: Pairs
    document: str
    notes: tuple[str, ...] = ()
    exact: bool = False
    early_stopping: bool = False
    target: float | None = None
    not_improving: int | None = None
    convergence: bool = False
    parents: tuple[str, ...] = ()
    warm_start: Literal["IdenticalDataAndAlgorithm", "TransferLearning"] | None = None

    def training(self, number: int, settings: Mapping[str, str]) -> TrainingPlan:
        """Return the training job with these settings, as AMT would create it.

        Names are as AMT's: `<tuning job>-<number>-<8 hex digits>`, the number padded to three digits. The hex
        digits depend on the tuning job's name, the number and the settings only.

        Args:
            number: Which training job of the tuning job, from 1.
            settings: The tuned hyperparameters, as text.
        """
        chosen = {spread.name: settings[spread.name] for spread in self.ranges}
        identity = json.dumps([self.name, number, chosen]).encode()
        name = f"{self.name}-{number:03d}-{hashlib.sha256(identity).hexdigest()[:8]}"
        hyperparameters = dict(self.definition.hyperparameters)
        hyperparameters |= chosen | {OBJECTIVE_HYPERPARAMETER: self.objective}
        request = json.loads(self.definition.document)
        sent = {**request.get("HyperParameters", {}), **chosen, OBJECTIVE_HYPERPARAMETER: self.objective}
        document = _with(self.definition.document, TrainingJobName=name, HyperParameters=sent)
        return replace(
            self.definition, name=name, hyperparameters=tuple(hyperparameters.items()), document=document
        )

    def renamed(self, name: str) -> TuningPlan:
        """Return the same job under another name, in its documents too."""
        document = _with(self.document, HyperParameterTuningJobName=name)
        return replace(self, name=name, definition=self.definition.renamed(name), document=document)

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as JSON-ready data, for `from_dict`."""
        data = asdict(self)
        data["ranges"] = [{"kind": _KINDS[type(spread)], **asdict(spread)} for spread in self.ranges]
        data["definition"] = self.definition.to_dict()
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> TuningPlan:
        """Return the plan that `to_dict` wrote down; also after a trip through JSON."""
        known = {field.name for field in fields(cls)}
        values = {key: value for key, value in data.items() if key in known}
        values["ranges"] = tuple(_range(spread) for spread in data["ranges"])
        values["definition"] = TrainingPlan.from_dict(data["definition"])
        values["tags"] = tuple((name, value) for name, value in data["tags"])
        values["notes"] = tuple(data.get("notes", ()))
        values["parents"] = tuple(data.get("parents", ()))
        return cls(**values)


Plan = TrainingPlan | TuningPlan

_KINDS: dict[type[Range], str] = {
    IntegerRange: "integer",
    ContinuousRange: "continuous",
    CategoricalRange: "categorical",
}


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


def _range(data: Mapping[str, Any]) -> Range:
    values = {key: value for key, value in data.items() if key != "kind"}
    match data["kind"]:
        case "integer":
            return IntegerRange(**values)
        case "continuous":
            return ContinuousRange(**values)
        case _:
            return CategoricalRange(name=values["name"], values=tuple(values["values"]))


def _number(environment: Pairs, name: str) -> int | None:
    text = dict(environment).get(name)
    return None if text is None else int(text)


def _with(document: str, **members: Any) -> str:
    return written(json.loads(document) | members)


def written(document: Mapping[str, Any]) -> str:
    """Return a request as JSON text, in the order of its members."""
    return json.dumps(document, indent=2, ensure_ascii=False)
