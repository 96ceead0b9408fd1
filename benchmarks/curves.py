"""Curves of random settings of the built-in XGBoost, computed once and kept in the cache folder."""

from __future__ import annotations

import json
import multiprocessing
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from bandstand.request.ranges import ContinuousRange, IntegerRange
from bandstand.study.settings import random_settings
from benchmarks.bench import Bench
from benchmarks.data import Data, bank

RANGES = (
    IntegerRange("num_round", 100, 200),
    ContinuousRange("eta", 0, 1),
    ContinuousRange("min_child_weight", 1, 10),
    ContinuousRange("alpha", 0, 2),
    IntegerRange("max_depth", 1, 10),
    ContinuousRange("colsample_bylevel", 0.01, 1),
    ContinuousRange("colsample_bytree", 0.01, 1),
)
"""Those of examples/direct_marketing/job.toml."""

_SEED = 1729
_WAIT_PER_TASK = 8


@dataclass(frozen=True)
class Curves:
    """Recorded curves.

    Args:
        of: Each setting's validation AUC after each of its iterations.
        data: What they were recorded on.
        path: Where they are kept.
    """

    of: tuple[tuple[float, ...], ...]
    data: Data
    path: Path


def recorded(bench: Bench, count: int) -> Curves:
    """Compute the curves that are not there yet, on all cores, and return the first ones.

    Args:
        bench: Says where they are kept; below scale 1 no curve is longer than 12 iterations.
        count: How many.
    """
    data = bank(Bench(min(bench.scale, 1), None, bench.data, bench.cache, bench.peers, bench.tell))
    longest = 200 if bench.scale >= 1 else 12
    path = bench.cache / "curves" / f"{data.train.parent.name}-seed-{_SEED}-to-{longest}.jsonl"
    arguments = (longest, str(data.train), str(data.validation))
    known = kept(path, count, partial(train_several, arguments=arguments), bench.tell)
    return Curves(tuple(tuple(row["auc"]) for row in known), data, path)


def kept(
    path: Path,
    count: int,
    train: Callable[[Sequence[int]], list[dict[str, Any]]],
    tell: Callable[[str], None],
) -> list[dict[str, Any]]:
    """Read what is kept of the trials from 1 to `count`, and compute and keep the rest, on all cores.

    Args:
        path: Where it is kept, one JSON object a line, each with its `trial`.
        count: How many trials.
        train: Computes some of them, in a process of its own with one thread.
        tell: Takes a line of progress.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    known = {row["trial"]: row for row in _rows(path)}
    missing = [trial for trial in range(1, count + 1) if trial not in known]
    if missing:
        os.environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}  # a fork would keep its threads
        spawn = multiprocessing.get_context("spawn")
        with path.open("a") as file, ProcessPoolExecutor(len(os.sched_getaffinity(0)), spawn) as workers:
            tasks = [missing[at : at + _WAIT_PER_TASK] for at in range(0, len(missing), _WAIT_PER_TASK)]
            done = 0
            for rows in workers.map(train, tasks):
                file.writelines(json.dumps(row) + "\n" for row in rows)
                file.flush()
                known |= {row["trial"]: row for row in rows}
                done += len(rows)
                tell(f"{path.stem}: {done} of {len(missing)} curves computed (once)")
    return [known[trial] for trial in range(1, count + 1)]


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def train_curve(settings: Mapping[str, str], longest: int, train: str, validation: str) -> list[float]:
    """Train one setting with bare XGBoost and return its validation AUC after each iteration.

    Args:
        settings: Of all `RANGES`, as text.
        longest: The greatest number of iterations, if `num_round` is greater.
        train: Folder of the rows to train on.
        validation: Folder of the rows to evaluate.
    """
    import xgboost

    parameters = {name: value for name, value in settings.items() if name != "num_round"}
    found: dict[str, Any] = {}
    xgboost.train(
        {**parameters, "objective": "binary:logistic", "eval_metric": "auc", "nthread": 1},
        _matrix(train),
        min(int(settings["num_round"]), longest),
        evals=[(_matrix(validation), "validation")],
        evals_result=found,
        verbose_eval=False,
    )
    curve: list[float] = found["validation"]["auc"]
    return curve


def train_several(trials: Sequence[int], arguments: tuple[int, str, str]) -> list[dict[str, Any]]:
    """Train random settings of `RANGES`, drawn by the trials' numbers; the arguments are `train_curve`'s."""
    settings = {trial: dict(random_settings(_SEED, trial, RANGES)) for trial in trials}
    return [
        {"trial": trial, "settings": each, "auc": train_curve(each, *arguments)}
        for trial, each in settings.items()
    ]


@cache
def _matrix(folder: str) -> Any:
    import xgboost

    parts = [np.loadtxt(path, np.float32, delimiter=",") for path in sorted(Path(folder).iterdir())]
    rows = np.concatenate(parts)
    return xgboost.DMatrix(rows[:, 1:], rows[:, 0], nthread=1)
