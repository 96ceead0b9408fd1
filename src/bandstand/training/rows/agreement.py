"""What ranks tell each other about a channel, and what it proves wrong."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from bandstand.sagemaker_files import Channel
from bandstand.training.rows.differences import differing, differing_names
from bandstand.training.rows.files import ChannelFiles
from bandstand.training.rows.formats import TITLES, Kind
from bandstand.training.rows.labels import LabelSummary, summarize_labels
from bandstand.training.rows.places import Fault, Place
from bandstand.training.rows.table import Reading

_NAMES = 200
"""Names of columns that ranks tell each other."""


@dataclass(frozen=True)
class Facts:
    """One rank's part of one channel.

    Args:
        present: Whether this rank's host has the channel.
        replicated: Whether every host has every file.
        listing: Digest of the names and sizes of the host's data files.
        files: How many data files the host has.
        size: Their bytes.
        packed: How many of them are packed.
        skipped: Names of files that are no data.
        rows: Rows of this rank.
        kind: What the files hold; None without files.
        columns: Columns of a row, whatever they hold; 0 without rows, and for libsvm.
        others: How many of them are no features.
        names: Names of the first columns; empty if they have none.
        naming: Digest of all names.
        lowest: The lowest index of a feature in libsvm; None if there is none.
        highest: The highest one; -1 if there is none.
        groups: Query groups of this rank; None without queries.
        weighted: Whether rows have weights.
        origin: Where the first row stands.
        faults: What is wrong: file, line, text.
        more: How many more faults there are.
        doubts: What may be wrong.
        labels: What the labels are like.
    """

    present: bool
    replicated: bool
    listing: str
    files: int
    size: int
    packed: int
    skipped: tuple[str, ...]
    rows: int
    kind: Kind | None
    columns: int
    others: int
    names: tuple[str, ...]
    naming: str
    lowest: int | None
    highest: int
    groups: int | None
    weighted: bool
    origin: Place | None
    faults: tuple[Fault, ...]
    more: int
    doubts: tuple[Fault, ...]
    labels: LabelSummary

    @classmethod
    def of(cls, channel: Channel | None, files: ChannelFiles, reading: Reading) -> Facts:
        """The facts that one rank has found out."""
        return cls(
            present=channel is not None,
            replicated=channel is not None and channel.distribution == "FullyReplicated",
            listing=_digest([(file.name, file.size) for file in files.data]),
            files=len(files.data),
            size=files.size,
            packed=sum(file.zipped for file in files.data),
            skipped=files.skipped[:5],
            rows=len(reading.rows),
            kind=files.kind,
            columns=reading.columns,
            others=reading.columns - reading.rows.columns if reading.columns else 0,
            names=reading.names[:_NAMES],
            naming=_digest(reading.names),
            lowest=reading.lowest,
            highest=reading.highest,
            groups=None if reading.rows.groups is None else len(reading.rows.groups),
            weighted=reading.rows.weights is not None,
            origin=reading.origin,
            faults=reading.faults,
            more=reading.more,
            doubts=reading.doubts,
            labels=summarize_labels(reading.rows.labels),
        )

    def as_json(self) -> dict[str, Any]:
        """The facts as JSON carries them."""
        return asdict(self)

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Facts:
        """The facts that another rank has sent."""
        origin, labels = document["origin"], document["labels"]
        counts = labels["counts"]
        return cls(
            **{
                **document,
                "origin": None if origin is None else Place(*origin),
                "names": tuple(document["names"]),
                "skipped": tuple(document["skipped"]),
                "faults": tuple(Fault(**fault) for fault in document["faults"]),
                "doubts": tuple(Fault(**doubt) for doubt in document["doubts"]),
                "labels": LabelSummary(
                    **{
                        **labels,
                        "counts": None if counts is None else [(value, rows) for value, rows in counts],
                    }
                ),
            }
        )


def _digest(content: object) -> str:
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:16]


def find_problems(
    places: Sequence[str], facts: Mapping[str, Sequence[Facts]], required: Sequence[str]
) -> tuple[list[str], int]:
    """Everything that is wrong with the channels, as far as all ranks together can tell.

    Args:
        places: What each rank is called in a message: its host, or host and rank.
        facts: Channel to the facts of each rank, in rank order.
        required: Channels that need rows.

    Returns:
        What is wrong, one text for each fault, and how many more faults there are.
    """
    problems = []
    for name, ranks in facts.items():
        found: dict[str, list[str]] = {}
        for place, fact in zip(places, ranks, strict=True):
            for fault in fact.faults:
                found.setdefault(str(fault), []).append(place)
        problems += [f"{_all_of(where)}: {fault}" for fault, where in found.items()]
        problems += _unequal(name, places, ranks)
        clean = not any(fact.faults for fact in ranks)
        if name in required and clean and not any(fact.rows for fact in ranks):
            problems.append(_empty(name, places, ranks))
    filled = [
        (fact, name, place)
        for name, ranks in facts.items()
        for place, fact in zip(places, ranks, strict=True)
        if fact.origin is not None
    ]
    problems += _differences(filled)
    return problems, sum(fact.more for ranks in facts.values() for fact in ranks)


def _all_of(places: Sequence[str]) -> str:
    """Ranks that found the same fault, short enough for a failure reason however many they are."""
    if len(places) > 3:
        return f"{places[0]} and {len(places) - 1} others"
    return ", ".join(places)


def _unequal(name: str, places: Sequence[str], ranks: Sequence[Facts]) -> Iterator[str]:
    first = ranks[0]
    for place, fact in zip(places, ranks, strict=True):
        if fact.present and fact.replicated and first.replicated and fact.listing != first.listing:
            yield (
                f"channel {name!r} is replicated, but {places[0]} has {first.files} files of {first.size} "
                f"bytes and {place} has {fact.files} of {fact.size} bytes, or other names: rows would "
                "be lost or used twice. Give every host the same files, or declare the channel as "
                "ShardedByS3Key."
            )
            return


def _empty(name: str, places: Sequence[str], ranks: Sequence[Facts]) -> str:
    if not any(fact.present for fact in ranks):
        return f"the job has no channel {name!r}; rows are read from it. Add it to the job."
    seen = "; ".join(
        f"{place} has {fact.files} files of {fact.size} bytes"
        + (f", skipped {', '.join(fact.skipped)}" if fact.skipped else "")
        for place, fact in zip(places, ranks, strict=True)
    )
    return f"channel {name!r} has no rows: {seen}. Check the channel's path."


def _differences(filled: Sequence[tuple[Facts, str, str]]) -> Iterator[str]:
    """Ranks and channels whose rows do not go together with the first that has rows.

    Args:
        filled: Facts, channel and place of each rank that has rows of a channel.
    """
    for fact, _, place in filled:
        first, _, first_place = filled[0]
        there = f"{first.origin} ({first_place})"
        text = None
        if fact.kind != first.kind:
            text = (
                f"it is {TITLES[fact.kind or 'csv']}, but {there} is {TITLES[first.kind or 'csv']}. All "
                "channels need files of one kind."
            )
        elif fact.columns != first.columns:
            text = differing(fact.columns, first.columns, there)
        elif fact.naming != first.naming:
            text = differing_names(fact.names, first.names, there)
        if text and fact.origin:
            yield f"{place}: {Fault.at(fact.origin, text)}"
    for channel in dict.fromkeys(name for _, name, _ in filled):
        own = [(fact, place) for fact, name, place in filled if name == channel]
        without = [place for fact, place in own if fact.groups is None]
        if without and len(without) < len(own):
            yield (
                f"channel {channel!r} has queries (qid) on some hosts only; {', '.join(without)} has none. "
                "Give every row its query, or none."
            )


@dataclass(frozen=True)
class Indices:
    """How the indices of libsvm files become columns.

    Args:
        base: The index of the first feature.
        width: How many features there are.
    """

    base: int
    width: int


def settle_indices(facts: Sequence[Facts], base: int | None) -> Indices | None:
    """Agree on the index of the first feature and the number of features.

    If any index anywhere is 0, indices count from 0, else from 1, as the format has it. A shard alone cannot
    tell: its rows may just lack the first feature.

    Args:
        facts: Of all ranks and channels.
        base: What the job says; None for nothing.

    Returns:
        The agreement, the same on every rank; None if the rows are no libsvm.
    """
    rows = [fact for fact in facts if fact.rows and fact.kind == "libsvm"]
    if not rows:
        return None
    if base is None:
        base = 0 if any(fact.lowest == 0 for fact in rows) else 1
    return Indices(base, max(fact.highest for fact in rows) + 1 - base)
