from __future__ import annotations

from collections.abc import Callable

from bandstand.study import Ended, Halted, Reported, Started, Study, StudySpec, Summary

MakeSpec = Callable[..., StudySpec]


def run(study: Study, trial: int, reports: int, value: float, outcome: str = "stopped") -> None:
    study.tell(Started(trial))
    for _ in range(reports):
        study.tell(Reported(trial, value))
    study.tell(Ended(trial, outcome))


def test_savings_of_the_maximum_and_of_the_rungs_are_kept_apart(make_spec: MakeSpec) -> None:
    study = Study(make_spec())
    run(study, 14, 30, 0.9)  # reaches the maximum
    run(study, 7, 5, 0.1)  # stopped at rung 3, two reports later it is gone
    run(study, 15, 1, 0.1)  # stopped at rung 1, had asked for less than the maximum
    run(study, 16, 1, 0.1, "failed")  # told to stop at rung 1, but it fails: the rung still ended it
    run(study, 8, 2, 0.1, "completed")  # ends of itself
    assert study.summary({14: 150, 7: 100, 15: 20, 16: 40, 8: 2}) == Summary(
        asked=312,
        run=39,
        saved_by_max_resource=120 + 70 + 0 + 10,
        saved_by_rungs=0 + 25 + 19 + 29,
        stopped_at=((1, 2), (3, 1)),
        reached_max_resource=1,
        not_known=0,
    )


def test_all_that_was_asked_for_was_run_or_saved_when_every_trial_was_stopped(make_spec: MakeSpec) -> None:
    study = Study(make_spec())
    asked = {14: 150, 7: 100, 15: 20}
    run(study, 14, 33, 0.9)
    run(study, 7, 5, 0.1)
    run(study, 15, 1, 0.1)
    told = study.summary(asked)
    assert told.asked == told.run + told.saved_by_max_resource + told.saved_by_rungs


def test_trials_whose_wish_is_not_known_count_as_run_only(make_spec: MakeSpec) -> None:
    study = Study(make_spec())
    run(study, 1, 30, 0.9)
    told = study.summary({})
    assert (told.asked, told.run, told.saved_by_max_resource, told.not_known) == (0, 30, 0, 1)


def test_random_saves_nothing(make_spec: MakeSpec) -> None:
    study = Study(make_spec(strategy="Random", max_resource=None))
    run(study, 1, 150, 0.9, "completed")
    run(study, 2, 10, 0.9, "stopped")
    told = study.summary({1: 150, 2: 100})
    assert (told.asked, told.run, told.saved_by_max_resource, told.saved_by_rungs) == (250, 160, 0, 0)
    assert told.stopped_at == ()


def test_what_the_end_of_the_tuning_job_cut_off_is_nobodys_saving(make_spec: MakeSpec) -> None:
    study = Study(make_spec())
    study.tell(Started(1))
    study.tell(Reported(1, 0.5))
    study.tell(Halted("runtime"))
    told = study.summary({1: 150})
    assert (told.run, told.saved_by_max_resource, told.saved_by_rungs, told.stopped_at) == (1, 0, 0, ())


def test_what_the_median_rule_saved_is_what_its_trials_had_left(make_spec: MakeSpec) -> None:
    study = Study(make_spec(strategy="Random", max_resource=None, early_stopping=True))
    for trial in range(1, 6):
        run(study, trial, 10, 0.9, "completed")
    run(study, 6, 2, 0.1)
    run(study, 7, 3, 0.1)
    told = study.summary({**dict.fromkeys(range(1, 6), 10), 6: 10})
    assert (told.stopped_by_median, told.saved_by_median, told.not_known) == (2, 8, 1)
    assert (told.saved_by_rungs, told.saved_by_max_resource, told.stopped_at) == (0, 0, ())
