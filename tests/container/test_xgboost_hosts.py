"""Hosts with and without rows: each row counts once, and nobody waits for a host that has nothing."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.float32]
SETTINGS = {
    "num_round": 5,
    "objective": "binary:logistic",
    "booster": "dart",
    "rate_drop": 0.5,
    "subsample": 0.6,
    "eval_metric": "auc",
    "seed": 5,
}


def counts(log: str, channel: str) -> tuple[int, list[int]]:
    """Rows in all and of each host, as the log tells."""
    found = re.search(rf"channel {channel}: (\d+) rows in all \(.+?\), (.+?);", log)
    assert found, log
    return int(found[1]), [int(part.rpartition(" ")[2]) for part in found[2].split(", ")]


def test_replicated_rows_are_shared_out_once_and_the_log_tells(
    jobs: Any, campaign: Rows, to_csv: Callable[[Rows], bytes]
) -> None:
    text = to_csv(campaign[:1000])
    job = jobs.run(
        SETTINGS,
        replicated={
            "train": {
                "a.csv": text[:-1],
                "b.csv": b"",
                "c.csv": text.replace(b"\n", b"\r\n"),
                "_SUCCESS": b"",
            },
            "validation": {"v.csv": to_csv(campaign[:2])},
        },
    )
    total, of_hosts = counts(job.leader.err, "train")
    assert total == sum(of_hosts) == 2000
    assert all(600 < rows < 740 for rows in of_hosts)
    assert counts(job.leader.err, "validation")[0] == 2
    share = 100 * campaign[:1000, 0].mean()
    columns = campaign.shape[1]
    assert f"{columns} columns (label in column 1, {columns - 1} features)" in job.leader.err
    assert f"label 1 in {share:.2f} % of the rows" in job.leader.err
    assert "channel train: not read: _SUCCESS." in job.leader.err
    assert sorted(int(n) for n in re.findall(r"has (\d+) rows\.", job.log)) == sorted(of_hosts)


def test_training_with_hosts_that_have_no_rows_ends_as_on_fewer_hosts(
    jobs: Any, campaign: Rows, to_csv: Callable[[Rows], bytes]
) -> None:
    first, second = {"a.csv": to_csv(campaign[:1500])}, {"b.csv": to_csv(campaign[1500:])}
    held_out = {"v.csv": to_csv(campaign[::5])}
    fewer = jobs.run(SETTINGS, 2, sharded={"train": [first, second], "validation": [held_out, {}]})
    # The leader has a marker file only, the next two no validation channel, the last one nothing to train on.
    more = jobs.run(
        SETTINGS,
        4,
        sharded={
            "train": [{"_SUCCESS": b""}, first, second, {"empty.csv": b""}],
            "validation": [{}, None, None, held_out],
        },
    )
    assert more.leader.model.read_bytes() == fewer.leader.model.read_bytes()
    assert more.reports == fewer.reports
    assert counts(more.leader.err, "train") == (len(campaign), [0, 1500, len(campaign) - 1500, 0])
    assert "algo-2 hands its rows of train to algo-1" in more.leader.err
    assert "algo-4 hands its rows of validation to algo-1" in more.leader.err
    assert "without rows to train on, standing aside: algo-2, algo-4." in more.leader.err


def test_more_hosts_than_rows_and_several_ranks_on_a_host(
    jobs: Any, campaign: Rows, to_csv: Callable[[Rows], bytes]
) -> None:
    job = jobs.run(
        {"num_round": 2, "objective": "reg:squarederror"},
        2,
        replicated={"train": {"a.csv": to_csv(campaign[:3, :4])}},
        environment={"BANDSTAND_RANKS_PER_HOST": "3"},
    )
    total, of_ranks = counts(job.leader.err, "train")
    assert (total, len(of_ranks), max(of_ranks)) == (3, 6, 1)
    assert list(job.reports[-1]) == ["train:rmse"]
