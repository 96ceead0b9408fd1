from __future__ import annotations

from collections.abc import Callable
from math import inf, nan
from random import Random
from statistics import fmean, median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bandstand.errors import InputError
from bandstand.study import Reported, Space, Started, Stop, StopReason, Study, StudySpec
from bandstand.study.median import EARLIER_NEEDED

MakeSpec = Callable[..., StudySpec]


@pytest.fixture
def study(make_spec: MakeSpec) -> Study:
    spec = make_spec(strategy="Random", max_resource=None, early_stopping=True, parallel=9)
    started = Study(spec)
    for trial in range(1, 10):
        started.tell(Started(trial))
    return started


def report(study: Study, trial: int, *values: float) -> list[Stop]:
    return [stop for value in values for stop in study.tell(Reported(trial, value))]


def test_a_job_worse_than_the_median_of_the_running_averages_is_stopped_with_all_that_shows_it(
    study: Study,
) -> None:
    for trial, curve in enumerate([(0.5, 0.7), (0.6, 0.7), (0.7, 0.7), (0.4, 0.4), (0.8, 0.9)], start=1):
        assert report(study, trial, *curve) == []
    assert report(study, 6, 0.6) == []  # equal to the median goes on
    (stop,) = report(study, 6, 0.64)
    averages = ((1, 0.6), (2, 0.65), (3, 0.7), (4, 0.4), (5, 0.85))
    assert (stop.trial, stop.reason.kind, stop.reason.rung, stop.reason.value) == (6, "median", 2, 0.64)
    assert stop.reason.cutoff == pytest.approx(0.65)
    assert [trial for trial, _ in stop.reason.compared] == [trial for trial, _ in averages]
    assert [value for _, value in stop.reason.compared] == pytest.approx([value for _, value in averages])
    assert stop.reason.sentence() == (
        "Stopped at report 2 by the median rule: 0.64 is worse than 0.65, the median of the running averages "
        "of earlier training jobs up to that report; compared with training jobs 1, 2, 3, 4, 5."
    )
    assert report(study, 6, 0.1) == []


def test_nobody_is_stopped_before_five_earlier_jobs_have_come_so_far(study: Study) -> None:
    for trial in range(1, EARLIER_NEEDED + 1):
        assert report(study, trial, 1.0 - trial / 10) == []
    assert len(report(study, 9, 0.1)) == 1


@pytest.mark.parametrize("value", [nan, inf, -3.4028234663852886e38])
def test_an_objective_that_is_no_number_is_worse_than_any_and_moves_no_average(
    study: Study, value: float
) -> None:
    assert report(study, 1, value, 0.5) == []
    for trial in range(2, 6):
        report(study, trial, 0.5, 0.5)
    assert report(study, 6, 0.5) == []  # four finite averages at the first report are too few
    (stop,) = report(study, 7, value)
    assert "is not a finite number" in stop.reason.sentence()
    (stop,) = report(study, 6, 0.4)
    assert dict(stop.reason.compared)[1] == 0.5


def test_less_is_better_when_the_goal_says_so(make_spec: MakeSpec) -> None:
    spec = make_spec(strategy="Random", max_resource=None, early_stopping=True, goal="minimize", parallel=9)
    study = Study(spec)
    for trial in range(1, 8):
        study.tell(Started(trial))
    for trial in range(1, 6):
        report(study, trial, float(trial))
    assert report(study, 6, 2.9) == []
    (stop,) = report(study, 7, 3.0)
    assert stop.reason.cutoff == pytest.approx(2.95)


def test_the_median_rule_has_neither_brackets_nor_rungs(study: Study) -> None:
    assert study.bracket(1) is None
    assert study.rungs(1) == ()


def test_hyperband_goes_without_it(make_spec: MakeSpec) -> None:
    with pytest.raises(InputError, match="early_stopping is on"):
        make_spec(early_stopping=True)


@given(seed=st.integers(0, 10_000), spread=st.integers(1, 5), goal=st.sampled_from(["maximize", "minimize"]))
def test_every_decision_can_be_worked_out_again_from_the_reports_alone(
    seed: int, spread: int, goal: str
) -> None:
    made = Random(seed)
    study = Study(StudySpec(goal, "Random", 1, None, 12, 12, 0, (Space(()),), early_stopping=True))
    curves: dict[int, list[float]] = {trial: [] for trial in range(1, 13)}
    for trial in curves:
        study.tell(Started(trial))
    running = set(curves)
    for _ in range(60):
        if not running:
            break
        trial = made.choice(sorted(running))
        value = float(made.randint(0, spread))
        curves[trial].append(value)
        so_far = len(curves[trial])
        averages = {
            other: fmean(curve[:so_far])
            for other, curve in curves.items()
            if other != trial and len(curve) >= so_far
        }
        decided = study.tell(Reported(trial, value))
        if len(averages) < EARLIER_NEEDED:
            assert decided == ()
            continue
        middle = median(averages.values())
        gap = value - middle if goal == "maximize" else middle - value
        if abs(gap) > 1e-9:
            assert bool(decided) == (gap < 0)
        if decided:
            (stop,) = decided
            assert isinstance(stop, Stop)
            assert stop.reason.kind == "median"
            assert stop.reason.cutoff == pytest.approx(middle)
            assert dict(stop.reason.compared) == pytest.approx(averages)
            running.discard(trial)


def test_a_stop_is_told_in_a_few_words() -> None:
    assert StopReason("median", rung=3, value=0.1).brief() == "worse than half"
