"""Memory and bytes: what each of 1, 2 and 4 workers needs to hold and read of three million rows."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path

from bandstand.training.rows.ranges import BLOCK
from benchmarks.bench import Bench, NotHereError
from benchmarks.children import run_child
from benchmarks.data import FLIGHT_FEATURES, ROW_GROUPS, Data, as_parquet, few, flights
from benchmarks.findings import Findings, interleaved
from benchmarks.jobs import train, xgboost_job

WORKERS = (1, 2, 4)
ROUNDS = 2
TOLERANCE = 1.1
_MIB = 1 << 20


@dataclass(frozen=True)
class _Need:
    peak: float
    read: float


def measure(bench: Bench) -> Findings:
    """Compare each worker with an idle one, which does the same job on a few rows.

    Peak memory above the idle worker, and bytes read beyond it, should be a share of one worker's, or of the
    file's: 1/n, a tenth more, and one block of CSV or one row group of Parquet. The idle worker has loaded
    the code that reads rows, as the others have; what that takes is measured apart.
    """
    findings = Findings("memory_and_bytes")
    rows = bench.times(3_000_000, least=1000)
    several = WORKERS if bench.scale >= 0.01 else WORKERS[:1]
    kinds = [flights(bench)]
    try:
        kinds.append(as_parquet(bench, kinds[0]))
    except NotHereError as error:
        findings.notes.append(str(error))
    else:
        _measure_code(findings, bench.repeats(2))
    with bench.scratch() as folder:
        homes = count()

        def need(data: Data, idle: Data, workers: int) -> _Need:
            peak, read = _greatest(folder, folder / f"home-{next(homes)}", data, workers)
            idle_peak, idle_read = _greatest(folder, folder / f"home-{next(homes)}", idle, workers)
            return _Need((peak - idle_peak) / _MIB, (read - idle_read) / _MIB)

        sides: dict[str, Callable[[], _Need]] = {}
        for data in kinds:
            idle = few(data, folder / f"few-{data.kind}")
            sides |= {_name(data, workers): partial(need, data, idle, workers) for workers in several}
        found = interleaved(sides, bench.repeats(2), bench.tell)
    for data in kinds:
        size = data.train_bytes / _MIB
        as_floats = rows * (FLIGHT_FEATURES + 1) * 4 / _MIB
        held, stored = (
            (BLOCK / _MIB,) * 2 if data.kind == "csv" else (2 * as_floats / ROW_GROUPS, size / ROW_GROUPS)
        )
        text = f"{data.kind} of {data.name}: {size:.0f} MiB, {as_floats:.0f} MiB as numbers of 4 bytes"
        findings.notes.append(f"{text}; one block or row group is {held:.2g} MiB in memory")
        needs = {workers: found[_name(data, workers)] for workers in several}
        _judge(findings, data, {n: [each.peak for each in needs[n]] for n in several}, "memory", None, held)
        _judge(findings, data, {n: [each.read for each in needs[n]] for n in several}, "read", size, stored)
    return findings


def _measure_code(findings: Findings, repeats: int) -> None:
    """Measure what pyarrow's code takes, beside numpy's: all of it, and what is mapped from its files.

    Mapped pages are shared by the processes of a machine, and given back where memory runs short.
    """
    kinds: dict[str, list[float]] = {"VmRSS": [], "RssFile": []}
    for _ in range(repeats):
        without, loaded = _resident("import numpy"), _resident("import numpy, pyarrow.csv, pyarrow.parquet")
        for kind, values in kinds.items():
            values.append((loaded[kind] - without[kind]) / 1024)
    findings.side("code of pyarrow, in each worker", "MiB", kinds["VmRSS"])
    findings.side("of that, mapped from its files", "MiB", kinds["RssFile"])


def _resident(statement: str) -> dict[str, int]:
    """Resident memory of a Python after a statement, in KiB by the kernel's names."""
    text = run_child([sys.executable, "-c", f"{statement}; print(open('/proc/self/status').read())"]).output
    fields = (line.split() for line in text.splitlines())
    return {words[0].rstrip(":"): int(words[1]) for words in fields if words and words[-1] == "kB"}


def _judge(
    findings: Findings,
    data: Data,
    values: dict[int, list[float]],
    what: str,
    whole: float | None,
    piece: float,
) -> None:
    """Note what the greatest worker of each job needed, and whether it was its share of the whole."""
    spreads = {n: findings.side(f"{_name(data, n)}: {what} above idle", "MiB", values[n]) for n in values}
    for workers in values:
        if workers > 1:
            findings.ratio(spreads[workers], spreads[1])
        elif whole is None:
            continue  # one worker's memory is what the others' is measured by
        limit = (spreads[1].median if whole is None else whole) / workers * TOLERANCE + piece
        findings.aim(spreads[workers].name, spreads[workers].median, limit, "MiB")


def _name(data: Data, workers: int) -> str:
    return f"{data.kind}, {f'each of {workers} workers' if workers > 1 else 'one worker'}"


def _greatest(folder: Path, home: Path, data: Data, workers: int) -> tuple[int, int]:
    """The greatest peak of memory of any worker, and the most bytes that one has read."""
    told = train(xgboost_job(folder, data, workers, ROUNDS, "measured_worker.py"), home).told
    return max(peak for peak, _ in told), max(read for _, read in told)
