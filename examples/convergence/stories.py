"""What the two algorithms of the comparison train, and what their tuning jobs try."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Story:
    """One algorithm.

    Args:
        name: For people.
        data: Its folder of data.
        kind: Content type of its channels, None for idx files.
        metric: What is better when it is greater.
        metric_title: The same for people.
        round: What an iteration is called.
        rounds: The hyperparameter that counts iterations.
        settings: Hyperparameters that nobody has tuned.
        ranges: What the tuning job tries, name to its range in a job file.
    """

    name: str
    data: str
    kind: str | None
    metric: str
    metric_title: str
    round: str
    rounds: str
    settings: Mapping[str, object]
    ranges: Mapping[str, str]


HOROVOD = Story(
    name="Horovod",
    data="digits",
    kind=None,
    metric="validation:accuracy",
    metric_title="validation accuracy",
    round="epoch",
    rounds="epochs",
    settings={
        "algorithm": "horovod",
        "epochs": 6,
        "per_rank_batch_size": 64,
        "learning_rate": 0.1,
        "momentum": 0,
        "seed": 7,
    },
    ranges={
        "learning_rate": '{ continuous = [0.05, 1.0], scale = "log" }',
        "momentum": "{ continuous = [0, 0.95] }",
    },
)

XGBOOST = Story(
    name="XGBoost",
    data="marketing",
    kind="csv",
    metric="validation:auc",
    metric_title="validation AUC",
    round="round",
    rounds="num_round",
    settings={
        "algorithm": "xgboost",
        "num_round": 30,
        "objective": "binary:logistic",
        "eval_metric": "auc",
        "seed": 7,
    },
    ranges={
        "eta": '{ continuous = [0.1, 0.5], scale = "log" }',
        "max_depth": "{ integer = [4, 9] }",
        "min_child_weight": "{ continuous = [1, 20] }",
    },
)

STORIES = {"horovod": HOROVOD, "xgboost": XGBOOST}
