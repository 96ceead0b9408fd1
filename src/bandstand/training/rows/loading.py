"""Load channels on all ranks together: every row once, checked, and told in the log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from bandstand.errors import InputError
from bandstand.sagemaker_files import Channel
from bandstand.training.output import note
from bandstand.training.rows.agreement import Facts, Indices, find_problems, settle_indices
from bandstand.training.rows.columns import Columns
from bandstand.training.rows.files import ChannelFiles, list_files
from bandstand.training.rows.formats import TITLES
from bandstand.training.rows.labels import describe_labels
from bandstand.training.rows.libsvm_reading import settle_features
from bandstand.training.rows.places import Fault
from bandstand.training.rows.reading import read_share
from bandstand.training.rows.table import Rows, no_rows, nothing_read
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
        index_base: The index that the first feature has in libsvm files; None for other files.
    """

    name: str
    rows: Rows
    counts: tuple[int, ...]
    index_base: int | None = None


def load(
    run: Run,
    names: Sequence[str] = ("train",),
    optional: Sequence[str] = (),
    columns: Columns | None = None,
) -> dict[str, LoadedChannel]:
    """Read this rank's rows of some channels. Collective: every rank calls it with the same names.

    A replicated channel is split over all ranks, so that each row is read once: text by byte ranges, Parquet
    by row groups, packed files whole. Of a channel sharded by key, each host's own files are split over the
    ranks of that host. Everything is checked before anything is returned, and the leader logs rows per rank,
    rows in all, columns and the share of labels.

    Args:
        run: This rank.
        names: Channels that must have rows on some rank.
        optional: Channels that may be missing, on some hosts or on all.
        columns: Which columns are label, weight and query.

    Returns:
        Name to channel, for those that have rows on some rank.

    Raises:
        InputError: With every fault of any rank (host, file, line, what to do), the same on all ranks.
    """
    everything = (*names, *optional)
    columns = columns or Columns()
    readings = {name: _read(run, run.channels.get(name), columns) for name in everything}
    mine = {name: facts.as_json() for name, (facts, _) in readings.items()}
    gathered = run.gather(mine)
    facts = {name: [Facts.from_json(rank[name]) for rank in gathered] for name in everything}
    places = rank_names(run)
    problems, more = find_problems(places, facts, names)
    if problems:
        raise InputError(_listed(problems, more))
    all_facts = [fact for ranks in facts.values() for fact in ranks]
    indices = settle_indices(all_facts, columns.index_base)
    loaded = {}
    for name, ranks in facts.items():
        counts = tuple(fact.rows for fact in ranks)
        if any(counts):
            rows = _agreed(readings.pop(name)[1], ranks, all_facts, indices)
            loaded[name] = LoadedChannel(name, rows, counts, indices.base if indices else None)
        if run.is_leader:
            for line in _log_lines(name, places, ranks, columns):
                note(line)
    if indices and run.is_leader:
        said = "as index_base says" if columns.index_base is not None else "settled over all files"
        note(f"libsvm: {indices.width} features; the first one has the index {indices.base}, {said}.")
        if (columns.label, columns.query) != (Columns.label, None):
            note("label and qid name columns, which libsvm files have not: they have no effect.")
    return loaded


def _agreed(rows: Rows, ranks: Sequence[Facts], everything: Sequence[Facts], indices: Indices | None) -> Rows:
    """This rank's rows in the form that all ranks have agreed on."""
    width = max(fact.columns for fact in everything)
    others = next(fact.others for fact in everything if fact.rows)
    if indices:
        rows = settle_features(rows, indices.base, indices.width)
    elif not len(rows):
        rows = no_rows(width - others)
    if rows.weights is None and any(fact.weighted for fact in ranks):
        rows = replace(rows, weights=np.ones(len(rows), np.float32))
    if rows.groups is None and any(fact.groups is not None for fact in ranks):
        rows = replace(rows, groups=np.empty(0, np.int64))
    return rows


def _read(run: Run, channel: Channel | None, columns: Columns) -> tuple[Facts, Rows]:
    files, reading = ChannelFiles((), ()), nothing_read()
    if channel is None:
        return Facts.of(channel, files, reading), reading.rows
    try:
        files = list_files(channel)
        own = columns if files.header is None else replace(columns, header=files.header)
        part, parts = run.rank, run.world_size
        if channel.distribution != "FullyReplicated":
            part, parts = run.local_rank, run.local_size
        if files.kind:
            reading = read_share(files.data, part, parts, files.kind, own)
    except (InputError, OSError) as error:
        place = str(getattr(error, "filename", None) or channel.path)
        reading = nothing_read([Fault(place, 0, str(error))])
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


def _log_lines(name: str, places: Sequence[str], ranks: Sequence[Facts], columns: Columns) -> list[str]:
    if not any(fact.present for fact in ranks):
        return []
    total = sum(fact.rows for fact in ranks)
    per_rank = ", ".join(f"{place}: {fact.rows}" for place, fact in zip(places, ranks, strict=True))
    how = "replicated, split over all ranks" if any(fact.replicated for fact in ranks) else "sharded by key"
    text = f"channel {name}: {total} rows in all ({how}), {per_rank}"
    if total:
        labels = describe_labels([fact.labels for fact in ranks], [fact.rows for fact in ranks])
        text += f"; {_described(ranks, columns)}; {labels}."
    skipped = sorted({file for fact in ranks for file in fact.skipped})
    lines = [text]
    groups = [fact.groups for fact in ranks if fact.groups is not None]
    if groups:
        lines.append(f"channel {name}: {sum(groups)} query groups, each whole on one rank.")
    if skipped:
        lines.append(f"channel {name}: not read: {', '.join(skipped)}.")
    in_parts = groups or any(fact.packed or fact.kind == "parquet" for fact in ranks)
    if in_parts and any(fact.replicated and not fact.rows for fact in ranks):
        lines.append(
            f"warning: channel {name} has fewer parts than ranks, so that some ranks have no rows: row "
            "groups of Parquet, packed files and queries are not split. Write more and smaller ones."
        )
    for place, fact in zip(places, ranks, strict=True):
        lines += [f"warning: {place}: {doubt}" for doubt in fact.doubts]
    return lines


def _described(ranks: Sequence[Facts], columns: Columns) -> str:
    """What the rows of a channel are like, whatever they hold."""
    first = next(fact for fact in ranks if fact.rows)
    kind = TITLES[first.kind or "csv"]
    if not first.columns:
        return kind + (" with weights" if any(fact.weighted for fact in ranks) else "")
    said = (("label", columns.label), ("weight", columns.weight), ("query", columns.query))
    own = [f"{what} in column {column}" for what, column in said if column is not None]
    return f"{kind}, {first.columns} columns ({', '.join(own)}, {first.columns - first.others} features)"
