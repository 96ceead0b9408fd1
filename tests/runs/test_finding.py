"""Names: unique among the jobs of one kind, and told apart by the kind where both have one."""

from __future__ import annotations

import pytest

from bandstand.backends.requests import Interruption
from bandstand.errors import InputError
from bandstand.runs.cleaning import clean
from bandstand.runs.deleting import delete_training_job, delete_tuning_job
from bandstand.runs.finding import find, words_for
from bandstand.runs.interrupting import interrupt
from bandstand.runs.live import StopFlag, train, tune
from bandstand.runs.record import NameTakenError
from bandstand.runs.resuming import resumable_training, resumable_tuning
from bandstand.runs.stopping import request_stop
from bandstand.runs.views import jobs, log_lines, show
from bandstand.runs.what_if import what_if

ONCE = "print('iteration=1 score=0.5')"


@pytest.fixture
def both(record, backend, watcher, training, tuning):
    """A training job and a tuning job of the name `same`, both over."""
    assert train(training(ONCE, name="same"), record, backend, watcher, StopFlag()).status == "Completed"
    assert tune(tuning(ONCE, name="same", jobs=2), record, backend, watcher, StopFlag()).name == "same"
    return record


@pytest.mark.parametrize("kind", ["training", "tuning"])
def test_names_are_unique_among_the_jobs_of_a_kind_whatever_their_letter_case(record, noted, kind):
    noted("Marketing", kind)
    with pytest.raises(NameTakenError, match=f"'MARKETING' is taken by another {kind} job"):
        noted("MARKETING", kind)
    assert find(record, "marketing").name == "Marketing"


def test_a_name_of_both_kinds_needs_the_kind(record, noted):
    noted("same", "tuning")
    noted("SAME", "training")
    assert [find(record, "same", kind).kind for kind in ("tuning", "training")] == ["tuning", "training"]
    with pytest.raises(InputError) as caught:
        find(record, "same")
    assert str(caught.value) == (
        "same is a tuning job and a training job. Say which is meant: --kind tuning or --kind training."
    )


def test_advice_names_the_kind_only_where_both_kinds_have_the_name(record, noted):
    noted("same", "tuning")
    noted("tuned", "tuning")
    noted("same", "training", status="InProgress")
    assert words_for(record, "SAME", "tuning") == "SAME --kind tuning"
    assert words_for(record, "same", "training") == "same --kind training"
    assert words_for(record, "tuned", "tuning") == "tuned"


def test_an_unknown_name_is_answered_with_the_nearest_one_of_the_kind(record, noted):
    noted("direct-marketing", "tuning")
    noted("direct-marketings", "training")
    with pytest.raises(InputError, match=r"no job 'direct-marketng'.*Did you mean 'direct-marketing'"):
        find(record, "direct-marketng")
    with pytest.raises(
        InputError, match=r"no training job 'direct-marketng'.*Did you mean 'direct-marketings'"
    ):
        find(record, "direct-marketng", "training")


def test_a_name_of_the_other_kind_is_told(record, noted):
    noted("lone", "training")
    with pytest.raises(InputError, match=r"There is no tuning job 'lone' in .*; lone is a training job"):
        find(record, "lone", "tuning")


def test_a_free_name_counts_up_and_stays_within_the_limit(record, noted):
    long = "a" * 40
    assert record.free_name("short", 32) == "short"
    shortened = record.free_name(long, 32)
    assert len(shortened) == 32
    assert shortened != record.free_name("a" * 41, 32)
    noted("short", "tuning")
    noted("SHORT-2", "training")
    noted(shortened, "tuning")
    assert record.free_name("short", 32) == "short-3"
    assert record.free_name("short", 32, ["Short-3"]) == "short-4"
    second = record.free_name(long, 32)
    assert second.endswith("-2")
    assert len(second) <= 32


def test_two_jobs_of_one_name_are_shown_listed_and_followed_each_for_itself(both):
    assert show(both, "same", "training")["final_objective"] == 0.5
    assert len(show(both, "same", "tuning")["training_jobs"]) == 2
    assert {(job["name"], job["kind"]) for job in jobs(both)} == {("same", "training"), ("same", "tuning")}
    assert [line.text for line in log_lines(both, "same")] == ["iteration=1 score=0.5"]
    assert what_if(both, "same", ["parallel=1"], kind="tuning")["recorded"]["iterations"] == 2


def test_every_verb_asks_which_of_two_jobs_is_meant(both):
    for verb in (
        lambda: show(both, "same"),
        lambda: request_stop(both, "same"),
        lambda: interrupt(both, "same", Interruption(1.0)),
        lambda: clean(both, ["same"]),
        lambda: what_if(both, "same", ["parallel=1"]),
    ):
        with pytest.raises(InputError, match="Say which is meant: --kind tuning or --kind training"):
            verb()


def test_a_stop_and_a_resume_find_the_job_of_the_kind(both):
    assert request_stop(both, "same", kind="tuning") == "same is over already: Completed."
    with pytest.raises(InputError, match="same is over already: Completed"):
        resumable_training(both, "same")
    with pytest.raises(InputError, match="same is over already: Completed"):
        resumable_tuning(both, "same")


@pytest.mark.parametrize(("kind", "other"), [("training", "tuning"), ("tuning", "training")])
def test_cleaning_one_of_two_jobs_leaves_the_other_whole(both, kind, other):
    kept = show(both, "same", other)
    clean(both, ["same"], kind=kind)
    assert show(both, "same") == kept
    folders = {path.name for path in (both.home / "jobs").iterdir()}
    rows = kept["training_jobs"] if other == "tuning" else [kept]
    assert folders == {row["name"] for row in rows}


def test_deleting_one_of_two_jobs_leaves_the_other_with_its_tags(record, noted):
    for kind in ("training", "tuning"):
        noted("same", kind, tags=(("kind", kind),))
        with record.transaction() as connection:
            connection.execute(f"UPDATE {kind}_jobs SET status = 'Completed'")  # noqa: S608
    delete_training_job(record, find(record, "same", "training"))
    assert find(record, "same").kind == "tuning"
    assert [tuple(row) for row in record.read("SELECT * FROM tags")] == [("tuning", "same", "kind", "tuning")]
    noted("same", "training", tags=(("kind", "training"),))
    delete_tuning_job(record, find(record, "same", "tuning"))
    assert find(record, "same").kind == "training"
    (tag,) = record.read("SELECT * FROM tags")
    assert tuple(tag) == ("training", "same", "kind", "training")


def test_a_training_job_has_the_tags_of_its_tuning_job_and_not_of_a_namesake(record, noted):
    noted("same", "training", tags=(("from", "namesake"),))
    noted("same", "tuning", tags=(("from", "tuning"),))
    noted("same-001", "training", tuning_job="same")
    (tag,) = record.read("SELECT key, value FROM tags WHERE job = 'same-001'")
    assert tuple(tag) == ("from", "tuning")


def test_a_tuning_job_whose_training_jobs_names_are_taken_chooses_others(
    record, backend, watcher, tuning, noted
):
    plan = tuning(ONCE, jobs=2)
    assert tune(plan, record, backend, watcher, StopFlag()).status == "Completed"
    first = {row["name"] for row in show(record, plan.name)["training_jobs"]}
    delete_tuning_job(record, find(record, plan.name, "tuning"))
    assert tune(plan, record, backend, watcher, StopFlag()).status == "Completed"
    again = show(record, plan.name)["training_jobs"]
    assert {row["name"] for row in again} == {f"{name}-2" for name in first}
    assert all(row["final_objective"] == 0.5 for row in again)
    assert all(show(record, name)["final_objective"] == 0.5 for name in first)
