"""Tuning jobs of several training job definitions over the API, by boto3, with a service that runs them."""

from __future__ import annotations

from typing import Any

import pytest

from bandstand.backends.sagemaker.creating import covers

from .served import ended, refusal, several_request, tuned, tuning_request, until


def trials(sagemaker, name: str, **more: Any) -> list[dict[str, Any]]:
    answer = sagemaker.list_training_jobs_for_hyper_parameter_tuning_job(
        HyperParameterTuningJobName=name, **more
    )
    return list(answer["TrainingJobSummaries"])


@pytest.fixture(scope="module")
def done(sagemaker, place):
    """A tuning job that has completed, as it was asked for, as it is described, and its training jobs."""
    request = several_request(place, "several")
    sagemaker.create_hyper_parameter_tuning_job(**request)
    answer = tuned(sagemaker, "several")
    return request, answer, trials(sagemaker, "several")


def test_definitions_share_the_training_jobs_in_turn(done):
    _, answer, jobs = done
    assert answer["HyperParameterTuningJobStatus"] == "Completed"
    assert [job["TrainingJobDefinitionName"] for job in jobs] == ["low", "high"] * 3
    assert answer["TrainingJobStatusCounters"]["Completed"] == 6
    assert answer["ObjectiveStatusCounters"] == {"Succeeded": 6, "Pending": 0, "Failed": 0}


def test_each_training_job_is_made_of_its_definition(done, sagemaker):
    _, _, jobs = done
    for job in jobs:
        low = job["TrainingJobDefinitionName"] == "low"
        told = sagemaker.describe_training_job(TrainingJobName=job["TrainingJobName"])
        assert told["ResourceConfig"]["InstanceCount"] == (1 if low else 2)
        assert set(job["TunedHyperParameters"]) == {"rate" if low else "epochs"}
        metric = job["FinalHyperParameterTuningJobObjectiveMetric"]
        assert metric["MetricName"] == ("score" if low else "quality")
        assert told["HyperParameters"]["_tuning_objective_metric"] == metric["MetricName"]
        assert [each["MetricName"] for each in told["FinalMetricDataList"]] == [metric["MetricName"]]
        assert told["HyperParameters"]["rate"] == (job["TunedHyperParameters"]["rate"] if low else "10")


def test_the_best_training_job_is_the_best_of_all_definitions_and_names_its_own(done, sagemaker):
    _, answer, jobs = done
    best = max(jobs, key=lambda job: job["FinalHyperParameterTuningJobObjectiveMetric"]["Value"])
    assert answer["BestTrainingJob"] == best
    assert best["TrainingJobDefinitionName"] == "high"
    (first,) = trials(
        sagemaker, "several", SortBy="FinalObjectiveMetricValue", SortOrder="Descending", MaxResults=1
    )
    assert first["FinalHyperParameterTuningJobObjectiveMetric"]["MetricName"] == "quality"


def test_describe_tells_the_definitions_as_amt_does(done):
    request, answer, _ = done
    assert "TrainingJobDefinition" not in answer
    assert covers(answer["HyperParameterTuningJobConfig"], request["HyperParameterTuningJobConfig"])
    assert not {"ParameterRanges", "HyperParameterTuningJobObjective"} & set(
        answer["HyperParameterTuningJobConfig"]
    )
    for asked, told in zip(request["TrainingJobDefinitions"], answer["TrainingJobDefinitions"], strict=True):
        objective = asked["TuningObjective"]["MetricName"]
        kinds = ("IntegerParameterRanges", "ContinuousParameterRanges", "CategoricalParameterRanges")
        assert told == {
            **asked,
            "StaticHyperParameters": {
                **asked["StaticHyperParameters"],
                "_tuning_objective_metric": objective,
            },
            "HyperParameterRanges": {kind: [] for kind in kinds} | asked["HyperParameterRanges"],
        }


def test_a_named_definition_of_its_own_is_told_too(sagemaker, place):
    request = tuning_request(place, "named", jobs=1, parallel=1)
    request["TrainingJobDefinition"]["DefinitionName"] = "only"
    sagemaker.create_hyper_parameter_tuning_job(**request)
    answer = tuned(sagemaker, "named")
    assert answer["TrainingJobDefinition"]["DefinitionName"] == "only"
    assert answer["BestTrainingJob"]["TrainingJobDefinitionName"] == "only"


def test_a_list_of_one_can_be_warm_started(sagemaker, place, done):
    request = several_request(place, "alone", jobs=2, parallel=1)
    del request["TrainingJobDefinitions"][1]
    sagemaker.create_hyper_parameter_tuning_job(**request)
    assert tuned(sagemaker, "alone")["HyperParameterTuningJobStatus"] == "Completed"

    def warm(name: str, parent: str) -> dict[str, Any]:
        child = several_request(place, name, jobs=1, parallel=1, Strategy="Bayesian")
        del child["TrainingJobDefinitions"][1]
        child["WarmStartConfig"] = {
            "ParentHyperParameterTuningJobs": [{"HyperParameterTuningJobName": parent}],
            "WarmStartType": "IdenticalDataAndAlgorithm",
        }
        return child

    sagemaker.create_hyper_parameter_tuning_job(**warm("warm-list", "alone"))
    overall = tuned(sagemaker, "warm-list")["OverallBestTrainingJob"]
    assert overall["TrainingJobDefinitionName"] == "low"
    code, message = refusal(sagemaker.create_hyper_parameter_tuning_job, **warm("warm-two", "several"))
    assert code == "ValidationException"
    assert "several has 2 definitions; only a tuning job of one can be a parent" in message


def test_a_definition_whose_training_jobs_all_fail_leaves_the_rest_to_the_others(sagemaker, place):
    hold = place / "hold-others"
    hold.touch()
    request = several_request(
        place, "half", jobs=12, parallel=6, StaticHyperParameters={"hold": str(hold), "epochs": "3"}
    )
    low, high = request["TrainingJobDefinitions"]
    high["StaticHyperParameters"] = {
        **{key: text for key, text in high["StaticHyperParameters"].items() if key not in ("hold", "epochs")},
        "fail": "yes",
    }
    sagemaker.create_hyper_parameter_tuning_job(**{**request, "TrainingJobDefinitions": [high, low]})

    def counted() -> tuple[int, int]:
        answer = sagemaker.describe_hyper_parameter_tuning_job(HyperParameterTuningJobName="half")
        counters = answer["TrainingJobStatusCounters"]
        return counters["NonRetryableError"], counters["InProgress"]

    until(lambda: counted() == (5, 6), "five failures beside six jobs that are held")
    hold.unlink()
    answer = tuned(sagemaker, "half")
    assert answer["HyperParameterTuningJobStatus"] == "Completed"
    assert answer["BestTrainingJob"]["TrainingJobDefinitionName"] == "low"
    names = [job["TrainingJobDefinitionName"] for job in trials(sagemaker, "half", MaxResults=100)]
    assert (names.count("high"), names.count("low")) == (5, 7)


def test_a_tuning_job_fails_when_no_definition_succeeds(sagemaker, place):
    request = several_request(place, "none", jobs=30, parallel=4, StaticHyperParameters={"fail": "yes"})
    sagemaker.create_hyper_parameter_tuning_job(**request)
    answer = tuned(sagemaker, "none")
    assert answer["HyperParameterTuningJobStatus"] == "Failed"
    assert answer["FailureReason"].startswith("No training job succeeded after 10 attempts.")
    assert answer["TrainingJobStatusCounters"]["NonRetryableError"] >= 10


def test_bayesian_settings_are_each_within_their_definitions_ranges(sagemaker, place):
    request = several_request(place, "modelled", jobs=14, parallel=4, Strategy="Bayesian")
    request["TrainingJobDefinitions"][1]["ResourceConfig"]["InstanceCount"] = 1
    sagemaker.create_hyper_parameter_tuning_job(**request)
    assert tuned(sagemaker, "modelled")["HyperParameterTuningJobStatus"] == "Completed"
    jobs = trials(sagemaker, "modelled", MaxResults=100)
    assert len(jobs) == 14
    for job in jobs:
        tuned_ones = job["TunedHyperParameters"]
        if job["TrainingJobDefinitionName"] == "low":
            assert 0.1 <= float(tuned_ones["rate"]) <= 1
        else:
            assert tuned_ones["epochs"] in ("1", "2", "3")
    assert min(sum(job["TrainingJobDefinitionName"] == name for job in jobs) for name in ("low", "high")) >= 5


def test_a_training_job_that_is_stopped_is_one_of_its_definition_all_the_same(sagemaker, place):
    hold = place / "hold-stopped"
    hold.touch()
    request = several_request(
        place, "stopped-one", jobs=2, parallel=2, StaticHyperParameters={"hold": str(hold), "epochs": "3"}
    )
    del request["TrainingJobDefinitions"][1]["StaticHyperParameters"]["epochs"]
    sagemaker.create_hyper_parameter_tuning_job(**request)
    until(lambda: len(trials(sagemaker, "stopped-one")) == 2)
    first = trials(sagemaker, "stopped-one")[0]["TrainingJobName"]
    until(lambda: "FinalMetricDataList" in sagemaker.describe_training_job(TrainingJobName=first))
    sagemaker.stop_training_job(TrainingJobName=first)
    ended(sagemaker, first)
    hold.unlink()
    tuned(sagemaker, "stopped-one")
    (stopped,) = trials(sagemaker, "stopped-one", StatusEquals="Stopped")
    assert (stopped["TrainingJobName"], stopped["TrainingJobDefinitionName"]) == (first, "low")


def test_hyperband_decides_of_each_definition_by_itself(sagemaker, place):
    request = several_request(place, "band", jobs=12, parallel=4, Strategy="Hyperband")
    for definition, epochs in zip(request["TrainingJobDefinitions"], ("9", "4"), strict=True):
        definition["StaticHyperParameters"]["epochs"] = epochs
        definition["HyperParameterRanges"] = {
            "ContinuousParameterRanges": [{"Name": "rate", "MinValue": "0.1", "MaxValue": "1.0"}]
        }
        definition["StaticHyperParameters"].pop("rate", None)
        definition["ResourceConfig"]["InstanceCount"] = 1
    sagemaker.create_hyper_parameter_tuning_job(**request)
    answer = tuned(sagemaker, "band")
    assert answer["HyperParameterTuningJobStatus"] == "Completed"
    assert answer["ObjectiveStatusCounters"] == {"Succeeded": 12, "Pending": 0, "Failed": 0}
    jobs = trials(sagemaker, "band", MaxResults=100)
    for name, epochs in (("low", 9), ("high", 4)):
        own = [job for job in jobs if job["TrainingJobDefinitionName"] == name]
        assert len(own) == 6
        stopped = [job for job in own if job["TrainingJobStatus"] == "Stopped"]
        assert stopped  # whoever is first of its definition runs to its own maximum at least
        best = max(own, key=lambda job: job["FinalHyperParameterTuningJobObjectiveMetric"]["Value"])
        rate = float(best["TunedHyperParameters"]["rate"])
        value = best["FinalHyperParameterTuningJobObjectiveMetric"]["Value"]
        assert value == pytest.approx(epochs * rate)


def test_a_grid_of_several_definitions_tries_all_combinations_of_each(sagemaker, place):
    request = several_request(place, "grids", Strategy="Grid", parallel=4)
    del request["HyperParameterTuningJobConfig"]["ResourceLimits"]["MaxNumberOfTrainingJobs"]
    low, high = request["TrainingJobDefinitions"]
    low["HyperParameterRanges"] = {
        "CategoricalParameterRanges": [{"Name": "rate", "Values": ["0.1", "0.2", "0.3"]}]
    }
    high["HyperParameterRanges"] = {"CategoricalParameterRanges": [{"Name": "epochs", "Values": ["1", "2"]}]}
    high["ResourceConfig"]["InstanceCount"] = 1
    sagemaker.create_hyper_parameter_tuning_job(**request)
    assert tuned(sagemaker, "grids")["HyperParameterTuningJobStatus"] == "Completed"
    tried = [job["TunedHyperParameters"] for job in trials(sagemaker, "grids", MaxResults=100)]
    expected = [{"rate": each} for each in ("0.1", "0.2", "0.3")] + [{"epochs": each} for each in "12"]
    assert sorted(map(str, tried)) == sorted(map(str, expected))


@pytest.mark.parametrize(("strategy", "rule"), [("Grid", "rule 326"), ("Hyperband", "rule 323")])
def test_what_a_strategy_needs_of_every_definition_is_asked_of_several_too(sagemaker, place, strategy, rule):
    request = several_request(place, "refused", Strategy=strategy)
    code, message = refusal(sagemaker.create_hyper_parameter_tuning_job, **request)
    assert code == "ValidationException"
    assert rule in message


def test_every_fault_of_every_definition_is_told_at_once(sagemaker, place):
    request = several_request(place, "dirty")
    low, high = request["TrainingJobDefinitions"]
    high |= {"DefinitionName": "low", "TuningObjective": {"Type": "Minimize", "MetricName": "nothing"}}
    low["HyperParameterRanges"]["ContinuousParameterRanges"][0]["MinValue"] = "2"
    low["OutputDataConfig"] = {"S3OutputPath": "file:///elsewhere"}
    request["TrainingJobDefinition"] = low
    code, message = refusal(sagemaker.create_hyper_parameter_tuning_job, **request)
    assert code == "ValidationException"
    assert (
        "TrainingJobDefinitions[0].OutputDataConfig.S3OutputPath: file:///elsewhere is not below" in message
    )
    low["OutputDataConfig"] = high["OutputDataConfig"]
    code, message = refusal(sagemaker.create_hyper_parameter_tuning_job, **request)
    assert "[rule 301]" in message
    del request["TrainingJobDefinition"]
    code, message = refusal(sagemaker.create_hyper_parameter_tuning_job, **request)
    for rule in (303, 311, 331, 334):
        assert f"[rule {rule}]" in message
    del low["DefinitionName"]
    assert (
        "DefinitionName: found nothing" in refusal(sagemaker.create_hyper_parameter_tuning_job, **request)[1]
    )
