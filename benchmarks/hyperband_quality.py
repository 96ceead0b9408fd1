"""Hyperband's quality: iterations and best AUC, beside no stopping, ASHA and Optuna's Hyperband."""

from __future__ import annotations

import json
import random
import statistics
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from bandstand.errors import PlatformError
from bandstand.study import Ended, Reported, Space, Started, Study, StudySpec
from benchmarks.bench import Bench, NotHereError
from benchmarks.children import run_child
from benchmarks.curves import RANGES, Curves, recorded, train_curve
from benchmarks.data import Data
from benchmarks.findings import Findings
from benchmarks.peers import OPTUNA, SYNE_TUNE, Peer
from benchmarks.simulation import MAX_RESOURCE, PARALLEL, Played, RunToEnd, play

POOL = 600
SEEDS = 20
MODELS_TO_SCALE = 2
OURS, NOTHING = "bandstand, Hyperband", "no stopping"


class Bandstand:
    """The project's own study.

    Args:
        curves: One for each trial.
        seed: Of the study.
        sampled: The rows to train on, for settings that the study chooses by its model; None for the curves.
    """

    def __init__(self, curves: Sequence[Sequence[float]], seed: int, sampled: Data | None = None) -> None:
        strategy, ranges = ("Hyperband-TPE", RANGES) if sampled else ("Hyperband", ())
        spec = StudySpec("maximize", strategy, 1, MAX_RESOURCE, len(curves), PARALLEL, seed, (Space(ranges),))
        self._curves = curves
        self._sampled = sampled
        self._study = Study(spec)

    def start(self) -> tuple[int, Sequence[float]] | None:
        starts = self._study.ask()
        if not starts:
            return None
        trial = starts[0].trial
        self._study.tell(Started(trial, starts[0].settings) if self._sampled else Started(trial))
        if self._sampled is None:
            return trial, self._curves[trial - 1]
        rows = (str(self._sampled.train), str(self._sampled.validation))
        return trial, train_curve(dict(starts[0].settings), MAX_RESOURCE, *rows)

    def report(self, trial: int, iteration: int, value: float) -> bool:
        return bool(self._study.tell(Reported(trial, value)))

    def end(self, trial: int, value: float, *, stopped: bool) -> None:
        self._study.tell(Ended(trial, "stopped" if stopped else "completed", value))


def measure(bench: Bench) -> Findings:
    """Play the same settings by every rule, 30 jobs of 100 to 200 rounds, four at a time, 20 seeds.

    `--repeat` is the number of seeds. At scale 10 a tuning job has 300 jobs.
    """
    findings = Findings("hyperband_quality")
    jobs = bench.times(30, least=4)
    curves = recorded(bench, max(POOL, jobs) if bench.scale >= 1 else jobs)
    seeds = range(1, bench.repeats(SEEDS) + 1)
    draws = {seed: random.Random(seed).sample(curves.of, jobs) for seed in seeds}
    rules: dict[str, Callable[[], list[Played]]] = {
        NOTHING: lambda: [play(RunToEnd(draw), seed) for seed, draw in draws.items()],
        f"every job stopped at {MAX_RESOURCE}": lambda: [
            play(RunToEnd(draw, MAX_RESOURCE), seed) for seed, draw in draws.items()
        ],
        OURS: lambda: [play(Bandstand(draw, seed), seed) for seed, draw in draws.items()],
        "Syne Tune, ASHA": lambda: played_by(SYNE_TUNE, "syne_tune_asha", bench, draws),
        "Optuna, Hyperband": lambda: played_by(OPTUNA, "optuna_hyperband", bench, draws),
    }
    if bench.scale <= MODELS_TO_SCALE:
        rules[f"{OURS}-TPE"] = lambda: [
            play(Bandstand(draw, seed, curves.data), seed) for seed, draw in draws.items()
        ]
        rules["Optuna, TPE and Hyperband"] = lambda: played_by(
            OPTUNA, "optuna_hyperband", bench, draws, curves
        )
    else:
        findings.notes.append(f"models choose settings up to scale {MODELS_TO_SCALE}: each has to be trained")
    played: dict[str, list[Played]] = {}
    for name, rule in rules.items():
        bench.tell(name)
        try:
            played[name] = rule()
        except (NotHereError, PlatformError) as error:
            findings.notes.append(str(error))
    _tell(findings, played)
    findings.notes.append(
        f"{curves.data.name}, {jobs} jobs, {len(seeds)} seeds; "
        "the same settings for all but TPE, which samples its own"
    )
    return findings


def _tell(findings: Findings, played: dict[str, list[Played]]) -> None:
    bests = {name: [each.best for each in found] for name, found in played.items()}
    for name, found in played.items():
        findings.side(f"{name}: iterations", "", [each.iterations for each in found])
    for name, best in bests.items():
        findings.side(f"{name}: best AUC", "", best)
    for name, found in played.items():
        mean = statistics.mean(each.iterations for each in found)
        difference, error = paired(bests[name], bests[NOTHING])
        findings.notes.append(
            f"{name}: mean {mean:.0f} iterations, mean best AUC {statistics.mean(bests[name]):.4f}, "
            f"{difference:+.4f} to no stopping (standard error {error:.4f})"
        )
    share = sum(each.iterations for each in played[OURS]) / sum(each.iterations for each in played[NOTHING])
    findings.aim("iterations over those of no stopping", share, 1 / 15)
    difference, error = paired(bests[OURS], bests[NOTHING])
    findings.aim("mean loss of best AUC, two standard errors allowed", -difference, 2 * error)


def paired(ones: Sequence[float], others: Sequence[float]) -> tuple[float, float]:
    """Mean difference, and its standard error."""
    differences = [one - other for one, other in zip(ones, others, strict=True)]
    if len(differences) < 2:
        return differences[0], 0.0
    return statistics.mean(differences), statistics.stdev(differences) / len(differences) ** 0.5


def played_by(
    peer: Peer,
    program: str,
    bench: Bench,
    draws: Mapping[int, Sequence[Sequence[float]]],
    sampled: Curves | None = None,
) -> list[Played]:
    """Play in the peer's environment; with `sampled` its own settings, trained on the same rows."""
    python = peer.python(bench)
    with bench.scratch() as folder:
        table = folder / "table.json"
        table.write_text(json.dumps([{"seed": seed, "curves": draw} for seed, draw in draws.items()]))
        rows: list[Path] = [sampled.data.train, sampled.data.validation] if sampled else []
        used = run_child([python, "-m", f"benchmarks.programs.{program}", table, *rows])
    lines = [line for line in used.output.splitlines() if line.startswith("[")]
    return [Played(*json.loads(line)) for line in lines]
