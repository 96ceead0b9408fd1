"""What ranks tell each other about a channel, and what it proves wrong."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from bandstand.sagemaker_files import Channel
from bandstand.training.rows.faults import Fault
from bandstand.training.rows.files import ChannelFiles
from bandstand.training.rows.labels import LabelSummary, summarize_labels
from bandstand.training.rows.reading import Reading, differing


@dataclass(frozen=True)
class Facts:
    """One rank's part of one channel.

    Args:
        present: Whether this rank's host has the channel.
        replicated: Whether every host has every file.
        listing: Digest of the names and sizes of the host's data files.
        files: How many data files the host has.
        size: Their bytes.
        skipped: Names of files that are no data.
        read: Bytes that this rank's ranges have.
        rows: Rows of this rank.
        columns: Columns of a row, the label included; 0 without rows.
        origin: File and line of the first row.
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
    skipped: tuple[str, ...]
    read: int
    rows: int
    columns: int
    origin: tuple[str, int] | None
    faults: tuple[Fault, ...]
    more: int
    doubts: tuple[Fault, ...]
    labels: LabelSummary

    @classmethod
    def of(cls, channel: Channel | None, files: ChannelFiles, reading: Reading) -> Facts:
        """The facts that one rank has found out."""
        listing = json.dumps([(file.name, file.size) for file in files.data])
        return cls(
            present=channel is not None,
            replicated=channel is not None and channel.distribution == "FullyReplicated",
            listing=hashlib.sha256(listing.encode()).hexdigest()[:16],
            files=len(files.data),
            size=files.size,
            skipped=files.skipped[:5],
            read=sum(part.stop - part.start for part in reading.rows.ranges),
            rows=len(reading.rows),
            columns=reading.columns,
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
                "origin": None if origin is None else (origin[0], origin[1]),
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
        for place, fact in zip(places, ranks, strict=True):
            problems += [f"{place}: {fault}" for fault in fact.faults]
        problems += _unequal(name, places, ranks)
        clean = not any(fact.faults for fact in ranks)
        if name in required and clean and not any(fact.rows for fact in ranks):
            problems.append(_empty(name, places, ranks))
    problems += _widths(places, facts)
    return problems, sum(fact.more for ranks in facts.values() for fact in ranks)


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


def _widths(places: Sequence[str], facts: Mapping[str, Sequence[Facts]]) -> Iterator[str]:
    """Ranks and channels whose rows differ in width from the first that has rows."""
    known: tuple[int, str] | None = None
    for ranks in facts.values():
        for place, fact in zip(places, ranks, strict=True):
            if not fact.columns or fact.origin is None:
                continue
            file, line = fact.origin
            if known is None:
                known = (fact.columns, f"{file}, line {line} ({place})")
            elif fact.columns != known[0]:
                yield f"{place}: {Fault(file, line, differing(fact.columns, *known))}"
