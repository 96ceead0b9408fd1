"""What holds for any study, whatever its terms, its jobs and the order in which things happen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from math import ceil, isfinite
from random import Random

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bandstand.study import Reported, Started, Stop, StudySpec, replay

MakeSpec = Callable[..., StudySpec]

numbers = st.one_of(
    st.integers(-3, 3).map(float),  # ties
    st.floats(),  # NaN and infinity among them
    st.sampled_from([3.4028234663852886e38, -3.4028234663852886e38]),
)
any_fixture = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=150
)


@st.composite
def terms(draw: st.DrawFn) -> dict[str, object]:
    low = draw(st.integers(1, 12))
    strategy = draw(st.sampled_from(["Hyperband", "Hyperband", "Hyperband", "Random", "Random"]))
    others = {
        "early_stopping": draw(st.booleans()),
        "target": draw(st.one_of(st.none(), st.integers(-3, 3).map(float))),
        "not_improving": draw(st.one_of(st.none(), st.integers(3, 5))),
        "convergence": draw(st.booleans()),
    }
    return (others if strategy == "Random" else {}) | {
        "goal": draw(st.sampled_from(["maximize", "minimize"])),
        "strategy": strategy,
        "min_resource": low,
        "max_resource": draw(st.integers(low, 40)),
        "jobs": draw(st.integers(1, 14)),
        "parallel": draw(st.integers(1, 20)),
        "seed": draw(st.integers(0, 99)),
    }


jobs = st.lists(
    st.tuples(st.lists(numbers, max_size=45), st.integers(0, 4), st.sampled_from(["completed", "failed"])),
    min_size=14,
    max_size=14,
)


def usable(value: float) -> bool:
    return isfinite(value) and abs(value) < 3.4028234e38


def levels(low: int, high: int) -> list[int]:
    found = []
    while low < high:
        found.append(low)
        low *= 3
    return found


def check_against_history(played, spec: StudySpec) -> None:
    """Work every decision of Hyperband out again from the reports alone, in the plainest way."""
    curves: dict[int, list[float]] = {}
    stopped: set[int] = set()
    sign = -1 if spec.goal == "maximize" else 1
    for place, entry in enumerate(played.record):
        if not isinstance(entry, Reported) or entry.trial in stopped:
            continue
        own = curves.setdefault(entry.trial, [])
        own.append(entry.value)
        following = played.record[place + 1] if place + 1 < len(played.record) else None
        stop = following if isinstance(following, Stop) and following.trial == entry.trial else None
        if stop is not None:
            stopped.add(entry.trial)
            assert len(own) >= spec.min_resource
            assert stop.reason.reports == len(own)
        bracket = played.study.bracket(entry.trial)
        if len(own) == spec.max_resource:
            assert stop is not None
            assert (stop.reason.kind, stop.reason.rung) == ("max_resource", len(own))
            continue
        come_to = [n for n in levels(spec.min_resource, spec.max_resource)[bracket:] if n <= len(own)]
        if not come_to:
            assert stop is None
            continue
        level = come_to[-1]
        since = [value for value in own[level - 1 :] if usable(value)]
        value = min(since, key=lambda each: sign * each) if usable(own[level - 1]) else own[level - 1]
        others = {
            trial: curve[level - 1]
            for trial, curve in curves.items()
            if trial != entry.trial and len(curve) >= level and usable(curve[level - 1])
        }
        ahead = [t for t, v in others.items() if (sign * v, t) < (sign * value, entry.trial)]
        goes_on = usable(value) and len(ahead) + 1 <= ceil((len(others) + 1) / 3)
        assert (stop is None) == goes_on
        if stop is not None:
            assert stop.reason.kind == "rung"
            assert (stop.reason.bracket, stop.reason.rung) == (bracket, level)
            assert stop.reason.overtaken == (len(own) > level)
            assert dict(stop.reason.compared) == others
            if usable(value):
                assert stop.reason.value == value
                assert stop.reason.rank == len(ahead) + 1
                best_first = sorted([*others.values(), value], key=lambda each: sign * each)
                assert stop.reason.cutoff == best_first[ceil(len(best_first) / 3) - 1]
            else:
                assert stop.reason.rank == len(others) + 1
            assert str(level) in stop.reason.sentence()


def check_each_rung_lets_somebody_go_on(played, spec: StudySpec) -> None:
    counts: Counter[int] = Counter()
    came: set[int] = set()
    went_on: set[int] = set()
    stops = played.stops()
    for entry in played.record:
        if isinstance(entry, Reported):
            counts[entry.trial] += 1
            resource = counts[entry.trial]
            if (
                resource in levels(spec.min_resource, spec.max_resource)
                and usable(entry.value)
                and not over(stops, entry.trial, resource)
            ):
                came.add(resource)
                if entry.trial not in stops or stops[entry.trial].reason.reports != resource:
                    went_on.add(resource)
    assert came == went_on


def over(stops: dict[int, Stop], trial: int, resource: int) -> bool:
    """Whether the trial had been stopped before it made that many reports."""
    return trial in stops and stops[trial].reason.reports < resource


@any_fixture
@given(terms=terms(), jobs=jobs, order=st.integers(0, 2**32))
def test_any_study_ends_within_its_budget_and_every_decision_works_out_again(
    play,
    make_job,
    make_spec: MakeSpec,
    terms,
    jobs,
    order: int,
) -> None:
    spec = make_spec(**terms)
    made = [make_job(tuple(values), overshoot, outcome) for values, overshoot, outcome in jobs]
    played = play(spec, lambda trial: made[trial - 1], Random(order).choice)
    study = played.study
    started = [entry.trial for entry in played.record if isinstance(entry, Started)]
    assert started == sorted(set(started))
    assert len(started) <= spec.jobs
    assert study.ask() == ()
    assert study.running == ()
    stops = [entry.trial for entry in played.record if isinstance(entry, Stop)]
    assert len(stops) == len(set(stops))
    if spec.strategy == "Hyperband":
        assert played.considered() <= spec.jobs * spec.max_resource
        if not any(stop.reason.kind == "failures" for stop in played.stops().values()):
            check_against_history(played, spec)
            check_each_rung_lets_somebody_go_on(played, spec)
    else:
        kinds = {stop.reason.kind for stop in played.stops().values()}
        assert kinds <= {"failures", "median", "target", "not_improving", "converged"}
        assert "median" not in kinds or spec.early_stopping
    best = study.best()
    assert best is None or usable(best[1])
    assert study.finished.status == ("Failed" if best is None else study.finished.status)


@any_fixture
@given(terms=terms(), jobs=jobs, order=st.integers(0, 2**32))
def test_replaying_any_record_gives_the_same_decisions_and_the_same_winner(
    play,
    make_job,
    make_spec: MakeSpec,
    terms,
    jobs,
    order: int,
) -> None:
    spec = make_spec(**terms)
    made = [make_job(tuple(values), overshoot, outcome) for values, overshoot, outcome in jobs]
    played = play(spec, lambda trial: made[trial - 1], Random(order).choice)
    again = replay(spec, played.record)
    assert again.differences == ()
    assert again.study.best() == played.study.best()
    assert again.study.finished == played.study.finished
    assert again.study.summary({}) == played.study.summary({})


@any_fixture
@given(
    jobs=jobs, order=st.integers(0, 2**32), bad=st.sampled_from([float("nan"), float("inf"), -float("inf")])
)
def test_jobs_that_report_no_numbers_change_nothing_for_the_others(
    play,
    make_job,
    make_spec: MakeSpec,
    jobs,
    order: int,
    bad: float,
) -> None:
    """With a place for everyone, NaN from every third trial is to the rest as if it reported nothing."""
    spec = make_spec(jobs=14, parallel=14)

    def run(poison: tuple[float, ...]) -> dict[int, Stop]:
        def job(trial: int):
            values, _, _ = jobs[trial - 1]
            finite = tuple(value for value in values if usable(value))
            return make_job(poison if trial % 3 == 0 else (*finite, 0.0), 0, "completed")

        turns = Random(order)
        priority = {trial: turns.random() for trial in range(1, 15)}

        def others_first(running: Sequence[int]) -> int:
            honest = [trial for trial in running if trial % 3]
            return min(honest or running, key=priority.__getitem__)

        stops = play(spec, job, others_first).stops()
        return {trial: stop for trial, stop in stops.items() if trial % 3}

    assert run((bad,) * 3) == run(())


@any_fixture
@given(values=st.lists(numbers, min_size=5, max_size=5), first=st.permutations([1, 3, 5, 6, 8]))
def test_the_first_finite_report_at_a_rung_goes_on(
    make_study,
    make_spec: MakeSpec,
    values: list[float],
    first: list[int],
) -> None:
    study = make_study(make_spec(parallel=8, jobs=8, min_resource=1, max_resource=2))
    for trial in range(1, 9):
        study.tell(Started(trial))
    survivors = [t for t, v in zip(first, values, strict=True) if not study.tell(Reported(t, v))]
    assert bool(survivors) == any(usable(value) for value in values)
