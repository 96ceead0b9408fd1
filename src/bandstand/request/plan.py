"""The plan: a request that was found right, frozen, printable and hashable."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal

from bandstand.request.ranges import Range, range_from_dict, range_to_dict
from bandstand.request.training_plan import (
    ChannelPlan,
    Pairs,
    TrainingPlan,
    local_path,
    with_members,
    written,
)

__all__ = [
    "OBJECTIVE_HYPERPARAMETER",
    "ChannelPlan",
    "DefinitionPlan",
    "Pairs",
    "Plan",
    "TrainingPlan",
    "TuningPlan",
    "local_path",
    "written",
]

OBJECTIVE_HYPERPARAMETER = "_tuning_objective_metric"
"""The static hyperparameter that AMT adds to every training job of a tuning job."""


@dataclass(frozen=True)
class DefinitionPlan:
    """A training job definition: what all of its training jobs have in common, and what is tuned of them.

    Args:
        training: What they have in common; its name is the tuning job's.
        objective: The metric that is tuned for.
        ranges: The hyperparameters that are tuned.
        name: Its name; empty where it has none, as a tuning job's only definition may.
        max_resource: Objective reports after which Hyperband stops its jobs, where its own static
            hyperparameters tell it; None where the tuning job does.
    """

    training: TrainingPlan
    objective: str
    ranges: tuple[Range, ...]
    name: str = ""
    max_resource: int | None = None

    def job(self, name: str, settings: Mapping[str, str]) -> TrainingPlan:
        """Return one of its training jobs, as AMT would create it.

        Args:
            name: The training job's name.
            settings: The tuned hyperparameters, as text.
        """
        chosen = {**settings, OBJECTIVE_HYPERPARAMETER: self.objective}
        sent = {**json.loads(self.training.document).get("HyperParameters", {}), **chosen}
        return replace(
            self.training,
            name=name,
            hyperparameters=tuple({**dict(self.training.hyperparameters), **chosen}.items()),
            document=with_members(self.training.document, TrainingJobName=name, HyperParameters=sent),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON-ready data, for `from_dict`."""
        return asdict(self) | {"ranges": [range_to_dict(spread) for spread in self.ranges]}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> DefinitionPlan:
        """Return what `to_dict` wrote down; also after a trip through JSON."""
        ranges = tuple(range_from_dict(spread) for spread in data["ranges"])
        training, most = TrainingPlan.from_dict(data["training"]), data.get("max_resource")
        return cls(training, data["objective"], ranges, data["name"], most)


@dataclass(frozen=True)
class TuningPlan:
    """One tuning job: many training jobs of one definition or of several, with different settings.

    Args:
        name: The tuning job's name.
        definitions: What its training jobs are made of, in the order of the request.
        goal: Whether more of the objective is better, or less.
        strategy: How settings are chosen and, with Hyperband, jobs are stopped. `Hyperband-TPE` is for this
            machine only: its document says Hyperband.
        min_resource: Objective reports before which Hyperband stops no job.
        max_resource: Objective reports after which Hyperband stops every job, the most of all definitions;
            None without it.
        jobs: How many training jobs in all.
        parallel: How many of them at a time, at most.
        seed: The seed of the settings, or None where any will do.
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
    definitions: tuple[DefinitionPlan, ...]
    goal: Literal["maximize", "minimize"]
    strategy: Literal["Hyperband", "Hyperband-TPE", "Random", "Grid", "Bayesian"]
    min_resource: int
    max_resource: int | None
    jobs: int
    parallel: int
    seed: int | None
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

    @property
    def objective(self) -> str:
        """The metric that is tuned for; where definitions have different ones, all of them in words."""
        return " or ".join(dict.fromkeys(each.objective for each in self.definitions))

    def definition(self, name: str) -> DefinitionPlan:
        """Return the definition of a name; of a name that none has, as of an only one without, the first."""
        return next((each for each in self.definitions if each.name == name), self.definitions[0])

    def max_resource_of(self, definition: str) -> int | None:
        """Return the objective reports after which Hyperband stops jobs of a definition, by its name."""
        own = self.definition(definition).max_resource
        return self.max_resource if own is None else own

    @property
    def resource(self) -> str:
        """Hyperband's resource in words, `1 to 30`, or `1 to 9 or 30` by definitions; empty without it."""
        most = dict.fromkeys(self.max_resource_of(each.name) for each in self.definitions)
        return f"{self.min_resource} to {' or '.join(map(str, most))}" if self.max_resource else ""

    def training(self, number: int, settings: Mapping[str, str], definition: str = "") -> TrainingPlan:
        """Return the training job with these settings, as AMT would create it.

        Names are as AMT's: `<tuning job>-<number>-<8 hex digits>`, the number padded to three digits. The hex
        digits depend on the tuning job's name, the number and the settings only.

        Args:
            number: Which training job of the tuning job, from 1.
            settings: The tuned hyperparameters, as text.
            definition: The name of its definition.
        """
        made_of = self.definition(definition)
        chosen = {spread.name: settings[spread.name] for spread in made_of.ranges}
        identity = json.dumps([self.name, number, chosen]).encode()
        name = f"{self.name}-{number:03d}-{hashlib.sha256(identity).hexdigest()[:8]}"
        return made_of.job(name, chosen)

    def renamed(self, name: str) -> TuningPlan:
        """Return the same job under another name, in its documents too."""
        document = with_members(self.document, HyperParameterTuningJobName=name)
        definitions = tuple(replace(each, training=each.training.renamed(name)) for each in self.definitions)
        return replace(self, name=name, definitions=definitions, document=document)

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as JSON-ready data, for `from_dict`."""
        return asdict(self) | {"definitions": [each.to_dict() for each in self.definitions]}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> TuningPlan:
        """Return the plan that `to_dict` wrote down; also after a trip through JSON."""
        known = {field.name for field in fields(cls)}
        values = {key: value for key, value in data.items() if key in known}
        # Older plans have one definition, whose members stand in the plan itself.
        older = {**data, "training": data.get("definition"), "name": "", "max_resource": None}
        listed = data.get("definitions") or [older]
        values["definitions"] = tuple(DefinitionPlan.from_dict(each) for each in listed)
        values["tags"] = tuple((name, value) for name, value in data["tags"])
        values["notes"] = tuple(data.get("notes", ()))
        values["parents"] = tuple(data.get("parents", ()))
        return cls(**values)


Plan = TrainingPlan | TuningPlan
