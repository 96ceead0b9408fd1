"""Batches hold the same rows whatever the number of ranks, and each row once an epoch."""

from __future__ import annotations

import numpy as np
import pytest

from bandstand.errors import JobError
from bandstand.training.batches import Batches


def dealt(counts: list[int] | int, size: int, ranks: int, epoch: int = 1, seed: int = 5) -> list[list[int]]:
    """The rows of each step, counted over all ranks in rank order."""
    every = [list(Batches(counts, size, rank, ranks, seed).epoch(epoch)) for rank in range(ranks)]
    assert len({len(steps) for steps in every}) == 1
    first = [0] * ranks if isinstance(counts, int) else np.cumsum([0, *counts[:-1]]).tolist()
    found = []
    for step in zip(*every, strict=True):
        rows = [int(row) + first[rank] for rank, batch in enumerate(step) for row in batch.rows]
        assert {batch.total for batch in step} == {len(rows)}
        found.append(sorted(rows))
    return found


@pytest.mark.parametrize("counts", [177, [101, 75, 1, 0], [0, 0, 177, 0], [44, 45, 44, 44]])
def test_the_steps_of_four_ranks_are_those_of_one_however_rows_are_spread(counts):
    alone = dealt(177, 32, 1)
    assert dealt(counts, 32, 4) == alone
    assert sorted(row for step in alone for row in step) == list(range(177))
    assert [len(step) for step in alone] == [32] * 5 + [17]


def test_replicated_rows_are_split_evenly():
    sizes = [len(next(iter(Batches(100, 32, rank, 4, 1).epoch(1))).rows) for rank in range(4)]
    assert sizes == [8, 8, 8, 8]


def test_orders_differ_by_epoch_and_seed_and_are_the_same_each_time():
    orders = [dealt(50, 50, 1, epoch, seed) for epoch, seed in ((1, 1), (2, 1), (1, 2), (1, 1))]
    shuffled = [
        list(next(Batches(50, 50, 0, 1, seed).epoch(epoch)).rows) for epoch, seed in ((1, 1), (2, 1), (1, 2))
    ]
    assert orders[0] == orders[3]
    assert len({tuple(order) for order in shuffled}) == 3


@pytest.mark.parametrize("counts", [40, [30, 10]])
def test_an_epoch_goes_on_after_the_steps_that_are_done(counts):
    whole = [batch.rows.tolist() for batch in Batches(counts, 8, 1, 2, 3).epoch(2)]
    rest = [(batch.step, batch.rows.tolist()) for batch in Batches(counts, 8, 1, 2, 3).epoch(2, after=3)]
    assert rest == [(4, whole[3]), (5, whole[4])]


@pytest.mark.parametrize(("counts", "size"), [(0, 8), ([0, 0], 8), (8, 0), ([1, 2, 3], 8)])
def test_what_cannot_be_dealt_out_is_refused(counts, size):
    with pytest.raises(JobError, match="cannot be dealt out"):
        Batches(counts, size, 0, 2, 1)
