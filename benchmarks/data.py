"""Data to measure on: prepared once, kept in the cache folder, made up where the public data is not there."""

from __future__ import annotations

import random
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.bench import ROOT, Bench, NotHereError
from benchmarks.children import run_child

FLIGHT_FEATURES = 7
ROW_GROUPS = 24
_FEW_ROWS = 480
_CHUNK_ROWS = 100_000
_VALIDATION_ROWS = 30_000


@dataclass(frozen=True)
class Data:
    """Label-first rows in folders.

    Args:
        name: What it is, for people.
        train: Folder of the training rows.
        validation: Folder of the validation rows.
        kind: csv or parquet.
    """

    name: str
    train: Path
    validation: Path
    kind: str = "csv"

    @property
    def train_bytes(self) -> int:
        """Bytes of all files to train on."""
        return sum(path.stat().st_size for path in self.train.iterdir())


def bank(bench: Bench) -> Data:
    """UCI Bank Marketing as the direct-marketing example prepares it, 59 features; made rows without it.

    At scale 10 each file of the training channel is there ten times.
    """
    source = bench.data / "bank-marketing"
    copies = max(1, int(bench.scale))
    name = "UCI Bank Marketing" if source.is_dir() else "made rows"
    share = min(1.0, max(bench.scale, 0.05))  # of the made rows

    def make(folder: Path) -> None:
        if source.is_dir():
            prepare = ROOT / "examples" / "direct_marketing" / "prepare.py"
            run_child([sys.executable, prepare, "--bank", source, "--to", folder])
            shutil.rmtree(folder / "test")
        else:
            for channel, rows, seed in (("train", 28_800, 1), ("validation", 8_200, 2)):
                made = partial(_made, features=59, seed=seed)
                _write(folder / channel / "part-00.csv", made, round(rows * share))
        for path in sorted((folder / "train").iterdir()):
            for copy in range(1, copies):
                shutil.copy(path, path.with_name(f"copy-{copy:02}-{path.name}"))

    folder = prepared(bench, f"bank-x{copies}" if source.is_dir() else f"made-bank-{share}-x{copies}", make)
    return Data(f"{name} x {copies}", folder / "train", folder / "validation")


def flights(bench: Bench) -> Data:
    """Three million flights with seven features (at scale 1): was one more than 15 minutes late?"""
    source = bench.data / "flights-3m" / "flights-3m.parquet"
    rows = bench.times(3_000_000, least=1000)
    table = _read_flights(source, rows) if source.exists() else None
    name = "made" if table is None else "flights"

    def make(folder: Path) -> None:
        def part(start: int, count: int) -> NDArray[np.int64]:
            if table is None:
                return _made(start, count, FLIGHT_FEATURES, 3)
            return table.take(range(start, start + count), axis=0, mode="wrap")

        _write(folder / "train" / "part-00.csv", part, rows)
        _write(folder / "validation" / "part-00.csv", part, min(rows, _VALIDATION_ROWS))

    folder = prepared(bench, f"{name}-{rows}", make)
    return Data(f"{name}, {rows:,} rows", folder / "train", folder / "validation")


def as_parquet(bench: Bench, data: Data) -> Data:
    """The same rows as Parquet, in `ROW_GROUPS` row groups.

    Raises:
        NotHereError: Without pyarrow.
    """
    try:
        from pyarrow import csv, parquet
    except ImportError:
        raise NotHereError("Parquet needs pyarrow: pip install pyarrow.") from None

    def make(folder: Path) -> None:
        for channel in (data.train, data.validation):
            (folder / channel.name).mkdir()
            for path in channel.iterdir():
                table = csv.read_csv(path, csv.ReadOptions(autogenerate_column_names=True))
                size = -(-len(table) // ROW_GROUPS)
                parquet.write_table(
                    table, folder / channel.name / f"{path.stem}.parquet", row_group_size=size
                )

    folder = prepared(bench, f"{data.train.parent.name}-parquet", make)
    return Data(data.name, folder / "train", folder / "validation", "parquet")


def few(data: Data, folder: Path) -> Data:
    """The first rows of a data set alone, for an idle worker.

    Args:
        data: Where they are taken from.
        folder: Where they are written to.
    """
    for channel in (data.train, data.validation):
        (folder / channel.name).mkdir(parents=True)
        if data.kind == "parquet":
            _few_of_parquet(next(channel.iterdir()), folder / channel.name / "part-00.parquet")
            continue
        with next(iter(sorted(channel.iterdir()))).open("rb") as file:
            lines = [file.readline() for _ in range(_FEW_ROWS)]
        (folder / channel.name / "part-00.csv").write_bytes(b"".join(lines))
    return Data("few rows", folder / data.train.name, folder / data.validation.name, data.kind)


def _few_of_parquet(source: Path, target: Path) -> None:
    from pyarrow import parquet

    rows = parquet.ParquetFile(source).read_row_group(0).slice(0, _FEW_ROWS)
    parquet.write_table(rows, target, row_group_size=_FEW_ROWS // ROW_GROUPS)


def prepared(bench: Bench, name: str, make: Callable[[Path], None]) -> Path:
    """The folder of this name in the cache, made at the first call by what writes into an empty one."""
    folder = bench.cache / "data" / name
    if not folder.exists():
        bench.tell(f"preparing {name} in {folder} (once)")
        unfinished = folder.with_name(f".{name}")
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(parents=True)
        make(unfinished)
        unfinished.rename(folder)
    return folder


def _write(path: Path, part: Callable[[int, int], NDArray[np.int64]], rows: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="ascii") as file:
        for start in range(0, rows, _CHUNK_ROWS):
            values = part(start, min(_CHUNK_ROWS, rows - start)).tolist()
            file.writelines(",".join(map(str, row)) + "\n" for row in values)


def _made(start: int, rows: int, features: int, seed: int) -> NDArray[np.int64]:
    """Whole numbers with a label that depends on some of them; the same for the same place and seed."""
    draw = np.random.default_rng([seed, start])
    values = draw.integers(0, 1000, (rows, features))
    noise = draw.normal(0, 300, rows)
    labels = values[:, 0] + np.abs(values[:, 1] - 500) + noise > random.Random(seed).randint(850, 950)
    return np.column_stack([labels, values]).astype(np.int64)


def _read_flights(source: Path, rows: int) -> NDArray[np.int64]:
    try:
        import pyarrow.compute as pc
        from pyarrow import parquet
    except ImportError:
        raise NotHereError("The flights are Parquet, which needs pyarrow: pip install pyarrow.") from None
    table = parquet.read_table(source).slice(0, rows)
    date = table["date"]
    columns = [
        pc.greater(table["delay"], 15).cast("int64"),
        pc.month(date),
        pc.day(date),
        pc.day_of_week(date),
        pc.add(pc.multiply(pc.hour(date), 60), pc.minute(date)),
        table["distance"],
        *(
            table[name].combine_chunks().dictionary_encode().indices.cast("int64")
            for name in ("origin", "destination")
        ),
    ]
    return np.column_stack([np.asarray(column, dtype=np.int64) for column in columns])
