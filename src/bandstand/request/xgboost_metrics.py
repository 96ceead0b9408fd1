"""The metrics that the built-in XGBoost reports, as far as its hyperparameters and channels tell them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType

from bandstand.hyperparameters import decode
from bandstand.request.custom_metric_rules import custom_metrics
from bandstand.request.plan import OBJECTIVE_HYPERPARAMETER

DEFAULTS: Mapping[str, str] = MappingProxyType(
    {
        "reg:squarederror": "rmse",
        "reg:squaredlogerror": "rmsle",
        "reg:logistic": "rmse",
        "reg:pseudohubererror": "mphe",
        "reg:absoluteerror": "mae",
        "reg:gamma": "gamma-deviance",
        "reg:linear": "rmse",
        "binary:logistic": "logloss",
        "binary:logitraw": "logloss",
        "binary:hinge": "error",
        "count:poisson": "poisson-nloglik",
        "multi:softmax": "mlogloss",
        "multi:softprob": "mlogloss",
        "survival:cox": "cox-nloglik",
        "survival:aft": "aft-nloglik",
    }
)
"""Objective to the metric that XGBoost chooses for it, of those whose metric has no argument of its own."""


def reported_metrics(
    static: Mapping[str, str], channels: Collection[str], objective: str | None = None
) -> list[str]:
    """Return names as in a metric line, such as `validation:auc`.

    Args:
        static: Hyperparameters by name, as text.
        channels: Names of the channels.
        objective: The metric of a tuning job's objective, which is reported as well.
    """
    watched = objective or str(decode(static.get(OBJECTIVE_HYPERPARAMETER, "")))
    value = decode(static.get("eval_metric", ""))
    words = value if isinstance(value, list) else str(value).split(",")
    words = [*words, watched.partition(":")[2]]
    names = list(dict.fromkeys(name for word in words if (name := str(word).strip())))
    if not names:
        names = [metric for metric in [_default(static)] if metric is not None]
    names += [function for _, function in custom_metrics(static) if function]
    evaluated = _evaluated(static, channels, watched)
    return [f"{channel}:{name}" for name in names for channel in evaluated]


def _default(static: Mapping[str, str]) -> str | None:
    return DEFAULTS.get(str(decode(static.get("objective", "reg:squarederror"))))


def _evaluated(static: Mapping[str, str], channels: Collection[str], watched: str) -> list[str]:
    """The channels whose metrics are reported: the training channel costs, so it has to be asked for."""
    evaluated = [name for name in ("validation",) if name in channels]
    word = str(decode(static.get("train_metrics", ""))).lower()
    if watched.startswith("train:") or word in ("true", "1") or (not word and not evaluated):
        evaluated.append("train")
    return evaluated
