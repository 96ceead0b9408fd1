"""Which ranks form the ring: those with rows to train on, and the leader, to which rows move if need be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bandstand.training.output import note
from bandstand.training.ring import Ring, join_ring
from bandstand.training.rows import LoadedChannel, Rows, rank_names
from bandstand.training.rows.moving import Shape, arrays_of, joined, rows_of
from bandstand.training.rows.table import no_rows
from bandstand.training.run import Run

_CHUNK = 4 << 20
"""Bytes that are sent at a time."""


@dataclass(frozen=True)
class Move:
    """All rows that one rank has of one channel go to another rank.

    Args:
        channel: The channel's name.
        source: The rank that has them.
        target: The rank that gets them.
    """

    channel: str
    source: int
    target: int


@dataclass(frozen=True)
class LineUp:
    """Who takes part.

    Args:
        members: The ranks of the ring, ascending; each has rows to train on, and the first is the leader.
        moves: What has to move before, in order.
    """

    members: tuple[int, ...]
    moves: tuple[Move, ...]


def line_up(counts: Mapping[str, Sequence[int]], train: str = "train") -> LineUp:
    """Choose the ranks of the ring.

    A rank without rows to train on does not take part, since XGBoost's result would depend on it: in 3.2.0
    dart with subsampling drops other trees there, and absolute and quantile error go wrong. The leader always
    takes part, since it prints the metrics and saves the model: if it has no rows, it gets all those of the
    first rank that has some. The ring's parts of the data, and their order, are then those of a job on fewer
    hosts.

    Args:
        counts: Channel to the rows of each rank; `train` has some.
        train: The channel that is trained on.
    """
    rows = list(counts[train])
    moves = []
    if not rows[0]:
        giver = next(rank for rank, count in enumerate(rows) if count)
        moves.append(Move(train, giver, 0))
        rows[0], rows[giver] = rows[giver], 0
    members = tuple(rank for rank, count in enumerate(rows) if count)
    for channel, of_ranks in counts.items():
        if channel != train:
            moves += [
                Move(channel, rank, 0) for rank, count in enumerate(of_ranks) if count and rank not in members
            ]
    return LineUp(members, tuple(moves))


def settle(
    run: Run, channels: Mapping[str, LoadedChannel], train: str = "train"
) -> tuple[tuple[int, ...], dict[str, LoadedChannel]]:
    """Choose the ranks of the ring and bring rows to them. Collective: every rank of the job calls it.

    Args:
        run: This rank.
        channels: As `rows.load` returns them.
        train: The channel that is trained on.

    Returns:
        The ranks of the ring, and this rank's rows from now on.
    """
    plan = line_up({name: channel.counts for name, channel in channels.items()}, train)
    settled = dict(channels)
    if plan.moves:
        movers = sorted({rank for move in plan.moves for rank in (move.source, move.target)})
        with join_ring(run, movers) as ring:
            for move in plan.moves:
                settled[move.channel] = _moved(run, ring, settled[move.channel], move)
    if run.is_leader:
        for line in _log_lines(plan, run):
            note(line)
    return plan.members, settled


def _moved(run: Run, ring: Ring | None, channel: LoadedChannel, move: Move) -> LoadedChannel:
    counts = list(channel.counts)
    counts[move.target] += counts[move.source]
    counts[move.source] = 0
    rows = channel.rows
    if ring is not None:
        got = _sent(ring, rows if run.rank == move.source else None, keep=run.rank == move.target)
        if run.rank == move.source:
            rows = no_rows(rows.columns)
        elif got is not None:
            rows = joined(rows, got)
    return replace(channel, rows=rows, counts=tuple(counts))


def _sent(ring: Ring, source: Rows | None, *, keep: bool) -> Rows | None:
    """Send rows around the ring, some at a time: one rank gives them, the others give zeros."""
    sizes = np.array(astuple(Shape.of(source)) if source else (0,) * len(fields(Shape)), np.int64)
    shape = Shape(*ring.sum(sizes).tolist())
    given = arrays_of(source) if source else []
    kept: list[NDArray[Any]] = []
    for place, (length, kind) in enumerate(shape.arrays()):
        got = np.empty(length if keep else 0, kind)
        step = _CHUNK // got.itemsize
        for start in range(0, length, step):
            part = np.zeros(min(step, length - start), kind)
            if given:
                part[:] = given[place][start : start + step]
            part = ring.sum(part)
            if keep:
                got[start : start + step] = part
        kept.append(got)
    return rows_of(shape, kept) if keep else None


def _log_lines(plan: LineUp, run: Run) -> list[str]:
    names = rank_names(run)
    lines = [
        f"{names[move.source]} hands its rows of {move.channel} to {names[move.target]}."
        for move in plan.moves
    ]
    aside = [names[rank] for rank in range(run.world_size) if rank not in plan.members]
    if aside:
        lines.append(f"without rows to train on, standing aside: {', '.join(aside)}.")
    return lines
