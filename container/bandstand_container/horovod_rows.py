"""The labelled rows of the built-in Horovod classifier: MNIST's idx files, or CSV, libsvm and Parquet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bandstand.errors import InputError
from bandstand.sagemaker_files import Channel
from bandstand.training.output import note
from bandstand.training.rows import load, rank_names
from bandstand.training.rows.files import find_files
from bandstand.training.run import Run
from bandstand_container.idx_files import find_pairs, is_idx, read_pair

MAX_CLASSES = 10_000

_NAMED = 5
"""How many labels or files a note names."""


@dataclass(frozen=True, eq=False)
class Labelled:
    """The rows of one channel.

    Args:
        features: Array of shape (rows, features) that this rank holds: bytes of pixels, or single precision.
        labels: Array of shape (rows,) of classes, from 0.
        counts: Rows that each rank holds, in rank order; one number if every rank holds all rows.
    """

    features: NDArray[Any]
    labels: NDArray[np.int64]
    counts: tuple[int, ...] | int

    @property
    def total(self) -> int:
        """Rows of the channel."""
        return self.counts if isinstance(self.counts, int) else sum(self.counts)

    @property
    def scale(self) -> float:
        """What a feature is multiplied by: a byte of a pixel becomes a number from 0 to 1."""
        return 1 / 255 if self.features.dtype == np.uint8 else 1.0

    def share(self, position: int, ranks: int) -> slice:
        """The held rows that this rank evaluates, so that all ranks together evaluate each row once."""
        if not isinstance(self.counts, int):
            return slice(None)
        return slice(self.counts * position // ranks, self.counts * (position + 1) // ranks)


def load_labelled(run: Run) -> tuple[Labelled, Labelled | None, int]:
    """Read the channels `train` and `validation`. Collective: every rank calls it.

    Every rank holds all images of a replicated channel, a byte per pixel, so that a batch can be split
    evenly; of a channel sharded by key each host's images are split over its ranks. Other formats are read
    as `rows.load` does, each row on one rank.

    Args:
        run: This rank.

    Returns:
        The rows to train on, those to validate on if there are any, and the number of classes.

    Raises:
        InputError: With everything that is wrong on any rank, the same on all ranks.
    """
    names = ("train", "validation")
    own = [name for name in names if _holds_images(run.channels.get(name))]
    as_images = [name for name in names if any(name in found for found in run.gather(own))]
    others = [name for name in names if name not in as_images]
    problems: list[str] = []
    channels: dict[str, Labelled] = {}
    for name in as_images:
        channels |= _images(run, name, problems)
    _settle(run, problems)
    if others:
        wanted = [name for name in others if name == "train"]
        for name, channel in load(run, wanted, [name for name in others if name not in wanted]).items():
            features = channel.rows.features
            dense = features.toarray() if hasattr(features, "toarray") else features
            channels[name] = Labelled(dense, _classes(channel.rows.labels, name, problems), channel.counts)
            if not np.isfinite(dense).all():
                problems.append(f"channel {name} has features that are missing or not finite. Fill them in.")
    widths = {name: channel.features.shape[1] for name, channel in channels.items() if len(channel.labels)}
    if len(set(widths.values())) > 1:
        told = ", ".join(f"{name} {width}" for name, width in widths.items())
        problems.append(f"the channels differ in their number of features: {told}.")
    _settle(run, problems)
    return channels["train"], channels.get("validation"), _count_classes(run, channels)


def _count_classes(run: Run, channels: Mapping[str, Labelled]) -> int:
    """How many classes there are, by the labels of all ranks. Collective."""
    mine = {name: np.unique(channel.labels).tolist() for name, channel in channels.items()}
    found = run.gather(mine)
    seen = {name: {label for rank in found for label in rank.get(name, ())} for name in channels}
    if len(seen["train"]) == 1:
        raise InputError(
            f"All rows of channel train have the label {min(seen['train'])}: there is nothing to tell apart. "
            "Expected rows of two or more classes."
        )
    unseen = sorted(seen.get("validation", set()) - seen["train"])
    if unseen and run.is_leader:
        named = ", ".join(map(str, unseen[:_NAMED])) + (", ..." if len(unseen) > _NAMED else "")
        note(f"channel validation has labels that train has not, and no model can learn: {named}.")
    return 1 + max(max(labels, default=0) for labels in seen.values())


def _holds_images(channel: Channel | None) -> bool:
    return channel is not None and any(is_idx(file.name) for file in find_files(channel))


def _images(run: Run, name: str, problems: list[str]) -> dict[str, Labelled]:
    """A channel of idx files as this rank holds it."""
    channel = run.channels.get(name)
    pixels, labels = np.empty((0, 0), np.uint8), np.empty(0, np.int64)
    replicated = channel is None or channel.distribution == "FullyReplicated"
    if channel is not None:
        try:
            files = find_files(channel)
            pairs = find_pairs([file for file in files if is_idx(file.name)])
            _tell_others(run, name, [file.name for file in files if not is_idx(file.name)])
            read = [read_pair(images.path, numbers.path) for images, numbers in pairs]
            if len({found.shape[1] for found, _ in read}) > 1:
                raise InputError("its images are of several sizes.")
            if read:
                pixels = np.concatenate([found for found, _ in read])
                labels = np.concatenate([found for _, found in read])
        except (InputError, OSError) as error:
            problems.append(f"channel {name}: {error}")
    if not replicated:
        first, last = (len(labels) * part // run.local_size for part in (run.local_rank, run.local_rank + 1))
        pixels, labels = pixels[first:last], labels[first:last]
    found = run.gather([len(labels), pixels.shape[1], replicated])
    width = max(each[1] for each in found)
    if not len(labels):
        pixels = np.empty((0, width), np.uint8)
    elif pixels.shape[1] != width:
        problems.append(f"channel {name}: its images have {pixels.shape[1]} pixels, those of others {width}.")
    held = [each[0] for each in found]
    everywhere = all(each[2] for each in found)
    if everywhere and len(set(held)) > 1:
        problems.append(f"channel {name} is replicated, but ranks have found {held} images.")
    total = held[0] if everywhere else sum(held)
    if not total and not problems:
        problems.append(f"channel {name} has no rows.")
    if run.is_leader:
        _tell(run, name, total, held, width, everywhere=everywhere)
    return {name: Labelled(pixels, labels, held[0] if everywhere else tuple(held))}


def _tell_others(run: Run, name: str, others: Sequence[str]) -> None:
    if others and run.local_rank == 0:
        named = ", ".join(others[:_NAMED]) + (", ..." if len(others) > _NAMED else "")
        note(f"channel {name} holds idx files; its other files are left out: {named}.")


def _tell(run: Run, name: str, total: int, held: Sequence[int], width: int, *, everywhere: bool) -> None:
    how = "replicated, each batch split over all ranks"
    if not everywhere:
        per_rank = ", ".join(f"{place}: {rows}" for place, rows in zip(rank_names(run), held, strict=True))
        how = f"sharded by key, {per_rank}"
    note(f"channel {name}: {total} images in all of {width} pixels ({how}).")


def _classes(labels: NDArray[np.float32], name: str, problems: list[str]) -> NDArray[np.int64]:
    """Labels as classes, if they are."""
    whole = np.isfinite(labels) & (labels == np.floor(labels)) & (labels >= 0) & (labels < MAX_CLASSES)
    if not whole.all():
        problems.append(
            f"channel {name} has the label {labels[~whole][0]:g}; expected classes: whole numbers from 0 to "
            f"{MAX_CLASSES - 1}, the label in the first column."
        )
        return np.zeros(len(labels), np.int64)
    return labels.astype(np.int64)


def _settle(run: Run, problems: list[str]) -> None:
    """Refuse, on all ranks alike, what any rank has found."""
    found = run.gather(problems)
    told: dict[str, list[str]] = {}
    for name, texts in zip(rank_names(run), found, strict=True):
        for text in texts:
            told.setdefault(text, []).append(name)
    if told:
        lines = [f"  {', '.join(places)}: {text}" for text, places in told.items()]
        raise InputError("\n".join(["The data cannot be used:", *lines]))
