"""Reasons of stops that another tuner made, reconstructed and labelled so."""

from __future__ import annotations

from bandstand.study import Ended, Event, Reported, Space, Started, StudySpec
from bandstand.study.inferring import INFERRED, infer_stops


def spec(**changes: object) -> StudySpec:
    terms = {
        "goal": "minimize",
        "strategy": "Hyperband",
        "min_resource": 1,
        "max_resource": 9,
        "jobs": 6,
        "parallel": 6,
        "seed": 1,
        "spaces": (Space(()),),
    }
    return StudySpec(**(terms | changes))  # type: ignore[arg-type]


def told(curves: dict[int, list[float]], outcome: dict[int, str]) -> list[Event]:
    """All start at once and report in turn; each ends after its last report."""
    events: list[Event] = [Started(trial) for trial in sorted(curves)]
    for at in range(max(map(len, curves.values()))):
        for trial, curve in sorted(curves.items()):
            if at < len(curve):
                events.append(Reported(trial, curve[at]))
            if at == len(curve) - 1:
                events.append(Ended(trial, outcome.get(trial, "completed")))  # type: ignore[arg-type]
    return events


def test_a_stop_that_the_rules_would_have_made_has_their_reason() -> None:
    curves = {trial: [float(trial)] * (9 if trial == 1 else 1) for trial in range(1, 7)}
    events = told(curves, dict.fromkeys(range(1, 7), "stopped"))
    thought = infer_stops(spec(), events, range(1, 7))
    assert thought[1].reason is not None
    assert thought[1].reason.kind == "max_resource"
    rungs = [each for number, each in thought.items() if number != 1 and each.reason is not None]
    assert rungs
    assert all(each.reason is not None and each.reason.rung == 1 for each in rungs)
    assert all(each.sentence.startswith(INFERRED) for each in rungs)


def test_a_stop_that_no_rule_explains_is_told_with_its_place() -> None:
    events = told({1: [1.0, 1.0, 1.0], 2: [2.0, 2.0, 2.0], 3: [3.0, 3.0]}, {3: "stopped"})
    (thought,) = infer_stops(spec(strategy="Random", max_resource=None), events, [3]).values()
    assert thought.reason is None
    assert thought.sentence == (
        "Stopped by AMT after 2 reports; no rule that is known here explains it."
        " Its objective was place 3 of 3 at that report."
    )


def test_a_job_that_never_reported_and_a_history_that_no_study_has_are_told_all_the_same() -> None:
    events: list[Event] = [Started(1), Started(9), Ended(1, "stopped")]
    (thought,) = infer_stops(spec(), events, [1]).values()
    assert thought.sentence == "Stopped by AMT before its first report."
