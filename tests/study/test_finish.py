from __future__ import annotations

from collections.abc import Callable
from math import nan

import pytest

from bandstand.study import (
    Decision,
    Ended,
    Event,
    Finish,
    Halted,
    Reported,
    Started,
    Stop,
    StopReason,
    Study,
    StudySpec,
)

MakeSpec = Callable[..., StudySpec]
FIVE_FAILED = (
    "No training job succeeded after 5 attempts. "
    "Please take a look at the training job failures to get more details."
)


def tell(study: Study, *events: Event) -> list[Decision]:
    return [decision for event in events for decision in study.tell(event)]


def test_five_first_failures_end_the_tuning_job_as_failed(make_spec: MakeSpec) -> None:
    study = Study(make_spec(parallel=1))
    for trial in range(1, 5):
        assert tell(study, Started(trial), Ended(trial, "failed")) == []
    assert tell(study, Started(5), Ended(5, "failed")) == [Finish("Failed", FIVE_FAILED)]
    assert study.finished == Finish("Failed", FIVE_FAILED)
    assert study.ask() == ()


def test_what_still_runs_is_stopped_and_waited_for_before_the_end(make_spec: MakeSpec) -> None:
    study = Study(make_spec(parallel=8))
    tell(study, *(Started(trial) for trial in range(1, 8)))
    stops = tell(study, *(Ended(trial, "failed") for trial in range(1, 6)))
    assert stops == [Stop(6, StopReason("failures")), Stop(7, StopReason("failures"))]
    assert study.ask() == ()
    assert tell(study, Reported(6, 0.5), Ended(6, "stopped", 0.5)) == []
    assert tell(study, Ended(7, "stopped")) == [Finish("Failed", FIVE_FAILED)]
    assert study.best() == (6, 0.5)


def test_one_success_among_the_first_five_keeps_the_tuning_job_going(make_spec: MakeSpec) -> None:
    study = Study(make_spec(parallel=1, jobs=9))
    for trial in (1, 2, 3):
        tell(study, Started(trial), Ended(trial, "failed"))
    tell(study, Started(4), Reported(4, 0.5), Ended(4, "completed", 0.5))
    for trial in (5, 6, 7, 8):
        assert tell(study, Started(trial), Ended(trial, "failed")) == []
    assert tell(study, Started(9), Ended(9, "failed")) == [
        Finish("Completed", "All 9 training jobs have ended: 1 completed, 8 failed.")
    ]


def test_jobs_that_complete_without_the_objective_count_as_failed(make_spec: MakeSpec) -> None:
    study = Study(make_spec(parallel=1))
    for trial in (1, 2, 3):
        tell(study, Started(trial), Ended(trial, "completed"))
    tell(study, Started(4), Reported(4, nan), Ended(4, "completed", nan))
    (finish,) = tell(study, Started(5), Ended(5, "failed"))
    assert isinstance(finish, Finish)
    assert finish.status == "Failed"
    assert finish.reason == (
        f"{FIVE_FAILED} 3 of them completed without reporting the objective. "
        "1 of them ended with an objective that is not a finite number."
    )


def test_a_job_stopped_with_an_objective_is_a_success(make_spec: MakeSpec) -> None:
    study = Study(make_spec(parallel=1, jobs=1, min_resource=1, max_resource=1))
    (stop,) = tell(study, Started(1), Reported(1, 0.5))
    assert isinstance(stop, Stop)
    assert tell(study, Ended(1, "stopped")) == [
        Finish("Completed", "The only training job has ended: 1 stopped.")
    ]


def test_fewer_than_five_jobs_without_success_fail_when_all_have_ended(make_spec: MakeSpec) -> None:
    study = Study(make_spec(parallel=1, jobs=1))
    (finish,) = tell(study, Started(1), Ended(1, "failed"))
    assert isinstance(finish, Finish)
    assert finish.status == "Failed"
    assert finish.reason.startswith("No training job succeeded after 1 attempt.")


def test_the_run_time_limit_stops_what_runs_and_completes_with_what_there_is(make_spec: MakeSpec) -> None:
    study = Study(make_spec(parallel=3))
    tell(study, Started(1), Started(2), Reported(1, 0.5), Ended(1, "completed", 0.5))
    assert tell(study, Halted("runtime")) == [Stop(2, StopReason("runtime"))]
    assert tell(study, Started(3)) == [Stop(3, StopReason("runtime"))]
    assert study.ask() == ()
    assert tell(study, Halted("user"), Ended(2, "stopped")) == []
    assert tell(study, Ended(3, "stopped")) == [
        Finish("Completed", "The tuning job reached its run-time limit: 1 completed, 2 stopped.")
    ]


def test_the_run_time_limit_without_any_success_is_a_failure(make_spec: MakeSpec) -> None:
    study = Study(make_spec())
    tell(study, Started(1), Halted("runtime"))
    (finish,) = tell(study, Ended(1, "stopped"))
    assert isinstance(finish, Finish)
    assert finish.status == "Failed"
    assert finish.reason.startswith(
        "The tuning job reached its run-time limit. No training job succeeded after 1 attempt."
    )


@pytest.mark.parametrize("already_stopped", [True, False])
def test_a_stop_on_request_tells_each_trial_once(make_spec: MakeSpec, already_stopped: bool) -> None:
    study = Study(make_spec(max_resource=1))
    tell(study, Started(1))
    if already_stopped:
        (stop,) = tell(study, Reported(1, 0.5))
        assert isinstance(stop, Stop)
        assert stop.reason.kind == "max_resource"
    assert tell(study, Halted("user")) == ([] if already_stopped else [Stop(1, StopReason("user"))])
    assert tell(study, Halted("user"), Reported(1, 0.6)) == []
    assert tell(study, Ended(1, "stopped")) == [
        Finish("Stopped", "The tuning job was stopped on request: 1 stopped.")
    ]
