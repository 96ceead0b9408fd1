from __future__ import annotations

from dataclasses import replace

import pytest

from bandstand.errors import InputError
from bandstand.request.plan import ChannelPlan, TuningPlan
from bandstand.request.ranges import CategoricalRange, ContinuousRange, IntegerRange
from bandstand.runs.jobs import TrainingJob, TuningJob
from bandstand.runs.ledger import history
from bandstand.runs.live import StopFlag, tune
from bandstand.runs.stored import add_training_job, add_tuning_job
from bandstand.runs.views import show
from bandstand.runs.warm_start import knowledge
from bandstand.study import Known, Start, Study, StudySpec, replay
from bandstand.study.settings import random_settings

REPORTING = """
import sys
rate = float(sys.argv[sys.argv.index("--rate") + 1])
print(f"iteration=1 score={-abs(rate - 0.25)}", flush=True)
"""


@pytest.fixture
def plan(tuning) -> TuningPlan:
    """A tuning job of Bayesian that names one parent."""
    return replace(
        tuning(REPORTING, name="child", jobs=3, parallel=1, max_resource=None),
        strategy="Bayesian",
        parents=("past",),
        warm_start="IdenticalDataAndAlgorithm",
    )


@pytest.fixture
def past(record, plan, redefined, tmp_path):
    """Writes a parent whose training jobs have ended; (status, rate, objective, stop) each."""

    def write(*rows, name="past", status="Completed", goal="maximize", **terms):
        parent = replace(plan, name=name, parents=(), warm_start=None, goal=goal)
        parent = redefined(parent, **terms)
        with record.transaction() as connection:
            add_tuning_job(connection, TuningJob(name, "nobody", parent, 7, 5.0, 0.0))
            connection.execute("UPDATE tuning_jobs SET status = ? WHERE name = ?", (status, name))
            for number, (state, rate, objective, stop) in enumerate(rows, start=1):
                one = parent.training(number, {each.name: rate for each in parent.definitions[0].ranges})
                add_training_job(
                    connection,
                    TrainingJob(
                        one.name, name, number, "nobody", "processes", tmp_path, one, {"rate": rate}, 5.0, 0.0
                    ),
                )
                connection.execute(
                    "UPDATE training_jobs SET status=?, objective=?, stop=?, reports=4 WHERE name=?",
                    (state, objective, stop, one.name),
                )

    return write


def test_what_ended_with_a_number_within_the_ranges_is_used(record, plan, past):
    past(
        ("Completed", "0.5", 0.7, None),
        ("Stopped", "0.25", 0.6, '{"kind": "rung"}'),
        ("Stopped", "0.125", 0.8, '{"kind": "user"}'),
        ("Failed", "0.1", 0.9, None),
        ("Completed", "0.2", None, None),
        ("Completed", "1.5", 0.9, None),
    )
    learned = knowledge(record, plan)
    assert [(event.settings, event.objective, event.reports, event.cut) for event in learned.events] == [
        ((("rate", "0.5"),), 0.7, 4, False),
        ((("rate", "0.25"),), 0.6, 4, True),
        ((("rate", "0.125"),), 0.8, 4, False),
    ]
    assert learned.events[0].source.startswith("past-001-")
    assert learned.notes == ("warm start: 3 of the 6 training jobs of past count.",)


def test_the_model_knows_from_the_first_training_job_on_what_the_parents_found(
    record, backend, watcher, plan, past
):
    rows = [(place / 20, -abs(place / 20 - 0.25)) for place in range(20)]
    past(*(("Completed", str(rate), value, None) for rate, value in rows))
    assert tune(plan, record, backend, watcher, StopFlag(), grace=5).status == "Completed"
    recorded = history(record, "child")
    assert [isinstance(entry, Known) for entry in recorded[:21]] == [True] * 20 + [False]
    first = next(entry for entry in recorded if isinstance(entry, Start))
    assert first.settings != random_settings(7, 1, plan.definitions[0].ranges)
    assert replay(StudySpec.from_plan(plan, 7), recorded).differences == ()
    told = show(record, "child")["warm_start"]
    assert (told["type"], told["parents"], told["used"]) == ("IdenticalDataAndAlgorithm", ["past"], 20)
    assert told["best"]["value"] == 0.0
    assert "child: warm start: 20 of the 20 training jobs of past count." in watcher.sentences
    assert show(record, "past")["warm_start"] is None


@pytest.mark.parametrize("strategy", ["Random", "Grid", "Hyperband"])
def test_settings_of_other_strategies_do_not_depend_on_the_parents_and_a_sentence_says_so(
    record, backend, watcher, plan, redefined, past, strategy
):
    words = (CategoricalRange("rate", ("0.1", "0.2", "0.5")),)
    plan = redefined(replace(plan, strategy=strategy), ranges=words)
    plan = replace(plan, max_resource=3 if strategy == "Hyperband" else None)
    past(("Completed", "0.5", 0.7, None), ("Completed", "0.4", 0.6, None), ranges=words)
    assert tune(plan, record, backend, watcher, StopFlag(), grace=5).status == "Completed"
    assert watcher.sentences[:2] == [
        "child: warm start: 1 of the 2 training jobs of past count.",
        f"child: warm start: the settings that {strategy} tries do not depend on them.",
    ]
    alone = Study(StudySpec.from_plan(plan, 7))
    settings = {start.trial: start.settings for start in alone.ask()}
    recorded = history(record, "child")
    first = next(entry for entry in recorded if isinstance(entry, Start))
    assert first.settings == settings[1]
    assert replay(StudySpec.from_plan(plan, 7), recorded).differences == ()
    told = show(record, "child")["warm_start"]
    assert (told["used"], told["best"]["value"]) == (1, 0.7)


def test_hyperband_with_a_model_learns_from_the_parents(record, plan, past):
    rows = [(place / 20, -abs(place / 20 - 0.25)) for place in range(20)]
    past(*(("Completed", str(rate), value, None) for rate, value in rows))
    plan = replace(plan, strategy="Hyperband-TPE", max_resource=3)
    learned, study = knowledge(record, plan), Study(StudySpec.from_plan(plan, 7))
    assert learned.notes == ("warm start: 20 of the 20 training jobs of past count.",)
    at_random = study.ask()
    for event in learned.events:
        study.tell(event)
    assert study.ask() != at_random


def test_training_jobs_of_parents_count_among_the_most_that_there_may_be(record, plan, past):
    past(*(("Completed", "0.5", 0.7, None) for _ in range(4)))
    assert knowledge(record, replace(plan, jobs=746)).events
    assert knowledge(record, replace(plan, jobs=747, strategy="Random")).events
    with pytest.raises(InputError, match="747 training jobs and the 4 of its parents are more than the 750"):
        knowledge(record, replace(plan, jobs=747))


def test_a_tuned_hyperparameter_may_have_been_static_before(record, plan, redefined, past):
    past(("Completed", "0.5", 0.7, None))
    (only,) = plan.definitions
    static = replace(only.training, hyperparameters=(*only.training.hyperparameters, ("depth", "4")))
    tuned = (*only.ranges, IntegerRange("depth", 1, 9))
    past(("Completed", "0.5", 0.7, None), name="second", training=static)
    (event,) = knowledge(record, redefined(replace(plan, parents=("second",)), ranges=tuned)).events
    assert event.settings == (("rate", "0.5"), ("depth", "4"))


def test_a_parent_of_another_number_of_hyperparameters_is_refused(record, plan, redefined, past):
    past(("Completed", "0.5", 0.7, None))
    wider = (*plan.definitions[0].ranges, IntegerRange("depth", 1, 9))
    with pytest.raises(InputError, match="their number has to stay the same"):
        knowledge(record, redefined(plan, ranges=wider))


@pytest.mark.parametrize(
    ("terms", "words"),
    [
        ({"status": "InProgress"}, "past is InProgress; a parent has to have ended"),
        ({"goal": "minimize"}, "past was to minimize score; this one is to maximize score"),
        ({"objective": "loss"}, "past was to maximize loss"),
        ({"ranges": (IntegerRange("rate", 0, 1),)}, "range of another type for rate"),
    ],
)
def test_a_parent_that_cannot_be_one_is_refused_with_the_reason(record, plan, past, terms, words):
    past(("Completed", "1", 0.7, None), **terms)
    with pytest.raises(InputError) as caught:
        knowledge(record, plan)
    assert words in str(caught.value)


def test_other_data_and_another_image_need_transfer_learning(record, plan, past):
    channels = (ChannelPlan("train", "file:///elsewhere"),)
    past(
        ("Completed", "0.5", 0.7, None),
        training=replace(plan.definitions[0].training, image="other:1", channels=channels),
    )
    with pytest.raises(InputError) as caught:
        knowledge(record, plan)
    assert "has the image other:1" in str(caught.value)
    assert "has other data in train" in str(caught.value)
    assert len(knowledge(record, replace(plan, warm_start="TransferLearning")).events) == 1


def test_ten_static_values_may_change_and_eleven_may_not(record, plan, redefined, past):
    training = plan.definitions[0].training

    def static(value: str, count: int):
        more = tuple((f"h{place}", value if place < count else "same") for place in range(11))
        return replace(training, hyperparameters=(*training.hyperparameters, *more))

    past(("Completed", "0.5", 0.7, None), training=static("old", 11))
    changed = redefined(plan, training=static("new", 11))
    with pytest.raises(InputError, match="differs in 11 static hyperparameters"):
        knowledge(record, changed)
    past(("Completed", "0.5", 0.7, None), name="second", training=static("old", 10))
    second = replace(plan, parents=("second",))
    assert knowledge(record, redefined(second, training=static("new", 10))).events


def test_every_parent_that_is_none_is_told_at_once_and_nothing_is_recorded(
    record, backend, watcher, plan, past
):
    past(("Completed", "0.5", 0.7, None))
    job = show(record, "past")["training_jobs"][0]["name"]
    with pytest.raises(InputError) as caught:
        tune(replace(plan, parents=("pats", job)), record, backend, watcher, StopFlag(), grace=5)
    assert "Did you mean 'past'?" in str(caught.value)
    assert "bandstand " not in str(caught.value)  # a client of the service has no command line
    assert f"There is no tuning job '{job}' in {record.home}; {job} is a training job." in str(caught.value)
    with pytest.raises(InputError):
        show(record, "child")


def test_a_value_outside_the_new_ranges_is_left_out(record, plan, redefined, past):
    past(("Completed", "0.5", 0.7, None))
    narrow = redefined(plan, ranges=(ContinuousRange("rate", 0.6, 1.0),))
    assert knowledge(record, narrow).events == ()
