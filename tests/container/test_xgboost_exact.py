"""The values in the log are those that one process computes for the same model over all rows."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xgboost
from numpy.typing import NDArray

Rows = NDArray[np.float32]
METRICS = ["auc", "aucpr", "logloss", "error", "rmse"]


def thirds(rows: Rows, to_csv: Callable[[Rows], bytes]) -> list[dict[str, bytes]]:
    """Sorted shards of unequal size, one for each of three hosts."""
    cuts = [0, len(rows) // 6, len(rows) // 2, len(rows)]
    return [{f"part-{n}.csv": to_csv(rows[a:b])} for n, (a, b) in enumerate(pairwise(cuts))]


def one_process(model: Path, rows: Rows, metrics: list[str], **parameters: object) -> dict[str, float]:
    """The metrics of a model file over rows, as one process finds them."""
    booster = xgboost.Booster({"nthread": 1, **parameters})
    booster.load_model(bytearray(model.read_bytes()))
    booster.set_param([("eval_metric", metric) for metric in metrics])
    text = booster.eval(xgboost.DMatrix(rows[:, 1:], rows[:, 0], nthread=1), "x")
    return {
        name.removeprefix("x-"): float(value)
        for name, _, value in (part.rpartition(":") for part in text.split("\t")[1:])
    }


@pytest.mark.parametrize(
    "parameters",
    [
        {"objective": "binary:logistic"},
        {"objective": "binary:logistic", "booster": "dart", "rate_drop": 0.3, "subsample": 0.7},
    ],
    ids=["gbtree", "dart"],
)
def test_metrics_of_three_hosts_with_sorted_shards_are_exact(
    jobs: Any, campaign: Rows, to_csv: Callable[[Rows], bytes], parameters: Mapping[str, object]
) -> None:
    train, validation = campaign[::2], campaign[1::2]
    job = jobs.run(
        {**parameters, "num_round": 12, "seed": 3, "eval_metric": ",".join(METRICS), "train_metrics": "true"},
        sharded={"train": thirds(train, to_csv), "validation": thirds(validation, to_csv)},
    )
    assert len(job.reports) == 12
    for channel, rows in (("train", train), ("validation", validation)):
        expected = one_process(job.leader.model, rows, METRICS, **parameters)
        for metric in METRICS:
            assert job.reports[-1][f"{channel}:{metric}"] == pytest.approx(expected[metric], abs=1e-9, rel=0)
    assert [host.model.exists() for host in job.hosts] == [True, False, False]
    assert hashlib.sha256(job.leader.model.read_bytes()).hexdigest() in job.leader.err


def test_metrics_of_several_classes_are_exact(
    jobs: Any, campaign: Rows, to_csv: Callable[[Rows], bytes]
) -> None:
    rows = campaign[::3].copy()
    rows[:, 0] = np.arange(len(rows)) % 3
    parameters = {"objective": "multi:softprob", "num_class": 3}
    metrics = ["mlogloss", "merror", "auc"]
    job = jobs.run(
        {**parameters, "num_round": 3, "eval_metric": str(metrics)},
        replicated={"train": {"a.csv": to_csv(rows)}},
        sharded={"validation": [None, *thirds(rows, to_csv)[1:]]},
    )
    expected = one_process(job.leader.model, rows[len(rows) // 6 :], metrics)
    for metric in metrics:
        assert job.reports[-1][f"validation:{metric}"] == pytest.approx(expected[metric], abs=1e-9, rel=0)


def test_the_same_seed_and_hosts_give_the_same_model_byte_for_byte(
    jobs: Any, campaign: Rows, to_csv: Callable[[Rows], bytes]
) -> None:
    settings = {
        "num_round": 8,
        "objective": "binary:logistic",
        "booster": "dart",
        "rate_drop": 0.5,
        "subsample": 0.5,
        "colsample_bytree": 0.5,
        "seed": 11,
    }
    data = {"train": {"a.csv": to_csv(campaign[:1500]), "b.csv": to_csv(campaign[1500:])}}
    models = [jobs.run(settings, replicated=data).leader.model.read_bytes() for _ in range(2)]
    assert models[0] == models[1]
