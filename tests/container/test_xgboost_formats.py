"""Formats of SageMaker XGBoost, whole jobs on several hosts: each row once, and the values of one process."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import xgboost
from numpy.typing import NDArray

Rows = NDArray[np.float32]
BINARY = {"num_round": 4, "objective": "binary:logistic", "eval_metric": "auc,logloss"}


def as_libsvm(rows: Rows, base: int, queries: Any = None, weights: Any = None) -> bytes:
    """Rows as libsvm, zeros left out."""
    lines = []
    for number, row in enumerate(rows):
        fields = [f"{row[0]:g}" if weights is None else f"{row[0]:g}:{weights[number]:g}"]
        fields += [] if queries is None else [f"qid:{queries[number]}"]
        fields += [f"{base + place}:{float(value)!r}" for place, value in enumerate(row[1:]) if value]
        lines.append(" ".join(fields))
    return "\n".join(lines).encode() + b"\n"


def sparse(rows: Rows) -> Rows:
    """Features as libsvm has them: what is zero is missing."""
    features = rows[:, 1:].copy()
    features[features == 0] = np.nan
    return features


def one_process(model: Path, matrix: Any, metrics: list[str]) -> dict[str, float]:
    booster = xgboost.Booster({"nthread": 1})
    booster.load_model(bytearray(model.read_bytes()))
    booster.set_param([("eval_metric", metric) for metric in metrics])
    parts = [part.rpartition(":") for part in booster.eval(matrix, "x").split("\t")[1:]]
    return {name.removeprefix("x-"): float(value) for name, _, value in parts}


def check_last(job: Any, channel: str, matrix: Any, metrics: list[str]) -> None:
    expected = one_process(job.leader.model, matrix, metrics)
    for metric in metrics:
        assert job.reports[-1][f"{channel}:{metric}"] == pytest.approx(expected[metric], abs=1e-9, rel=0)


def test_shards_of_libsvm_agree_on_index_base_and_width_and_the_model_records_the_base(
    jobs: Any, campaign: Rows
) -> None:
    rows = campaign[:1200].copy()
    rows[:400, 1] = 0  # no index 0 on the first host
    rows[400:800, -2:] = 0  # lower highest index on the second one
    shards = [{"a.libsvm": as_libsvm(rows[at : at + 400], 0)} for at in (0, 400, 800)]
    job = jobs.run(
        {**BINARY, "train_metrics": "true"},
        sharded={"train": shards, "validation": [None, {"v.svm": as_libsvm(rows[:300], 0)}, None]},
        content_type=None,
    )
    width = rows.shape[1] - 1
    assert (
        f"libsvm: {width} features; the first one has the index 0, settled over all files" in job.leader.err
    )
    assert "channel train: 1200 rows in all" in job.leader.err
    check_last(job, "train", xgboost.DMatrix(sparse(rows), rows[:, 0], nthread=1), ["auc", "logloss"])
    check_last(job, "validation", xgboost.DMatrix(sparse(rows[:300]), rows[:300, 0], nthread=1), ["auc"])
    booster = xgboost.Booster(model_file=bytearray(job.leader.model.read_bytes()))
    assert booster.attr("index_base") == "0"
    assert booster.num_features() == width


def test_row_groups_of_parquet_are_split_and_columns_are_found_by_name(
    jobs: Any, campaign: Rows, tmp_path: Path
) -> None:
    rows = campaign[:1500]
    weights = 1 + np.arange(len(rows)) % 3
    table = {f"f{place}": column for place, column in enumerate(rows[:, 1:].T)}
    pq.write_table(
        pa.table({**table, "w": weights, "y": rows[:, 0] > 0}), tmp_path / "a.pq", row_group_size=100
    )
    job = jobs.run(
        {**BINARY, "label": "y", "weight": "w"},
        replicated={"train": {"a.parquet": (tmp_path / "a.pq").read_bytes(), "_metadata": b""}},
        content_type="application/x-parquet",
    )
    assert "1500 rows in all (replicated, split over all ranks), algo-1: 500, algo-2: 500" in job.leader.err
    matrix = xgboost.DMatrix(rows[:, 1:], rows[:, 0], weight=weights, nthread=1)
    check_last(job, "train", matrix, ["auc", "logloss"])


def test_query_groups_stay_whole_and_ranking_metrics_are_exact(jobs: Any, campaign: Rows) -> None:
    rows = campaign[:1000].copy()
    rows[:, 0] = np.arange(1000) * 7 % 5
    sizes = [1, 99, 200, 37, 63, 150, 150, 3, 197, 100]
    queries = np.repeat(np.arange(10), sizes)
    weights = 1 + queries % 4
    metrics = ["ndcg", "ndcg@3", "auc"]
    job = jobs.run(
        {"num_round": 4, "objective": "rank:ndcg", "eval_metric": ",".join(metrics)},
        replicated={"train": {"a": as_libsvm(rows, 1, queries, weights)}},
        content_type="text/libsvm",
    )
    assert "channel train: 10 query groups, each whole on one rank." in job.leader.err
    matrix = xgboost.DMatrix(sparse(rows), rows[:, 0], group=sizes, nthread=1)
    matrix.set_weight(1 + np.arange(10) % 4)
    check_last(job, "train", matrix, metrics)
    assert xgboost.Booster(model_file=bytearray(job.leader.model.read_bytes())).attr("index_base") == "1"


def test_sparse_rows_move_to_a_leader_that_has_none(jobs: Any, campaign: Rows) -> None:
    rows = campaign[:600].copy()
    rows[:, 0] = np.arange(600) % 3
    shards = [None, {"a.svm": as_libsvm(rows[:300], 1, np.arange(300) // 30)}, None]
    shards[2] = {"b.svm": as_libsvm(rows[300:], 1, np.arange(300) // 30)}
    held_out = as_libsvm(rows[:90], 1, np.arange(90) // 30)
    job = jobs.run(
        {"num_round": 3, "objective": "rank:ndcg", "eval_metric": "ndcg"},
        sharded={
            "train": shards,
            "validation": [None, None, {"v.svm": held_out}],
        },
        content_type=None,
    )
    assert "algo-2 hands its rows of train to algo-1." in job.leader.err
    matrix = xgboost.DMatrix(sparse(rows[:90]), rows[:90, 0], group=[30] * 3, nthread=1)
    check_last(job, "validation", matrix, ["ndcg"])


def test_packed_files_with_headers_and_weights_are_dealt_out_whole(
    jobs: Any, campaign: Rows, to_csv: Callable[[Rows], bytes]
) -> None:
    rows = np.column_stack([campaign[:900, 0], 1 + np.arange(900) % 2, campaign[:900, 1:]]).astype(np.float32)
    header = ",".join(["y", "w", *(f"f{place}" for place in range(rows.shape[1] - 2))]).encode() + b"\n"
    files = {f"{at}.csv.gz": gzip.compress(header + to_csv(rows[at : at + 150])) for at in range(0, 900, 150)}
    job = jobs.run(
        {**BINARY, "csv_weights": 1, "header": "true"}, 2, replicated={"train": files}, content_type=None
    )
    found = re.search(
        r"900 rows in all \(replicated, split over all ranks\), algo-1: (\d+), algo-2: (\d+)", job.leader.err
    )
    assert found
    assert {int(found[1]) % 150, int(found[2]) % 150} == {0}
    matrix = xgboost.DMatrix(rows[:, 2:], rows[:, 0], weight=rows[:, 1], nthread=1)
    check_last(job, "train", matrix, ["auc", "logloss"])


def test_a_class_that_is_missing_in_one_shard_is_trained_all_the_same(
    jobs: Any, campaign: Rows, to_csv: Callable[[Rows], bytes]
) -> None:
    rows = campaign[:600].copy()
    rows[:, 0] = np.arange(600) % 2
    rows[300:, 0] += 1
    job = jobs.run(
        {"num_round": 3, "objective": "multi:softprob", "num_class": 3, "eval_metric": "mlogloss,merror"},
        2,
        sharded={"train": [{"a.csv": to_csv(rows[:300])}, {"b.csv": to_csv(rows[300:])}]},
    )
    check_last(job, "train", xgboost.DMatrix(rows[:, 1:], rows[:, 0], nthread=1), ["mlogloss", "merror"])


def test_channels_that_do_not_go_together_and_ranking_without_queries_are_refused(
    jobs: Any, campaign: Rows, to_csv: Callable[[Rows], bytes]
) -> None:
    csv = to_csv(campaign[:50])
    reason = jobs.fail(
        BINARY,
        2,
        replicated={"train": {"a.csv": csv}, "validation": {"v.svm": b"1 1:2\n"}},
        content_type=None,
    )
    assert "v.svm, line 1: it is libsvm, but " in reason
    assert "a.csv, line 1 (algo-1) is CSV. All channels need files of one kind." in reason
    files = {"a.csv.gz": gzip.compress(csv)}
    job = jobs.run(BINARY, 2, replicated={"train": files}, content_type=None)
    assert "warning: channel train has fewer parts than ranks" in job.leader.err
    reason = jobs.fail({**BINARY, "objective": "rank:ndcg"}, 2, replicated={"train": {"a.csv": csv}})
    assert "channel 'train' has no query groups" in reason
