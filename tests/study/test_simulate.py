from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import nan
from random import Random

import pytest

from bandstand.request.ranges import CategoricalRange
from bandstand.study import StudySpec
from bandstand.study.simulate import Curve, simulate

MakeSpec = Callable[..., StudySpec]


def whole(*values: float, pace: float = 1.0, outcome: str | None = "completed") -> Curve:
    reports = tuple((pace * place, value) for place, value in enumerate(values, start=1))
    return Curve(reports, pace * len(values) + 0.5, outcome)  # type: ignore[arg-type]


def drawn(jobs: int, length: int, seed: int = 3) -> dict[int, Curve]:
    made = Random(seed)
    curves = {}
    for trial in range(1, jobs + 1):
        top = made.random()
        curves[trial] = whole(*(top - 1 / (place + 1) for place in range(length)), pace=0.5 + made.random())
    return curves


def test_curves_that_are_long_enough_leave_nothing_unknown(make_spec: MakeSpec) -> None:
    told = simulate(make_spec(), drawn(30, 30))
    assert told.unknown == ()
    assert told.finish.status == "Completed"
    assert sum(told.stops.values()) == 30
    assert told.stops["rung"] == sum(number for _, number in told.stopped_at)
    assert told.iterations < 900
    all_of_them = simulate(make_spec(strategy="Random", max_resource=None), drawn(30, 30))
    assert (all_of_them.iterations, all_of_them.stops) == (900, {})
    assert all_of_them.best is not None
    assert told.best == all_of_them.best
    assert all_of_them.seconds > told.seconds


def test_the_reports_that_were_made_are_enough_to_simulate_the_same_again(make_spec: MakeSpec) -> None:
    spec, curves = make_spec(jobs=12), drawn(12, 30)
    first = simulate(spec, curves)
    cut = {}
    for trial, made in first.reports:
        reports = curves[trial].reports[:made]
        cut[trial] = Curve(reports, reports[-1][0], None)
    assert simulate(spec, cut) == first


def test_a_job_that_would_have_gone_on_is_unknown_and_never_the_best(make_spec: MakeSpec) -> None:
    spec = make_spec(jobs=3, parallel=1, max_resource=9, min_resource=9)
    stopped = {1: whole(*[0.9] * 9, outcome=None), 2: whole(*[0.5] * 12), 3: whole(*[0.4] * 3)}
    told = simulate(spec, stopped)
    assert (told.unknown, told.best, told.iterations) == ((), (1, 0.9), 9 + 9 + 3)
    longer = simulate(replace(spec, max_resource=12, min_resource=12), stopped)
    assert longer.unknown == ((1, 9),)
    assert longer.best == (2, 0.5)
    assert longer.iterations == 9 + 12 + 3
    assert longer.finish.status == "Completed"


def test_jobs_that_were_never_recorded_are_unknown(make_spec: MakeSpec) -> None:
    told = simulate(make_spec(jobs=3, parallel=2, strategy="Random", max_resource=None), {1: whole(0.5)})
    assert told.unknown == ((2, 0), (3, 0))
    assert told.best == (1, 0.5)


def test_more_places_make_it_shorter_and_fewer_longer(make_spec: MakeSpec) -> None:
    spec, curves = make_spec(strategy="Random", max_resource=None, jobs=8), drawn(8, 10)
    lengths = [simulate(replace(spec, parallel=places), curves).seconds for places in (1, 2, 8)]
    assert lengths == sorted(lengths, reverse=True)
    assert lengths[0] == pytest.approx(sum(curve.ended for curve in curves.values()))
    assert lengths[2] == pytest.approx(max(curve.ended for curve in curves.values()))


def test_failed_jobs_and_those_without_a_number_are_never_the_best(make_spec: MakeSpec) -> None:
    spec = make_spec(strategy="Random", max_resource=None, jobs=3, goal="minimize")
    curves = {1: whole(0.1, outcome="failed"), 2: whole(0.1, nan), 3: whole(0.7)}
    assert simulate(spec, curves).best == (3, 0.7)
    assert simulate(replace(spec, jobs=2), curves).best is None
    assert simulate(replace(spec, jobs=2), curves).finish.status == "Failed"


@pytest.mark.parametrize("strategy", ["Bayesian", "Grid", "Hyperband-TPE"])
def test_a_strategy_with_settings_of_its_own_is_simulated_with_those_it_had(
    make_spec: MakeSpec, strategy: str
) -> None:
    words = (CategoricalRange("a", tuple("abcdefghijkl")),)
    told = simulate(make_spec(strategy=strategy, jobs=12, ranges=words), drawn(12, 30))
    plain = "Hyperband" if strategy == "Hyperband-TPE" else "Random"
    assert told == simulate(make_spec(strategy=plain, jobs=12, ranges=words), drawn(12, 30))


def test_the_median_rule_and_the_criteria_can_be_simulated(make_spec: MakeSpec) -> None:
    spec = make_spec(strategy="Random", max_resource=None, jobs=20, early_stopping=True)
    told = simulate(spec, drawn(20, 20))
    assert told.stops["median"] > 0
    short = simulate(replace(spec, not_improving=3), drawn(20, 20))
    assert short.iterations < told.iterations
    assert "gained less than 1%" in short.finish.reason
