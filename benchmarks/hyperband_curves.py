"""Hyperband on curves of other kinds: what it saves and what it costs, beside ASHA and Optuna's Hyperband."""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable, Sequence

from bandstand.study.decisions import StopReason
from bandstand.study.spec import Space, StudySpec
from bandstand.study.strategies import Hyperband, Strategy
from benchmarks.bench import Bench, NotHereError
from benchmarks.families import Family, families
from benchmarks.findings import Findings
from benchmarks.hyperband_quality import paired, played_by
from benchmarks.peers import OPTUNA, SYNE_TUNE
from benchmarks.simulation import MAX_RESOURCE, PARALLEL, Played, RunToEnd, play

DRAWS = 400
PEERS_DRAWS = 40
MORE_PARALLEL = 10
_NEVER_OVERTAKEN = "Hyperband, nobody overtaken"
_PEERS = {
    "Syne Tune, ASHA": (SYNE_TUNE, "syne_tune_asha"),
    "Optuna, Hyperband": (OPTUNA, "optuna_hyperband"),
}

Draws = dict[int, list[Sequence[float]]]


class NeverOvertaken(Hyperband):
    """Hyperband that judges a trial at the rungs of its bracket alone."""

    def judge(self, trial: int, bracket: int | None, resource: int, value: float) -> StopReason | None:
        reason = super().judge(trial, bracket, resource, value)
        at_rung = bracket is not None and resource in self.rungs(bracket)
        return reason if at_rung or resource >= MAX_RESOURCE else None


class Judged:
    """Curves in their order, stopped by a strategy of the project.

    Args:
        strategy: Made of the study's terms.
        curves: One for each trial.
    """

    def __init__(
        self, strategy: Callable[[StudySpec, Space], Strategy], curves: Sequence[Sequence[float]]
    ) -> None:
        space = Space(())
        terms = StudySpec("maximize", "Hyperband", 1, MAX_RESOURCE, len(curves), 1, seed=1, spaces=(space,))
        self._strategy = strategy(terms, space)
        self._curves = iter(enumerate(curves, 1))

    def start(self) -> tuple[int, Sequence[float]] | None:
        return next(self._curves, None)

    def report(self, trial: int, iteration: int, value: float) -> bool:
        return self._strategy.judge(trial, self._strategy.bracket(trial), iteration, value) is not None

    def end(self, trial: int, value: float, *, stopped: bool) -> None:
        return


def measure(bench: Bench) -> Findings:
    """Play draws of 30 settings of each family by each rule, with four and with ten jobs in parallel.

    The loss is what the best job has less than the best of all jobs at 30 reports, in percent of what lies
    between the best job and the middle one. `--repeat` is the number of draws; peers play a tenth of them.
    """
    findings = Findings("hyperband_curves")
    jobs = bench.times(30, least=4)
    draws = bench.repeats(DRAWS)
    findings.notes.append(f"{jobs} jobs, {draws} draws; of peers {_of_peers(draws)}")
    for family in families(bench, jobs, findings.notes.append):
        _measure_family(bench, findings, family, jobs, draws)
    return findings


def _of_peers(draws: int) -> int:
    return max(1, draws * PEERS_DRAWS // DRAWS)


def _measure_family(bench: Bench, findings: Findings, family: Family, jobs: int, count: int) -> None:
    bench.tell(family.name)
    draws = {seed: random.Random(seed).sample(family.curves, jobs) for seed in range(1, count + 1)}
    whole = {seed: play(RunToEnd(draw), seed) for seed, draw in draws.items()}
    spread = statistics.mean(_best_to_middle(draw) for draw in draws.values())
    losses: dict[str, dict[int, float]] = {}

    def tell(rule: str, played: dict[int, Played]) -> None:
        name = f"{family.name}, {rule}"
        losses[rule] = {seed: 100 * (whole[seed].best - each.best) / spread for seed, each in played.items()}
        findings.side(f"{name}: iterations", "", [each.iterations for each in played.values()])
        findings.side(f"{name}: loss", "%", list(losses[rule].values()))
        mean = statistics.mean(each.iterations for each in played.values())
        loss, error = paired(list(losses[rule].values()), [0.0] * len(played))
        findings.notes.append(
            f"{name}: mean {mean:.0f} iterations, loss {loss:.1f} % (standard error {error:.1f})"
        )

    for parallel in (PARALLEL, MORE_PARALLEL):
        for name, strategy in (("Hyperband", Hyperband), (_NEVER_OVERTAKEN, NeverOvertaken)):
            rule = f"{name}, {parallel} in parallel"
            tell(rule, {seed: play(Judged(strategy, draw), seed, parallel) for seed, draw in draws.items()})
        with_rule, without = (
            list(losses[f"{name}, {parallel} in parallel"].values())
            for name in ("Hyperband", _NEVER_OVERTAKEN)
        )
        cost, error = paired(with_rule, without)
        findings.notes.append(
            f"{family.name}, {parallel} in parallel: who is overtaken is stopped at a cost of {cost:.1f} % "
            f"(standard error {error:.1f})"
        )
    some = {seed: draws[seed] for seed in range(1, _of_peers(count) + 1)}
    for name, (peer, program) in _PEERS.items():
        try:
            tell(name, dict(zip(some, played_by(peer, program, bench, some), strict=True)))
        except NotHereError as error:
            if str(error) not in findings.notes:
                findings.notes.append(str(error))


def _best_to_middle(draw: Sequence[Sequence[float]]) -> float:
    """What lies between the best setting and the middle one, at their last values."""
    last = sorted(curve[-1] for curve in draw)
    return last[-1] - statistics.median(last)
