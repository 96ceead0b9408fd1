"""Which rows are trained on in which step: one order for all ranks, the same however rows are spread."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bandstand.errors import JobError


@dataclass(frozen=True, eq=False)
class Batch:
    """One step's rows.

    Args:
        step: From 1, in its epoch.
        rows: Array of this rank's row numbers, from 0 in what this rank holds; may be empty.
        total: Rows of the step on all ranks.
    """

    step: int
    rows: NDArray[np.int64]
    total: int


class Batches:
    """Deals the rows of all ranks out in batches, in a new order each epoch.

    The order is drawn over all rows by seed and epoch, and cut into batches of `size` rows (the last may be
    smaller), so that every row is used once an epoch and a batch has the same rows whatever the number of
    ranks. Where every rank holds all rows, a batch is split evenly; where each holds its own, a rank takes
    those of its own that are in it. What a rank holds counts from the rank before it.

    Args:
        counts: Rows that each rank holds, in rank order; one number if every rank holds all of them.
        size: Rows of a batch on all ranks.
        position: This rank.
        ranks: How many ranks there are.
        seed: Of the order.

    Raises:
        JobError: If there are no rows, or the numbers do not fit together.
    """

    def __init__(self, counts: Sequence[int] | int, size: int, position: int, ranks: int, seed: int) -> None:
        self._everywhere = isinstance(counts, int)
        per_rank = [counts] if isinstance(counts, int) else list(counts)
        self.rows = sum(per_rank)
        if self.rows < 1 or size < 1 or not 0 <= position < ranks or len(per_rank) not in (1, ranks):
            raise JobError(
                f"Batches(): {per_rank} rows on {ranks} ranks in batches of {size} cannot be dealt out to "
                f"rank {position}: there must be rows, a count for each rank, and 1 or more rows in a batch."
            )
        self._size = size
        self._position = position
        self._ranks = ranks
        self._seed = seed
        self._first = 0 if self._everywhere else sum(per_rank[:position])
        self._own = self.rows if self._everywhere else per_rank[position]

    @property
    def steps(self) -> int:
        """Steps of an epoch."""
        return -(-self.rows // self._size)

    def epoch(self, number: int, after: int = 0) -> Iterator[Batch]:
        """The steps of one epoch.

        Args:
            number: The epoch, from 1.
            after: Steps that have been done already.
        """
        order = np.random.default_rng([self._seed, number]).permutation(self.rows)
        edges = np.minimum(np.arange(self.steps + 1) * self._size, self.rows)
        if self._everywhere:
            for step in range(after, self.steps):
                first, total = int(edges[step]), int(edges[step + 1] - edges[step])
                low, high = (total * part // self._ranks for part in (self._position, self._position + 1))
                yield Batch(step + 1, order[first + low : first + high], total)
            return
        places = np.flatnonzero((order >= self._first) & (order < self._first + self._own))
        mine = order[places] - self._first
        cuts = np.searchsorted(places, edges)
        for step in range(after, self.steps):
            yield Batch(step + 1, mine[cuts[step] : cuts[step + 1]], int(edges[step + 1] - edges[step]))
