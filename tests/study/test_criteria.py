from __future__ import annotations

from collections.abc import Callable
from math import nan

import pytest

from bandstand.errors import InputError
from bandstand.study import Ended, Finish, Halted, Reported, Started, Stop, Study, StudySpec
from bandstand.study.criteria import convergence_window

MakeSpec = Callable[..., StudySpec]


@pytest.fixture
def make(make_spec: MakeSpec) -> MakeSpec:
    def study(**terms: object) -> StudySpec:
        return make_spec(**({"strategy": "Random", "max_resource": None, "parallel": 1} | terms))

    return study


def run(study: Study, *objectives: float | None) -> list[Stop | Finish]:
    """Run trials one after the other; None fails."""
    decided: list[Stop | Finish] = []
    for trial, value in enumerate(objectives, start=study.ask()[0].trial):
        decided += study.tell(Started(trial))
        if value is None:
            decided += study.tell(Ended(trial, "failed"))
        else:
            decided += study.tell(Reported(trial, value))
            decided += study.tell(Ended(trial, "completed"))
    return decided


def test_the_target_completes_the_tuning_job_and_stops_what_runs(make: MakeSpec) -> None:
    study = Study(make(target=0.9, parallel=3))
    study.tell(Started(1))
    study.tell(Started(2))
    study.tell(Started(3))
    study.tell(Reported(1, 0.95))  # what counts is the objective at the end
    study.tell(Reported(1, 0.8))
    assert study.tell(Ended(1, "completed")) == ()
    study.tell(Reported(2, 0.9))
    (stop,) = study.tell(Ended(2, "completed"))
    assert isinstance(stop, Stop)
    assert (stop.trial, stop.reason.kind) == (3, "target")
    assert stop.reason.sentence() == "Stopped because the tuning job reached its target."
    assert study.ask() == ()
    assert study.tell(Ended(3, "stopped")) == (
        Finish(
            "Completed",
            "Training job 2 reached the target 0.9 with 0.9. All in all 2 completed, 1 stopped.",
        ),
    )
    assert study.best() == (2, 0.9)


def test_less_is_enough_when_the_goal_says_so(make: MakeSpec) -> None:
    assert run(Study(make(target=0.5, goal="minimize")), 0.9, 0.6) == []
    assert len(run(Study(make(target=0.5, goal="minimize")), 0.9, 0.4)) == 1


def test_jobs_that_gain_less_than_one_percent_use_up_the_patience(make: MakeSpec) -> None:
    study = Study(make(not_improving=3))
    assert run(study, 0.5, 0.504, 0.3, 0.51, 0.514, 0.2) == []
    (finish,) = run(study, 0.51)
    assert isinstance(finish, Finish)
    assert finish.status == "Completed"
    assert finish.reason == (
        "The last 3 training jobs gained less than 1% on the 0.51 of training job 4. All in all 7 completed."
    )


def test_small_gains_in_one_direction_add_up(make: MakeSpec) -> None:
    assert run(Study(make(not_improving=3)), 1.0, 1.004, 1.008, 1.012, 1.016, 1.02, 1.024) == []


def test_failed_jobs_and_those_without_a_number_say_nothing_about_the_search(make: MakeSpec) -> None:
    assert run(Study(make(not_improving=3)), 0.5, None, nan, 0.4, None, 0.4) == []


def test_any_gain_on_nothing_counts(make: MakeSpec) -> None:
    assert len(run(Study(make(not_improving=3)), 0.0, 0.0, 0.0, 0.0)) == 1
    assert run(Study(make(not_improving=3)), 0.0, 0.0, 0.0, 1e-9, 0.0, 0.0) == []


def test_one_percent_of_a_negative_objective_is_a_gain_as_well(make: MakeSpec) -> None:
    assert run(Study(make(not_improving=3)), -2.0, -2.0, -2.0, -1.97, -2.0, -2.0) == []
    assert len(run(Study(make(not_improving=3)), -2.0, -2.0, -2.0, -1.99)) == 1
    assert run(Study(make(not_improving=3, goal="minimize")), 2.0, 2.0, 2.0, 1.97, 2.0, 2.0) == []


def test_a_search_has_converged_when_a_quarter_of_its_jobs_improved_nothing(make: MakeSpec) -> None:
    assert (convergence_window(30), convergence_window(100), convergence_window(750)) == (10, 25, 188)
    study = Study(make(convergence=True, jobs=48))
    assert run(study, 0.5, *[0.5] * 11) == []
    (finish,) = run(study, 0.5)
    assert isinstance(finish, Finish)
    assert finish.reason.startswith(
        "The search has converged: the last 12 training jobs gained less than 1% on the 0.5 of training job"
    )


def test_a_criterion_met_by_the_last_job_is_the_reason(make: MakeSpec) -> None:
    (finish,) = run(Study(make(target=0.9, jobs=2)), 0.1, 0.95)
    assert isinstance(finish, Finish)
    assert finish.reason.startswith("Training job 2 reached the target")


def test_what_was_asked_for_from_outside_stays_the_reason(make: MakeSpec) -> None:
    study = Study(make(target=0.9))
    study.tell(Started(1))
    study.tell(Halted("user"))
    study.tell(Reported(1, 0.95))
    (finish,) = study.tell(Ended(1, "stopped"))
    assert isinstance(finish, Finish)
    assert finish.status == "Stopped"


def test_no_patience_at_all_is_refused(make: MakeSpec) -> None:
    with pytest.raises(InputError, match="not_improving is 0"):
        make(not_improving=0)


def test_criteria_go_with_hyperband_too(make_spec: MakeSpec) -> None:
    study = Study(make_spec(target=0.5, parallel=1, max_resource=1))
    study.tell(Started(1))
    study.tell(Reported(1, 0.6))
    (finish,) = study.tell(Ended(1, "stopped"))
    assert isinstance(finish, Finish)
    assert finish.status == "Completed"
