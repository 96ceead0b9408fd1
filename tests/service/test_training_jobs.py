"""Training jobs over the API, by boto3, with a service that really runs them."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from bandstand.backends.sagemaker.creating import covers
from bandstand.backends.task import MOST_HOSTS
from bandstand.runs.record import Record
from bandstand.runs.views import show

from .served import ended, refusal, training_request, until


@pytest.fixture(scope="module")
def done(sagemaker, place):
    """A job that has completed, as it was asked for and as it is described."""
    request = training_request(place, "done", Tags=[{"Key": "team", "Value": "a"}])
    arn = sagemaker.create_training_job(**request)["TrainingJobArn"]
    return request, arn, ended(sagemaker, "done")


def test_a_training_job_that_is_created_really_runs(done, place):
    _, _, answer = done
    assert answer["TrainingJobStatus"] == "Completed"
    assert (place / "out" / "done" / "output" / "model.tar.gz").is_file()


def test_the_answer_to_create_is_the_arn_in_the_region_of_the_client(done):
    _, arn, answer = done
    assert arn == "arn:aws:sagemaker:eu-west-1:123456789012:training-job/done"
    assert answer["TrainingJobArn"] == arn


def test_describe_gives_back_the_request_as_it_was(done):
    request, _, answer = done
    for member in ("RoleArn", "HyperParameters", "ResourceConfig"):
        assert answer[member] == request[member]
    assert covers(answer["InputDataConfig"], request["InputDataConfig"])
    assert covers(answer["OutputDataConfig"], request["OutputDataConfig"])
    for member, value in request["AlgorithmSpecification"].items():
        assert answer["AlgorithmSpecification"][member] == value


def test_describe_tells_what_the_service_fills_in_where_the_request_is_silent(done):
    """SDK 2 reads each of these, whether it is there or not, when it attaches to a job."""
    _, _, answer = done
    assert answer["OutputDataConfig"]["KmsKeyId"] == ""
    (channel,) = answer["InputDataConfig"]
    assert (channel["CompressionType"], channel["RecordWrapperType"]) == ("None", "None")
    assert channel["DataSource"]["S3DataSource"]["S3DataDistributionType"] == "FullyReplicated"


def test_each_secondary_status_ends_when_the_next_begins(done):
    steps = done[2]["SecondaryStatusTransitions"]
    assert [step["Status"] for step in steps] == [
        "Starting",
        "Downloading",
        "Training",
        "Uploading",
        "Completed",
    ]
    for step, after in itertools.pairwise(steps):
        assert step["EndTime"] == after["StartTime"]
        assert step["StatusMessage"]
    assert steps[-1]["EndTime"] == done[2]["TrainingEndTime"]


def test_a_job_is_billed_from_downloading_to_its_end(done):
    answer = done[2]
    begin = answer["SecondaryStatusTransitions"][1]["StartTime"]
    assert answer["TrainingStartTime"] == begin
    seconds = (answer["TrainingEndTime"] - begin).total_seconds()
    assert seconds <= answer["BillableTimeInSeconds"] < seconds + 1
    assert answer["TrainingTimeInSeconds"] == answer["BillableTimeInSeconds"]


def test_the_final_value_of_a_metric_is_its_last_one_in_single_precision(sagemaker, place):
    request = training_request(place, "metrics", HyperParameters={"rate": "0.1", "epochs": "3"})
    sagemaker.create_training_job(**request)
    (metric,) = ended(sagemaker, "metrics")["FinalMetricDataList"]
    assert (metric["MetricName"], metric["Value"]) == ("score", 0.3)


def test_a_job_that_fails_tells_why(sagemaker, place):
    sagemaker.create_training_job(**training_request(place, "fails", HyperParameters={"fail": "1"}))
    answer = ended(sagemaker, "fails")
    assert answer["TrainingJobStatus"] == answer["SecondaryStatus"] == "Failed"
    assert "it was asked to fail" in answer["FailureReason"]


def test_a_job_that_is_stopped_is_stopping_at_once_and_keeps_its_model(sagemaker, place):
    hold = place / "hold-stop"
    hold.touch()
    sagemaker.create_training_job(**training_request(place, "stops", HyperParameters={"hold": str(hold)}))
    until(lambda: "FinalMetricDataList" in sagemaker.describe_training_job(TrainingJobName="stops"))
    sagemaker.stop_training_job(TrainingJobName="stops")
    answer = sagemaker.describe_training_job(TrainingJobName="stops")
    assert answer["TrainingJobStatus"] in ("Stopping", "Stopped")
    assert answer["SecondaryStatusTransitions"][-1]["Status"] in ("Stopping", "Stopped")
    answer = ended(sagemaker, "stops")
    assert answer["TrainingJobStatus"] == answer["SecondaryStatus"] == "Stopped"
    assert (place / "out" / "stops" / "output" / "model.tar.gz").is_file()


def test_a_job_that_is_over_cannot_be_stopped(sagemaker, done):
    assert refusal(sagemaker.stop_training_job, TrainingJobName="done") == (
        "ValidationException",
        "The request was rejected because the training job is in status Completed.",
    )


def test_a_name_is_given_once_whatever_its_case(sagemaker, place, done):
    code, message = refusal(sagemaker.create_training_job, **training_request(place, "DONE"))
    assert code == "ResourceInUse"
    assert "must be unique" in message


def test_a_job_that_nobody_created_is_not_found(sagemaker):
    for call in (
        sagemaker.describe_training_job,
        sagemaker.stop_training_job,
        sagemaker.delete_training_job,
    ):
        code, message = refusal(call, TrainingJobName="nobodys")
        assert (code, message) == ("ValidationException", "Requested resource not found.")


def test_all_that_is_wrong_with_a_request_is_told_at_once(sagemaker, place):
    request = training_request(place, "wrong name!", RoleArn="no-arn-at-all-but-long-enough")
    code, message = refusal(sagemaker.create_training_job, **request)
    assert code == "ValidationException"
    assert message.startswith("2 validation errors detected: ")
    assert "TrainingJobName" in message
    assert "RoleArn" in message


def test_what_cannot_run_here_is_refused_with_its_rule(sagemaker, place):
    request = training_request(place, "pipe")
    request["AlgorithmSpecification"]["TrainingInputMode"] = "Pipe"
    code, message = refusal(sagemaker.create_training_job, **request)
    assert code == "ValidationException"
    assert "[rule 611] AlgorithmSpecification.TrainingInputMode" in message


def test_files_outside_the_allowed_folders_are_refused(sagemaker, place):
    request = training_request(place, "outside", OutputDataConfig={"S3OutputPath": "file:///usr/share"})
    code, message = refusal(sagemaker.create_training_job, **request)
    assert code == "ValidationException"
    assert "OutputDataConfig.S3OutputPath: file:///usr/share is not below" in message
    assert "--allow" in message


def test_the_command_line_sees_the_jobs_of_the_service(done, server):
    with Record.open(server.home) as record:
        assert show(record, "done")["status"] == "Completed"


def test_a_job_that_is_deleted_is_gone_and_its_name_is_free_and_its_model_stays(sagemaker, place):
    sagemaker.create_training_job(**training_request(place, "deleted"))
    assert refusal(sagemaker.delete_training_job, TrainingJobName="deleted")[0] == "ResourceInUse"
    ended(sagemaker, "deleted")
    sagemaker.delete_training_job(TrainingJobName="deleted")
    assert refusal(sagemaker.describe_training_job, TrainingJobName="deleted")[0] == "ValidationException"
    assert (place / "out" / "deleted" / "output" / "model.tar.gz").is_file()
    sagemaker.create_training_job(**training_request(place, "deleted"))
    ended(sagemaker, "deleted")


def test_describe_tells_what_was_updated_while_the_job_ran(sagemaker, place):
    hold = place / "hold-update"
    hold.touch()
    request = training_request(place, "updated", HyperParameters={"hold": str(hold)})
    sagemaker.create_training_job(**request)
    sagemaker.update_training_job(TrainingJobName="updated", ResourceConfig={"KeepAlivePeriodInSeconds": 60})
    answer = sagemaker.describe_training_job(TrainingJobName="updated")
    assert answer["ResourceConfig"] == {**request["ResourceConfig"], "KeepAlivePeriodInSeconds": 60}
    hold.unlink()
    ended(sagemaker, "updated")
    code, message = refusal(
        sagemaker.update_training_job,
        TrainingJobName="updated",
        ResourceConfig={"KeepAlivePeriodInSeconds": 0},
    )
    assert code == "ValidationException"
    assert "status Completed" in message


def test_paths_of_this_home_never_show_for_s3(sagemaker, place):
    request = training_request(place, "nowhere", OutputDataConfig={"S3OutputPath": "s3://no-such-bucket/out"})
    code, message = refusal(sagemaker.create_training_job, **request)
    assert code == "ValidationException"
    assert "no-such-bucket" in message
    assert str(Path.home()) not in message


def test_more_hosts_than_one_machine_can_be_are_refused_as_a_limit(sagemaker, place):
    request = training_request(place, "crowd")
    request["ResourceConfig"]["InstanceCount"] = MOST_HOSTS + 1
    code, message = refusal(sagemaker.create_training_job, **request)
    assert code == "ResourceLimitExceeded"
    assert f"is {MOST_HOSTS} instances" in message
