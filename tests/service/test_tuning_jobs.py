"""Tuning jobs over the API, by boto3, with a service that really runs them."""

from __future__ import annotations

import pytest

from bandstand.backends.sagemaker.creating import covers

from .served import ended, refusal, tuned, tuning_request, until

BAND = {
    "Strategy": "Hyperband",
    "StrategyConfig": {"HyperbandStrategyConfig": {"MinResource": 1, "MaxResource": 3}},
}


@pytest.fixture(scope="module")
def done(sagemaker, place):
    """A tuning job that has completed, as it was asked for, as it is described, and its training jobs."""
    request = tuning_request(place, "tuned", Config=BAND, StaticHyperParameters={"epochs": "9"})
    sagemaker.create_hyper_parameter_tuning_job(**request)
    answer = tuned(sagemaker, "tuned")
    jobs = sagemaker.list_training_jobs_for_hyper_parameter_tuning_job(HyperParameterTuningJobName="tuned")
    return request, answer, jobs["TrainingJobSummaries"]


def test_a_tuning_job_that_is_created_really_runs_all_its_training_jobs(done):
    request, answer, jobs = done
    assert answer["HyperParameterTuningJobStatus"] == "Completed"
    assert len(jobs) == 3
    assert covers(answer["HyperParameterTuningJobConfig"], request["HyperParameterTuningJobConfig"])
    assert answer["HyperParameterTuningEndTime"] >= max(job["TrainingEndTime"] for job in jobs)


def test_describe_adds_the_objective_to_the_definition_as_amt_does(done):
    request, answer, _ = done
    definition = request["TrainingJobDefinition"]
    static = {**definition["StaticHyperParameters"], "_tuning_objective_metric": "score"}
    assert answer["TrainingJobDefinition"] == {**definition, "StaticHyperParameters": static}


def test_hyperband_stops_training_jobs_which_are_counted_as_stopped_and_succeeded(done):
    _, answer, jobs = done
    stopped = sum(job["TrainingJobStatus"] == "Stopped" for job in jobs)
    assert stopped >= 1
    counters = answer["TrainingJobStatusCounters"]
    assert counters["Stopped"] == stopped
    assert counters["Completed"] == 3 - stopped
    assert counters["InProgress"] == counters["RetryableError"] == counters["NonRetryableError"] == 0
    assert answer["ObjectiveStatusCounters"] == {"Succeeded": 3, "Pending": 0, "Failed": 0}


def test_the_best_training_job_is_the_one_with_the_best_last_value(done):
    _, answer, jobs = done
    best = max(jobs, key=lambda job: job["FinalHyperParameterTuningJobObjectiveMetric"]["Value"])
    assert answer["BestTrainingJob"] == best
    assert best["ObjectiveStatus"] == "Succeeded"
    assert "OverallBestTrainingJob" not in answer


def test_a_training_job_names_its_tuning_job_and_holds_what_was_tuned(done, sagemaker):
    _, answer, jobs = done
    one = sagemaker.describe_training_job(TrainingJobName=jobs[0]["TrainingJobName"])
    assert one["TuningJobArn"] == answer["HyperParameterTuningJobArn"]
    assert one["HyperParameters"]["rate"] == jobs[0]["TunedHyperParameters"]["rate"]
    assert one["HyperParameters"]["_tuning_objective_metric"] == "score"
    assert one["TrainingStartTime"] == jobs[0]["TrainingStartTime"]


def test_a_tuning_job_that_is_stopped_stops_its_training_jobs(sagemaker, place):
    hold = place / "hold-tuning"
    hold.touch()
    request = tuning_request(place, "halted", StaticHyperParameters={"hold": str(hold)})
    sagemaker.create_hyper_parameter_tuning_job(**request)

    def counted(word: str) -> int:
        answer = sagemaker.describe_hyper_parameter_tuning_job(HyperParameterTuningJobName="halted")
        return answer["TrainingJobStatusCounters"][word]

    until(lambda: counted("InProgress") == 2)
    sagemaker.stop_hyper_parameter_tuning_job(HyperParameterTuningJobName="halted")
    answer = sagemaker.describe_hyper_parameter_tuning_job(HyperParameterTuningJobName="halted")
    assert answer["HyperParameterTuningJobStatus"] in ("Stopping", "Stopped")
    assert tuned(sagemaker, "halted")["HyperParameterTuningJobStatus"] == "Stopped"
    assert counted("Stopped") == 2
    code, message = refusal(sagemaker.stop_hyper_parameter_tuning_job, HyperParameterTuningJobName="halted")
    assert code == "ValidationException"
    assert "in status Stopped" in message


@pytest.mark.parametrize("strategy", ["Bayesian", "Random"])
def test_a_warm_start_that_is_identical_knows_the_best_of_all(sagemaker, place, done, strategy):
    name = f"warm-{strategy}"
    request = tuning_request(
        place,
        name,
        jobs=1,
        parallel=1,
        Config={"Strategy": strategy},
        StaticHyperParameters={"epochs": "9"},
        WarmStartConfig={
            "ParentHyperParameterTuningJobs": [{"HyperParameterTuningJobName": "tuned"}],
            "WarmStartType": "IdenticalDataAndAlgorithm",
        },
    )
    sagemaker.create_hyper_parameter_tuning_job(**request)
    answer = tuned(sagemaker, name)
    assert answer["WarmStartConfig"] == request["WarmStartConfig"]
    values = [
        each["FinalHyperParameterTuningJobObjectiveMetric"]["Value"]
        for each in (answer["BestTrainingJob"], done[1]["BestTrainingJob"])
    ]
    overall = answer["OverallBestTrainingJob"]["FinalHyperParameterTuningJobObjectiveMetric"]["Value"]
    assert overall == max(values)


def test_a_warm_start_from_nobody_is_refused(sagemaker, place):
    request = tuning_request(
        place,
        "orphan",
        Config={"Strategy": "Bayesian"},
        WarmStartConfig={
            "ParentHyperParameterTuningJobs": [{"HyperParameterTuningJobName": "nobodys"}],
            "WarmStartType": "TransferLearning",
        },
    )
    code, message = refusal(sagemaker.create_hyper_parameter_tuning_job, **request)
    assert code == "ValidationException"
    assert "nobodys" in message


def test_a_name_is_given_once(sagemaker, place, done):
    code, message = refusal(sagemaker.create_hyper_parameter_tuning_job, **tuning_request(place, "Tuned"))
    assert code == "ResourceInUse"
    assert "must be unique" in message


def test_a_tuning_job_that_nobody_created_is_not_found(sagemaker):
    for call in (
        sagemaker.describe_hyper_parameter_tuning_job,
        sagemaker.stop_hyper_parameter_tuning_job,
        sagemaker.delete_hyper_parameter_tuning_job,
        sagemaker.list_training_jobs_for_hyper_parameter_tuning_job,
    ):
        code, message = refusal(call, HyperParameterTuningJobName="nobodys")
        assert code == "ResourceNotFound"
        assert "Could not find" in message


def test_training_jobs_outlive_the_tuning_job_that_is_deleted(sagemaker, place):
    request = tuning_request(place, "dropped", jobs=1, parallel=1)
    sagemaker.create_hyper_parameter_tuning_job(**request)
    tuned(sagemaker, "dropped")
    (job,) = sagemaker.list_training_jobs_for_hyper_parameter_tuning_job(
        HyperParameterTuningJobName="dropped"
    )["TrainingJobSummaries"]
    sagemaker.delete_hyper_parameter_tuning_job(HyperParameterTuningJobName="dropped")
    code, _ = refusal(sagemaker.describe_hyper_parameter_tuning_job, HyperParameterTuningJobName="dropped")
    assert code == "ResourceNotFound"
    assert ended(sagemaker, job["TrainingJobName"])["TrainingJobStatus"] == "Completed"


def test_a_training_job_of_a_tuning_job_that_runs_cannot_be_deleted(sagemaker, place):
    hold = place / "hold-delete"
    hold.touch()
    request = tuning_request(place, "held", jobs=2, parallel=1, StaticHyperParameters={"hold": str(hold)})
    sagemaker.create_hyper_parameter_tuning_job(**request)

    def first() -> str | None:
        found = sagemaker.list_training_jobs_for_hyper_parameter_tuning_job(
            HyperParameterTuningJobName="held"
        )["TrainingJobSummaries"]
        return found[0]["TrainingJobName"] if found else None

    name = until(first)
    sagemaker.stop_training_job(TrainingJobName=name)
    ended(sagemaker, name)
    code, message = refusal(sagemaker.delete_training_job, TrainingJobName=name)
    assert code == "ResourceInUse"
    assert "belongs to tuning job held" in message
    hold.unlink()
    assert tuned(sagemaker, "held")["HyperParameterTuningJobStatus"] == "Completed"


def test_describe_tells_the_metric_that_awss_own_image_brings(sagemaker, place):
    (place / "data" / "a.csv").write_text("1,2\n0,1\n" * 10)
    objective = {"Type": "Maximize", "MetricName": "train:auc"}
    request = tuning_request(
        place, "aws-image", jobs=1, Config={"HyperParameterTuningJobObjective": objective}
    )
    request["HyperParameterTuningJobConfig"]["ParameterRanges"] = {
        "ContinuousParameterRanges": [{"Name": "eta", "MinValue": "0.1", "MaxValue": "1.0"}]
    }
    definition = request["TrainingJobDefinition"]
    image = "246618743249.dkr.ecr.us-west-2.amazonaws.com/sagemaker-xgboost:1.7-1"
    definition["AlgorithmSpecification"] = {"TrainingImage": image, "TrainingInputMode": "File"}
    definition["StaticHyperParameters"] = {"objective": "binary:logistic", "num_round": "2"}
    definition["InputDataConfig"][0]["ContentType"] = "text/csv"
    sagemaker.create_hyper_parameter_tuning_job(**request)
    answer = tuned(sagemaker, "aws-image")
    assert answer["HyperParameterTuningJobStatus"] == "Completed", answer["FailureReason"]
    (metric,) = answer["TrainingJobDefinition"]["AlgorithmSpecification"]["MetricDefinitions"]
    assert metric["Name"] == "train:auc"
    assert answer["BestTrainingJob"]["ObjectiveStatus"] == "Succeeded"


def test_describe_tells_the_resources_in_the_member_that_sdk_2_attaches_by(sagemaker, place):
    request = tuning_request(place, "resources", jobs=1, parallel=1)
    definition = request["TrainingJobDefinition"]
    resources = definition.pop("ResourceConfig")
    definition["HyperParameterTuningResourceConfig"] = resources
    sagemaker.create_hyper_parameter_tuning_job(**request)
    answer = tuned(sagemaker, "resources")
    assert answer["TrainingJobDefinition"]["ResourceConfig"] == resources
    assert answer["TrainingJobDefinition"]["HyperParameterTuningResourceConfig"] == resources


def test_describe_tells_what_the_service_fills_in_where_the_request_is_silent(sagemaker, place):
    """SDK 2 reads each of these, whether it is there or not, when it attaches to a job."""
    request = tuning_request(place, "silent", jobs=1, parallel=1)
    request["HyperParameterTuningJobConfig"].pop("TrainingJobEarlyStoppingType", None)
    request["TrainingJobDefinition"]["StoppingCondition"] = {}
    sagemaker.create_hyper_parameter_tuning_job(**request)
    answer = tuned(sagemaker, "silent")
    config = answer["HyperParameterTuningJobConfig"]
    assert config["TrainingJobEarlyStoppingType"] == "Off"
    assert config["ParameterRanges"] == {
        "IntegerParameterRanges": [],
        "ContinuousParameterRanges": [{"Name": "rate", "MinValue": "0.1", "MaxValue": "1.0"}],
        "CategoricalParameterRanges": [],
    }
    assert answer["TrainingJobDefinition"]["StoppingCondition"] == {"MaxRuntimeInSeconds": 86400}
