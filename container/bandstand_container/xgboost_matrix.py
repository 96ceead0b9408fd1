"""Rows as XGBoost keeps them, with what they need to be ranked or weighed."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import xgboost

from bandstand.training.rows import LoadedChannel, Rows
from bandstand_container.xgboost_settings import Settings

INDEX_BASE = "index_base"
"""The model's attribute that tells which index the first feature had in libsvm files: "0" or "1"."""


def matrix_of(rows: Rows, settings: Settings) -> xgboost.DMatrix:
    """Rows as XGBoost keeps them; without rows one that counts nowhere, since it takes no empty ones."""
    threads = int(settings.parameters.get("nthread", "0")) or None
    if not len(rows):
        return xgboost.DMatrix(np.full((1, rows.columns), np.nan, np.float32), [0.0], nthread=threads)
    return xgboost.DMatrix(
        rows.features,
        rows.labels,
        weight=rows.group_weights,
        group=rows.groups,
        nthread=threads,
    )


def note_index_base(booster: xgboost.Booster, base: int | None) -> None:
    """Record with the model which index the first feature had, so that other rows can be read likewise.

    Args:
        booster: The model.
        base: The index, None if the rows are no libsvm.
    """
    if base is not None:
        booster.set_attr(**{INDEX_BASE: str(base)})


def query_problems(settings: Settings, channels: Mapping[str, LoadedChannel], ranks: int) -> list[str]:
    """What is wrong with query groups, the same on all ranks.

    Args:
        settings: What to train.
        channels: This rank's rows.
        ranks: Ranks that train together.
    """
    objective = settings.parameters.get("objective", "")
    is_ranking = objective.startswith("rank:")
    problems = []
    for name, channel in channels.items():
        grouped, weighted = channel.rows.groups is not None, channel.rows.weights is not None
        if is_ranking and not grouped and ranks > 1:
            problems.append(
                f"channel {name!r} has no query groups, so that for {objective} all its rows are one group, "
                "which cannot be split over ranks. Give libsvm rows their qid, or name the query's column "
                "with the hyperparameter qid."
            )
        if grouped and weighted and not is_ranking:
            problems.append(
                f"channel {name!r} has weights and query groups, which XGBoost takes as one weight for each "
                "group; only objectives for ranking, such as rank:ndcg, can use these. Leave one of them out."
            )
    return problems
