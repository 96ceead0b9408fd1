"""Load channels on all ranks together: every row once, checked, and told in the log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bandstand.errors import InputError
from bandstand.sagemaker_files import Channel
from bandstand.training.output import note
from bandstand.training.rows.agreement import Facts, find_problems
from bandstand.training.rows.faults import Fault
from bandstand.training.rows.files import ChannelFiles, list_files
from bandstand.training.rows.labels import describe_labels
from bandstand.training.rows.ranges import split
from bandstand.training.rows.reading import Reading, Rows, read_rows
from bandstand.training.run import Run

MAX_TOLD = 12
"""Faults that the error lists, all ranks together."""


@dataclass(frozen=True, eq=False)
class LoadedChannel:
    """A channel's rows on this rank, and how many the others have.

    Args:
        name: The channel's name.
        rows: The rows of this rank; its features have the agreed width even where there are no rows.
        counts: Rows of each rank, in rank order.
    """

    name: str
    rows: Rows
    counts: tuple[int, ...]


def load(
    run: Run, names: Sequence[str] = ("train",), optional: Sequence[str] = ()
) -> dict[str, LoadedChannel]:
    """Read this rank's rows of some channels. Collective: every rank calls it with the same names.

    A replicated channel is split by byte ranges over all ranks, so that each row is read once. Of a channel
    sharded by key, each host's own files are split over the ranks of that host. Everything is checked before
    anything is returned, and the leader logs rows per rank, rows in all, columns and the share of labels.

    Args:
        run: This rank.
        names: Channels that must have rows on some rank.
        optional: Channels that may be missing, on some hosts or on all.

    Returns:
        Name to channel, for those that have rows on some rank.

    Raises:
        InputError: With every fault of any rank (host, file, line, what to do), the same on all ranks.
    """
    everything = (*names, *optional)
    readings = {name: _read(run, run.channels.get(name)) for name in everything}
    mine = {name: facts.as_json() for name, (facts, _) in readings.items()}
    told = run.gather(mine)
    facts = {name: [Facts.from_json(rank[name]) for rank in told] for name in everything}
    places = rank_names(run)
    problems, more = find_problems(places, facts, names)
    if problems:
        raise InputError(_listed(problems, more))
    width = max(fact.columns for ranks in facts.values() for fact in ranks)
    loaded = {}
    for name, ranks in facts.items():
        counts = tuple(fact.rows for fact in ranks)
        if any(counts):
            rows = readings[name][1]
            if not len(rows):
                rows = Rows(np.empty(0, np.float32), np.empty((0, width - 1), np.float32))
            loaded[name] = LoadedChannel(name, rows, counts)
        if run.is_leader:
            for line in _log_lines(name, places, ranks, width):
                note(line)
    return loaded


def _read(run: Run, channel: Channel | None) -> tuple[Facts, Rows]:
    files, reading = ChannelFiles((), ()), read_rows(())
    if channel is None:
        return Facts.of(channel, files, reading), reading.rows
    try:
        files = list_files(channel)
        if channel.distribution == "FullyReplicated":
            share = split(files.data, run.rank, run.world_size)
        else:
            share = split(files.data, run.local_rank, run.local_size)
        reading = read_rows(share)
    except (InputError, OSError) as error:
        place = str(getattr(error, "filename", None) or channel.path)
        reading = Reading(reading.rows, (Fault(place, 0, str(error)),), 0, (), None, 0)
    return Facts.of(channel, files, reading), reading.rows


def rank_names(run: Run) -> list[str]:
    """What each rank is called in messages: by its host, and by its number if the host has several.

    Args:
        run: Any rank of the job.
    """
    hosts = [host for host in run.hosts for _ in range(run.local_size)]
    if run.local_size == 1:
        return hosts
    return [f"{host} rank {rank}" for rank, host in enumerate(hosts)]


def _listed(problems: list[str], more: int) -> str:
    hidden = len(problems[MAX_TOLD:]) + more
    count = len(problems) + more
    head = "The data cannot be used" + (":" if count == 1 else f", for {count} reasons:")
    lines = [head, *(f"  {problem}" for problem in problems[:MAX_TOLD])]
    if hidden:
        lines.append(f"  and {hidden} more.")
    return "\n".join(lines)


def _log_lines(name: str, places: Sequence[str], ranks: Sequence[Facts], width: int) -> list[str]:
    if not any(fact.present for fact in ranks):
        return []
    total = sum(fact.rows for fact in ranks)
    per_rank = ", ".join(f"{place}: {fact.rows}" for place, fact in zip(places, ranks, strict=True))
    how = "replicated, split by byte ranges" if any(fact.replicated for fact in ranks) else "sharded by key"
    text = f"channel {name}: {total} rows in all ({how}), {per_rank}"
    if total:
        labels = describe_labels([fact.labels for fact in ranks], [fact.rows for fact in ranks])
        text += f"; {width} columns (the label and {width - 1} features); {labels}."
    skipped = sorted({file for fact in ranks for file in fact.skipped})
    lines = [text]
    if skipped:
        lines.append(f"channel {name}: not read: {', '.join(skipped)}.")
    for place, fact in zip(places, ranks, strict=True):
        lines += [f"warning: {place}: {doubt}" for doubt in fact.doubts]
    return lines
