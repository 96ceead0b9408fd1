"""Settings and labels tried on the installed XGBoost: what it refuses here, it would refuse in training."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import xgboost
from numpy.typing import NDArray

from bandstand.errors import InputError
from bandstand.hyperparameters import nearest
from bandstand.training.ring import plain_message
from bandstand.training.rows import Rows
from bandstand_container.xgboost_configuration import parameters_in

_BOOSTERS = ("gbtree", "dart", "gblinear")
_DECIDING = ("booster", "updater")
"""What decides, in this order, which values of other parameters there are."""

_TREE_METHODS = ("hist", "approx", "exact")
_NEEDED = {"num_class": "2", "quantile_alpha": "0.5", "expectile_alpha": "0.5"}
"""What some objectives cannot be configured without."""

_CANDIDATE = re.compile(r"Objective candidate: (\S+)")
_LABELS = 1000
"""Distinct labels that are tried at most."""

_USUAL_LABELS = (0.0, 0.5, 1.0, 2.0)
"""If every one of these is refused, too, it is not because of the labels."""

_TOLD = 5
"""Rows with bad labels that are told."""


def try_settings(
    parameters: Mapping[str, str], metrics: Sequence[str], own_names: Iterable[str]
) -> tuple[list[str], list[str]]:
    """Let XGBoost judge names and values.

    Args:
        parameters: XGBoost's parameters by name, as text.
        metrics: Values of `eval_metric`.
        own_names: Names that are no parameters of XGBoost but allowed, for the nearest name.

    Returns:
        What is wrong, and what is allowed but has no effect with these settings.
    """
    matrix = xgboost.DMatrix(np.zeros((2, 1), np.float32), np.array([0, 1], np.float32), nthread=1)
    with xgboost.config_context(verbosity=0):
        problems, used = _judged(matrix, parameters, metrics)
        unused = [name for name in parameters if name not in used]
        names = _known_names(matrix) if unused else set()
    problems_of_names, notes = [], []
    for name in unused:
        if name in names:
            notes.append(f"{name} has no effect with the other settings.")
            continue
        near = nearest(name, [*names, *own_names])
        hint = f" Did you mean {near!r}?" if near else ""
        problems_of_names.append(
            f"{name!r} is no parameter of XGBoost {xgboost.__version__} nor of this algorithm.{hint}"
        )
    return problems_of_names + problems, notes


def knows_metric(name: str) -> bool:
    """Whether XGBoost has a metric of its own by this name, whatever it needs.

    Args:
        name: A value of `eval_metric`.
    """
    matrix = xgboost.DMatrix(np.zeros((2, 1), np.float32), np.array([0, 1], np.float32), nthread=1)
    with xgboost.config_context(verbosity=0):
        return "Unknown metric function" not in (_fault(matrix, {"eval_metric": name}) or "")


def try_labels(parameters: Mapping[str, str], rows: Rows) -> list[str]:
    """Let XGBoost's objective judge labels: one tree over the distinct labels of this rank's rows.

    Args:
        parameters: XGBoost's parameters, which it has accepted as such.
        rows: The rows to train on, or to evaluate: a metric of labels from outside its domain means nothing.

    Returns:
        What is wrong, with file and line; empty without rows.

    Raises:
        InputError: If it is not the labels that are refused.
    """
    if not len(rows):
        return []
    distinct = np.unique(rows.labels)
    if len(distinct) > _LABELS:
        distinct = distinct[np.linspace(0, len(distinct) - 1, _LABELS).astype(int)]
    with xgboost.config_context(verbosity=0):
        message = _refusal(parameters, distinct, rows.columns)
        if message is None:
            return []
        usual = [_refusal(parameters, np.array([label]), rows.columns) for label in _USUAL_LABELS]
        if all(usual):
            raise InputError(f"XGBoost {xgboost.__version__} cannot train with these settings: {usual[0]}")
        bad = [label for label in distinct if _refusal(parameters, np.array([label]), rows.columns)]
    problems = []
    for label in bad[:_TOLD]:
        place = rows.locate(int(np.argmax(rows.labels == label)))
        objective = parameters.get("objective", "the default objective")
        found = str(label).removesuffix(".0")
        problems.append(f"{place}: the label is {found}, which {objective} refuses: {message}")
    return problems or [message]


def _judged(matrix: Any, parameters: Mapping[str, str], metrics: Sequence[str]) -> tuple[list[str], set[str]]:
    """What XGBoost refuses, and the names of all parameters that it has with these."""
    problems = []
    # XGBoost would keep a verbosity for the whole thread; its declaration has judged it.
    whole = {name: text for name, text in parameters.items() if name != "verbosity"}
    context: dict[str, str] = {}
    for name in [*_DECIDING, *(name for name in whole if name not in (*_DECIDING, "objective"))]:
        fault = _fault(matrix, {**context, name: whole[name]}) if name in whole else None
        if fault:
            problems.append(f"{name} = {whole.pop(name)}: {fault}")
        elif name in _DECIDING and name in whole:
            context[name] = whole[name]
    fault = _fault(matrix, whole)
    if fault:
        problems.append(_objective_fault(fault, whole.get("objective", "")) or fault)
        whole.pop("objective", None)
    for metric in dict.fromkeys(metrics):
        fault = _fault(matrix, {**whole, "eval_metric": metric})
        if fault:
            problems.append(f"eval_metric {metric}: {fault}")
    names = {*xgboost.get_config(), "eval_metric"}
    if not _fault(matrix, whole):
        names.update(name for name, _ in parameters_in(_configured(matrix, whole)))
    return problems, names


def _fault(matrix: Any, parameters: Mapping[str, str]) -> str | None:
    """Why XGBoost refuses parameters, None if it takes them."""
    try:
        _configured(matrix, parameters)
    except xgboost.core.XGBoostError as error:
        return plain_message(error)
    return None


def _configured(matrix: Any, parameters: Mapping[str, str]) -> dict[str, Any]:
    booster = xgboost.Booster({"nthread": "1", **parameters}, [matrix])
    found: dict[str, Any] = json.loads(booster.save_config())
    return found


def _objective_fault(fault: str, objective: str) -> str | None:
    candidates = _CANDIDATE.findall(fault)
    if not candidates:
        return None
    near = nearest(objective, candidates)
    hint = f" Did you mean {near!r}?" if near else ""
    have = ", ".join(sorted(candidates))
    return f"objective = {objective}: XGBoost has no such objective.{hint} It has {have}."


def _known_names(matrix: Any) -> set[str]:
    """Every parameter that some configuration of the installed XGBoost has, read from the library itself."""
    candidates = _CANDIDATE.findall(_fault(matrix, {"objective": "no such objective"}) or "")
    trials = [{"booster": booster} for booster in _BOOSTERS]
    trials.append({"booster": "gblinear", "updater": "coord_descent"})
    trials += [{"tree_method": method} for method in _TREE_METHODS]
    trials += [{"objective": objective, **_NEEDED} for objective in candidates]
    names: set[str] = set()
    for trial in trials:
        try:
            names.update(name for name, _ in parameters_in(_configured(matrix, trial)))
        except xgboost.core.XGBoostError:
            continue  # an objective for other data: its own names stay unknown, those of the rest do not
    return names


def _refusal(parameters: Mapping[str, str], labels: NDArray[np.float32], features: int) -> str | None:
    """Why XGBoost cannot train on these labels, None if it can."""
    matrix = xgboost.DMatrix(np.zeros((len(labels), features), np.float32), labels, nthread=1)
    settings = {"base_score": "0.5", **parameters, "nthread": "1"}
    settings.pop("verbosity", None)
    try:
        xgboost.Booster(settings, [matrix]).update(matrix, 0)
    except xgboost.core.XGBoostError as error:
        return plain_message(error)
    return None
