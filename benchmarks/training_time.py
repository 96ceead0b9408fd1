"""Training time: n workers of the built-in XGBoost beside bare XGBoost with n threads, on flights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import count

from benchmarks.bare import train_bare
from benchmarks.bench import Bench
from benchmarks.data import flights
from benchmarks.findings import Findings, interleaved
from benchmarks.jobs import train, xgboost_job

WORKERS = (1, 2)
ROUNDS = 20


@dataclass(frozen=True)
class _Time:
    whole: float
    per_round: float


def measure(bench: Bench) -> Findings:
    """Time the whole command, reading the CSV included, and the rounds alone."""
    findings = Findings("training_time")
    data = flights(bench)
    findings.notes.append(f"CSV of {data.name}, {ROUNDS} rounds; the bare side reads it with pandas")
    with bench.scratch() as folder:
        homes = count()

        def ours(workers: int) -> _Time:
            job = xgboost_job(folder, data, workers, ROUNDS)
            trained = train(job, folder / f"home-{next(homes)}")
            return _Time(trained.used.seconds, trained.seconds_per_round)

        def bare(threads: int) -> _Time:
            trained = train_bare(data, 1, threads, ROUNDS)
            return _Time(trained.used.seconds, trained.seconds_per_round)

        sides: dict[str, Callable[[], _Time]] = {}
        for number in WORKERS:
            workers = f"bandstand, {number} worker{'s' if number > 1 else ''} of one thread"
            if bench.wants(workers):
                sides[workers] = partial(ours, number)
                sides[f"bare XGBoost, one process of {number} threads"] = partial(bare, number)
        found = interleaved(sides, bench.repeats(3), bench.tell)
    whole = {name: findings.side(f"{name}: all", "s", [t.whole for t in ts]) for name, ts in found.items()}
    rounds = {
        name: findings.side(f"{name}: a round", "s", [t.per_round for t in ts]) for name, ts in found.items()
    }
    names = list(found)
    for mine, other in zip(names[::2], names[1::2], strict=True):
        findings.ratio(whole[mine], whole[other])
        findings.ratio(rounds[mine], rounds[other])
    return findings
