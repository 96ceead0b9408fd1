"""Round overhead: the built-in XGBoost per round, beside bare workers that evaluate the same metric."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import count

from benchmarks.bare import train_bare
from benchmarks.bench import Bench
from benchmarks.data import bank
from benchmarks.findings import Findings, interleaved
from benchmarks.jobs import train, xgboost_job

WORKERS = (1, 2, 3, 4)


def measure(bench: Bench) -> Findings:
    """Time from report to report; at most the larger of 5 % and 2 ms more than bare workers take."""
    findings = Findings("round_overhead")
    data = bank(bench)
    rounds = max(3, round(100 * min(bench.scale, 1)))
    findings.notes.append(
        f"{data.name}, {rounds} rounds; the bare side's AUC is the mean of its workers' own"
    )
    with bench.scratch() as folder:
        homes = count()

        def ours(workers: int) -> float:
            job = xgboost_job(folder, data, workers, rounds)
            return 1000 * train(job, folder / f"home-{next(homes)}").seconds_per_round

        def bare(workers: int) -> float:
            return 1000 * train_bare(data, workers, 1, rounds).seconds_per_round

        sides: dict[str, Callable[[], float]] = {}
        for workers in WORKERS if bench.scale >= 0.01 else WORKERS[1:2]:
            sides[_ours(workers)] = partial(ours, workers)
            sides[_bare(workers)] = partial(bare, workers)
        found = interleaved(sides, bench.repeats(5), bench.tell)
    spreads = {name: findings.side(name, "ms", values) for name, values in found.items()}
    for workers in WORKERS:
        if _ours(workers) in spreads:
            mine, other = spreads[_ours(workers)], spreads[_bare(workers)]
            findings.ratio(mine, other)
            over = mine.median - other.median
            limit = max(0.05 * other.median, 2.0)
            findings.aim(f"overhead per round, {_name(workers)}", over, limit, "ms")
    return findings


def _name(workers: int) -> str:
    return f"{workers} worker{'s' if workers > 1 else ''}"


def _ours(workers: int) -> str:
    return f"bandstand, {_name(workers)}"


def _bare(workers: int) -> str:
    return f"bare XGBoost, {_name(workers)}"
