"""Hyperparameters of the built-in XGBoost: SageMaker XGBoost's own names, read and sorted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeVar

from bandstand.errors import InputError
from bandstand.hyperparameters import Hyperparameters, decode, encode, nearest
from bandstand.metrics import known_goal
from bandstand.training.rows import Columns

OWN_NAMES = (
    "algorithm",
    "num_round",
    "eval_metric",
    "custom_metric",
    "custom_metric_goal",
    "early_stopping_rounds",
    "train_metrics",
    "label",
    "weight",
    "csv_weights",
    "qid",
    "header",
    "index_base",
    "save_model_on_termination",  # AWS's container has it; here the model is saved in any case
)
"""What this algorithm reads itself; every other name goes to XGBoost."""

CHANNELS = ("train", "validation")

_NO_GOALS: Mapping[str, str] = MappingProxyType({})
_Value = TypeVar("_Value")


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
    watched: str | None
    columns: Columns

    def for_booster(self) -> dict[str, object]:
        """Everything that `xgboost.Booster` takes."""
        named: dict[str, object] = dict(self.parameters)
        if self.metrics:
            named["eval_metric"] = list(self.metrics)
        return named


def read_settings(
    given: Hyperparameters, ranks: int, threads: int, goals: Mapping[str, str] = _NO_GOALS
) -> tuple[Settings, list[str]]:
    """Read the hyperparameters; whether XGBoost knows the rest and takes its values is still to be seen.

    The metric of a tuning job's objective is evaluated, too, as AWS's container does.

    Args:
        given: The job's hyperparameters.
        ranks: Ranks that train together.
        threads: Threads of each, unless `nthread` says otherwise.
        goals: Metric name to `maximize` or `minimize`, as the tuning job declares it.

    Returns:
        The settings, and everything that is wrong with them.
    """
    problems: list[str] = []
    rounds = _tried(lambda: _positive(given, "num_round"), problems, 0)
    patience = None
    if "early_stopping_rounds" in given:
        patience = _tried(lambda: _positive(given, "early_stopping_rounds"), problems, 0)
    metrics: list[str] = _tried(lambda: given.words("eval_metric", []), problems, [])
    custom: list[str] = _tried(lambda: given.words("custom_metric", []), problems, [])
    custom_goal = _tried(lambda: _goal(given), problems, None)
    train_metrics = _tried(lambda: given.boolean("train_metrics", None), problems, None)
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
        name: text for name in given if name not in OWN_NAMES and (text := _text(given, name)) is not None
    }
    if not {"nthread", "n_jobs"} & parameters.keys():
        parameters["nthread"] = str(threads)
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
    columns = _columns(given, problems)
    metrics = list(dict.fromkeys(metrics))
    settings = Settings(
        rounds,
        parameters,
        tuple(metrics),
        tuple(dict.fromkeys(custom)),
        custom_goal,
        train_metrics,
        patience,
        watched,
        columns,
    )
    return settings, problems


def _goal(given: Hyperparameters) -> str | None:
    goal = given.text("custom_metric_goal", None)
    if goal is not None and "custom_metric" not in given:
        raise InputError("custom_metric_goal is given without custom_metric. Add it, or leave both out.")
    if goal not in (None, "maximize", "minimize"):
        raise InputError(
            f"Hyperparameter 'custom_metric_goal' is {goal!r}; expected 'maximize' or 'minimize'."
        )
    return goal


def _columns(given: Hyperparameters, problems: list[str]) -> Columns:
    """What the job says of the data's columns."""
    weight = given.text("weight", None)
    if _tried(lambda: given.boolean("csv_weights", False), problems, False):
        if weight is not None:
            problems.append(
                f"csv_weights says that column 2 holds the weights, and weight is {weight!r}. Give one "
                "of them."
            )
        weight = "2"
    base = _tried(lambda: given.integer("index_base", None), problems, None)
    if base not in (None, 0, 1):
        problems.append(f"Hyperparameter 'index_base' is {base}; expected 0 or 1.")
    header = _tried(lambda: given.boolean("header", False), problems, False)
    return Columns(given.text("label", "1"), weight, given.text("qid", None), bool(header), base)


def _positive(given: Hyperparameters, name: str) -> int:
    if name not in given:
        near = nearest(name, given)
        hint = f" Is {near!r} a misspelling of it?" if near else ""
        raise InputError(f"Hyperparameter {name!r} is missing; it says how many iterations to train.{hint}")
    number = given.integer(name)
    if number < 1:
        raise InputError(f"Hyperparameter {name!r} is {number}; expected 1 or more.")
    return number


def _tried(read: Callable[[], _Value], problems: list[str], otherwise: _Value) -> _Value:
    try:
        return read()
    except InputError as error:
        problems.append(str(error))
        return otherwise


def _text(given: Hyperparameters, name: str) -> str | None:
    """A value as XGBoost reads it: `4.0`, from a sampler that works in floats, is the whole number 4."""
    text = given.text(name, None)
    if text is None:
        return None
    value = decode(text)
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    if name == "monotone_constraints" and isinstance(value, list):
        return f"({','.join(encode(item) for item in value)})"
    return text


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
