"""Hyperparameters of the built-in XGBoost: SageMaker XGBoost's own names, read and sorted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from bandstand.hyperparameter_text import encode, unquoted
from bandstand.hyperparameters import Hyperparameters
from bandstand.metrics import known_goal
from bandstand.training.rows import Columns
from bandstand_container.xgboost_hyperparameters import OWN_NAMES, SCHEMA

CHANNELS = ("train", "validation")

_NO_GOALS: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True)
class Settings:
    """What to train.

    Args:
        rounds: Iterations in all.
        parameters: XGBoost's parameters by name, as text; `eval_metric` is not among them.
        metrics: Values of `eval_metric`; empty for the objective function's own.
        custom: The user's own metric functions, as `profit.py:profit`.
        custom_goal: The direction of what these return, `maximize` or `minimize`; None if nothing was said.
        train_metrics: Whether to evaluate the training channel as well; None if nothing was said.
        patience: Iterations without a better value after which training ends; None to go on.
        checkpoint_iterations: From one checkpoint to the next; None to go by time.
        watched: The metric that a tuning job optimizes, and that early stopping watches; None for the last.
        columns: Which columns of the data are no features.
    """

    rounds: int
    parameters: Mapping[str, str]
    metrics: tuple[str, ...]
    custom: tuple[str, ...]
    custom_goal: str | None
    train_metrics: bool | None
    patience: int | None
    checkpoint_iterations: int | None
    watched: str | None
    columns: Columns

    @property
    def watched_metric(self) -> str:
        """What is watched, without its channel; empty for the last metric."""
        return (self.watched or "").partition(":")[2]

    def without_metric(self, name: str) -> Settings:
        """The same, with a metric left to the user's own functions.

        Args:
            name: A metric's name, without a channel.
        """
        return replace(self, metrics=tuple(metric for metric in self.metrics if metric != name))

    def for_booster(self) -> dict[str, object]:
        """Everything that `xgboost.Booster` takes."""
        named: dict[str, object] = dict(self.parameters)
        if self.metrics:
            named["eval_metric"] = list(self.metrics)
        return named


def read_settings(
    given: Hyperparameters, ranks: int, threads: int, goals: Mapping[str, str] = _NO_GOALS
) -> tuple[Settings, list[str]]:
    """Read the hyperparameters as declared; whether XGBoost takes them all together is still to be seen.

    The metric of a tuning job's objective is evaluated, too, as AWS's container does.

    Args:
        given: The job's hyperparameters.
        ranks: Ranks that train together.
        threads: Threads of each, unless `nthread` says otherwise.
        goals: Metric name to `maximize` or `minimize`, as the tuning job declares it.

    Returns:
        The settings, and everything that is wrong with them.
    """
    reading = SCHEMA.read(given)
    values, problems = reading.values, reading.problems
    metrics: list[str] = values["eval_metric"] or []
    custom: list[str] = values["custom_metric"] or []
    custom_goal, patience = values["custom_metric_goal"], values["early_stopping_rounds"]
    if custom_goal is not None and "custom_metric" not in given:
        problems.append("custom_metric_goal is given without custom_metric. Add it, or leave both out.")
    train_metrics = values["train_metrics"]
    watched = given.objective
    if watched is not None:
        channel, _, metric = watched.partition(":")
        if channel in CHANNELS and metric:
            metrics = [*metrics, metric]
            train_metrics = True if channel == "train" else train_metrics
        else:
            problems.append(
                f"The tuning objective is {watched!r}; this algorithm reports train:METRIC and "
                "validation:METRIC, such as validation:auc. Choose one of these."
            )
    parameters = {
        name: _as_xgboost_reads(name, values[name], text)
        for name, text in reading.given.items()
        if name not in OWN_NAMES
    }
    parameters.setdefault("nthread", str(threads))
    problems += _without_distributed_form(parameters, ranks)
    stopper = watched or next(reversed([*metrics, *(word.rpartition(":")[2] for word in custom)]), "")
    goal = goals.get(stopper) or known_goal(stopper) or (custom_goal if custom else None)
    if patience and stopper and goal is None:
        problems.append(
            f"early_stopping_rounds is given, but whether {stopper!r} should grow or fall is not known. "
            + (
                "Say it by custom_metric_goal, "
                if custom
                else "Put a metric such as auc last in eval_metric, "
            )
            + "or leave early_stopping_rounds out."
        )
    columns = _columns(values, problems)
    metrics = list(dict.fromkeys(metrics))
    settings = Settings(
        values["num_round"] or 0,
        parameters,
        tuple(metrics),
        tuple(dict.fromkeys(custom)),
        custom_goal,
        train_metrics,
        patience,
        values["checkpoint_iterations"],
        watched,
        columns,
    )
    return settings, problems


def _columns(values: Mapping[str, Any], problems: list[str]) -> Columns:
    """What the job says of the data's columns."""
    weight = values["weight"]
    if values["csv_weights"]:
        if weight is not None:
            problems.append(
                f"csv_weights says that column 2 holds the weights, and weight is {weight!r}. Give one "
                "of them."
            )
        weight = "2"
    return Columns(values["label"], weight, values["qid"], values["header"], values["index_base"])


def _as_xgboost_reads(name: str, value: Any, text: str) -> str:
    """A value as XGBoost reads it; the text of a number as it is written, so that no digit is lost."""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, list):
        if name == "monotone_constraints":
            return f"({','.join(map(encode, value))})"
        return encode(value[0] if len(value) == 1 and isinstance(value[0], float) else value)
    return unquoted(text).strip() if isinstance(value, float) else encode(value)


def _without_distributed_form(parameters: Mapping[str, str], ranks: int) -> list[str]:
    """Methods that XGBoost has for one process only; over several, it fails or trains a model on each."""
    if ranks == 1:
        return []
    found = []
    if parameters.get("tree_method") == "exact":
        found.append("tree_method is 'exact'")
    if "grow_colmaker" in parameters.get("updater", ""):
        found.append(f"updater is {parameters['updater']!r}")
    if parameters.get("booster") == "gblinear":
        found.append("booster is 'gblinear'")
    return [
        f"{what}, which cannot train on rows that are split over {ranks} ranks. Use a tree booster with "
        "tree_method hist or approx, or one host with one rank."
        for what in found
    ]
