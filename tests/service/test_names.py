"""A training job and a tuning job of one name, over the API: each operation finds the one it is for."""

from __future__ import annotations

import pytest

from .page.asking import got
from .served import ended, refusal, training_request, tuned, tuning_request, until

NAME = "same"


@pytest.fixture(scope="module")
def arns(sagemaker, place):
    """The ARNs of a training job and a tuning job of one name, both of which run until they are stopped."""
    hold = place / "hold-same"
    hold.touch()
    lone = training_request(
        place, NAME, HyperParameters={"hold": str(hold)}, Tags=[{"Key": "kind", "Value": "training"}]
    )
    several = tuning_request(
        place,
        NAME,
        jobs=2,
        parallel=1,
        StaticHyperParameters={"hold": str(hold)},
    )
    several["Tags"] = [{"Key": "kind", "Value": "tuning"}]
    training = sagemaker.create_training_job(**lone)["TrainingJobArn"]
    tuning = sagemaker.create_hyper_parameter_tuning_job(**several)["HyperParameterTuningJobArn"]
    return {"training": training, "tuning": tuning}


def tags(sagemaker, arn):
    return {tag["Key"]: tag["Value"] for tag in sagemaker.list_tags(ResourceArn=arn)["Tags"]}


def test_both_are_described_and_listed(sagemaker, arns):
    lone = sagemaker.describe_training_job(TrainingJobName=NAME)
    whole = sagemaker.describe_hyper_parameter_tuning_job(HyperParameterTuningJobName=NAME)
    assert lone["TrainingJobArn"] == arns["training"]
    assert "TuningJobArn" not in lone
    assert whole["HyperParameterTuningJobArn"] == arns["tuning"]
    listed = sagemaker.list_training_jobs(NameContains=NAME)["TrainingJobSummaries"]
    assert [job["TrainingJobArn"] for job in listed if job["TrainingJobName"] == NAME] == [arns["training"]]


@pytest.mark.parametrize("kind", ["training", "tuning"])
def test_a_name_is_in_use_for_its_kind(sagemaker, place, arns, kind):
    create, request = {
        "training": (sagemaker.create_training_job, training_request),
        "tuning": (sagemaker.create_hyper_parameter_tuning_job, tuning_request),
    }[kind]
    code, message = refusal(create, **request(place, NAME))
    assert code == "ResourceInUse"
    assert message.endswith(f"a job with this name already exists ({arns[kind]}).")


def test_tags_are_those_of_the_arns_job(sagemaker, arns):
    for kind, arn in arns.items():
        assert tags(sagemaker, arn) == {"kind": kind}
        sagemaker.add_tags(ResourceArn=arn, Tags=[{"Key": "more", "Value": kind}])
    sagemaker.delete_tags(ResourceArn=arns["training"], TagKeys=["kind"])
    assert tags(sagemaker, arns["training"]) == {"more": "training"}
    assert tags(sagemaker, arns["tuning"]) == {"kind": "tuning", "more": "tuning"}


def test_the_page_has_both_and_a_link_to_each(server, arns):
    page = got(server, "/").text
    for kind in arns:
        assert f'href="/-/jobs/{kind}/{NAME}"' in page
        assert f"<title>{NAME} " in got(server, f"/-/jobs/{kind}/{NAME}").text
    assert "rungs" in got(server, f"/-/curves/tuning/{NAME}").document
    assert "metrics" in got(server, f"/-/curves/training/{NAME}").document


def test_each_is_stopped_and_deleted_and_the_other_goes_on(sagemaker, server, arns):
    def started() -> list[str]:
        found = sagemaker.list_training_jobs_for_hyper_parameter_tuning_job(HyperParameterTuningJobName=NAME)
        return [job["TrainingJobName"] for job in found["TrainingJobSummaries"]]

    def streams() -> list[str]:
        found = server.plain("logs").describe_log_streams(
            logGroupName="/aws/sagemaker/TrainingJobs", logStreamNamePrefix=f"{NAME}/"
        )
        return [stream["logStreamName"].split("/")[0] for stream in found["logStreams"]]

    until(started, "the first training job")
    assert until(streams, "the log of the training job") == [NAME]
    sagemaker.stop_training_job(TrainingJobName=NAME)
    assert ended(sagemaker, NAME)["TrainingJobStatus"] == "Stopped"
    whole = sagemaker.describe_hyper_parameter_tuning_job(HyperParameterTuningJobName=NAME)
    assert whole["HyperParameterTuningJobStatus"] == "InProgress"
    sagemaker.delete_training_job(TrainingJobName=NAME)
    assert refusal(sagemaker.describe_training_job, TrainingJobName=NAME)[0] == "ValidationException"
    assert refusal(sagemaker.list_tags, ResourceArn=arns["training"])[0] == "ResourceNotFound"
    assert tags(sagemaker, arns["tuning"])["kind"] == "tuning"
    sagemaker.stop_hyper_parameter_tuning_job(HyperParameterTuningJobName=NAME)
    assert tuned(sagemaker, NAME)["HyperParameterTuningJobStatus"] == "Stopped"
    sagemaker.delete_hyper_parameter_tuning_job(HyperParameterTuningJobName=NAME)
    code, _ = refusal(sagemaker.describe_hyper_parameter_tuning_job, HyperParameterTuningJobName=NAME)
    assert code == "ResourceNotFound"


def test_a_deleted_tuning_job_can_be_created_again_although_its_training_jobs_stay(sagemaker, place):
    request = tuning_request(place, "again", jobs=2)
    request["HyperParameterTuningJobConfig"]["RandomSeed"] = 7
    names = []
    for _ in range(2):
        sagemaker.create_hyper_parameter_tuning_job(**request)
        assert tuned(sagemaker, "again")["HyperParameterTuningJobStatus"] == "Completed"
        found = sagemaker.list_training_jobs_for_hyper_parameter_tuning_job(
            HyperParameterTuningJobName="again", SortBy="Name", SortOrder="Ascending"
        )["TrainingJobSummaries"]
        names.append([job["TrainingJobName"] for job in found])
        sagemaker.delete_hyper_parameter_tuning_job(HyperParameterTuningJobName="again")
    assert names[1] == [f"{name}-2" for name in names[0]]
    for name in (*names[0], *names[1]):
        assert ended(sagemaker, name)["TrainingJobStatus"] == "Completed"
