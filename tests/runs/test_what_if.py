from __future__ import annotations

from dataclasses import replace

import pytest

from bandstand.errors import InputError
from bandstand.request.ranges import CategoricalRange
from bandstand.runs.jobs import TrainingJob, TuningJob
from bandstand.runs.ledger import Ledger
from bandstand.runs.stored import add_training_job, add_tuning_job
from bandstand.runs.what_if import what_if
from bandstand.study import Ended, Reported, Study, StudySpec


@pytest.fixture
def recorded(record, tuning, redefined, tmp_path):
    """Writes a tuning job whose trials report once a second for `length` seconds; number 5 is the best."""

    def write(length: int = 30, finish: bool = True, ranges: object = None, **terms: object) -> str:
        plan = replace(tuning("", name="past", jobs=12, parallel=3, max_resource=9), **terms)
        plan = plan if ranges is None else redefined(plan, ranges=ranges)
        job = TuningJob("past", "nobody", plan, 7, 5.0, 0.0)
        with record.transaction() as connection:
            add_tuning_job(connection, job)
            ledger = Ledger(record, "past", Study(StudySpec.from_plan(plan, 7)))
            left: dict[int, int] = {}
            ended: dict[int, str] = {}
            for second in range(1000):
                if ledger.study.finished or (second > 4 and not finish):
                    break
                for start in ledger.study.ask():
                    left[start.trial] = length
                    name, settings = f"past-{start.trial}", dict(start.settings)
                    job = plan.definitions[0].training.renamed(name)
                    one = TrainingJob(
                        name, "past", start.trial, "nobody", "processes", tmp_path, job, settings, 5.0, 0.0
                    )
                    add_training_job(connection, one)
                    ledger.start(connection, start, name, second)
                for trial in ledger.study.running:
                    value = trial * 7 % 12 / 100 + (length - left[trial]) / 10_000
                    stops = []
                    if left[trial]:
                        left[trial] -= 1
                        stops = ledger.tell(connection, Reported(trial, value), second)
                    else:
                        ended[trial] = "completed"
                    for stop in stops:
                        ended[stop.trial] = "stopped"
                for trial in [trial for trial in ledger.study.running if trial in ended]:
                    ledger.tell(connection, Ended(trial, ended[trial]), second)
        return "past"

    return write


def test_whole_curves_can_be_asked_anything(record, recorded):
    name = recorded(strategy="Random", max_resource=None)
    told = what_if(record, name, ["strategy=hyperband", "max_resource=9"])
    assert told["changes"] == {
        "max_resource": {"was": None, "is": 9},
        "strategy": {"was": "Random", "is": "Hyperband"},
    }
    assert (told["recorded"]["iterations"], told["recorded"]["stops"]) == (360, {})
    assert told["recorded"]["best"]["number"] == 5
    assert told["what_if"]["iterations"] < 9 * 12
    assert told["what_if"]["unknown"] == []
    assert told["what_if"]["best"]["name"] == "past-5"
    assert sum(told["what_if"]["stops"].values()) == 12


def test_what_nobody_knows_is_named_and_not_made_up(record, recorded):
    name = recorded()
    told = what_if(record, name, ["max_resource=20"])
    unknown = told["what_if"]["unknown"]
    assert unknown
    assert all(each["reports"] <= 9 and each["name"] == f"past-{each['number']}" for each in unknown)
    assert told["recorded"]["unknown"] == []
    best = told["what_if"]["best"]
    assert best is None or best["number"] not in {each["number"] for each in unknown}


def test_the_other_side_is_the_record_under_its_own_terms(record, recorded):
    told = what_if(record, recorded(), ["parallel=3"])
    assert told["changes"] == {}
    assert told["recorded"] == told["what_if"]
    assert told["recorded"]["ended_because"].startswith("All 12 training jobs have ended")


def test_a_smaller_maximum_costs_less(record, recorded):
    told = what_if(record, recorded(), ["max_resource=3", "parallel=1", "jobs=6"])
    assert told["what_if"]["iterations"] < told["recorded"]["iterations"]
    assert told["changes"]["jobs"] == {"was": 12, "is": 6}


def test_a_tuning_job_under_way_says_so(record, recorded):
    told = what_if(record, recorded(finish=False), ["max_resource=9"])
    assert any("under way" in note for note in told["notes"])
    assert told["what_if"]["unknown"]


def test_a_part_of_a_grid_and_settings_of_a_model_are_the_recorded_ones(record, recorded):
    words = (CategoricalRange("rate", tuple("abcdefghijkl")),)
    told = what_if(record, recorded(strategy="Grid", max_resource=None, ranges=words), ["jobs=5"])
    assert told["what_if"]["iterations"] == 5 * 30


def test_the_median_rule_can_be_tried_on_a_record(record, recorded):
    name = recorded(strategy="Bayesian", max_resource=None)
    told = what_if(record, name, ["early_stopping=auto"])
    assert told["changes"] == {"early_stopping": {"was": False, "is": True}}
    assert any("the model would choose others" in note for note in told["notes"])


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (["max_resorce=60"], "Did you mean max_resource?"),
        (["max_resource=sixty", "strategy=best"], "strategy is 'best'; expected hyperband or random"),
        (["max_resource=0"], "expected a whole number from 1 to 20,000"),
        (["max_resource"], "max_resource is ''"),
        (["jobs=13"], "Ask for at most 12"),
        (["strategy=random", "max_resource=9"], "max_resource need Hyperband"),
        (["min_resource=10"], "1 <= min_resource <= max_resource"),
        (["early_stopping=auto"], "Hyperband stops training jobs by rules of its own"),
    ],
)
def test_changes_that_cannot_be_simulated_are_refused(record, recorded, changes, words):
    with pytest.raises(InputError) as caught:
        what_if(record, recorded(), changes)
    assert words in str(caught.value)


def test_time_in_which_no_launcher_ran_the_tuning_job_does_not_count(record, recorded):
    name = recorded()
    before = what_if(record, name, [])
    with record.transaction() as connection:
        connection.execute("UPDATE events SET time = time + 1000 WHERE time > 5")
        connection.execute("UPDATE tuning_jobs SET idle = '[[5, 1005]]'")
    assert what_if(record, name, []) == before
