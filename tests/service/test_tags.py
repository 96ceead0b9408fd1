"""Tags over the API."""

from __future__ import annotations

import pytest

from .served import ended, refusal, training_request, tuned, tuning_request, until


@pytest.fixture(scope="module")
def arn(sagemaker, place):
    request = training_request(place, "tagged", Tags=[{"Key": "team", "Value": "a"}])
    answer = sagemaker.create_training_job(**request)
    ended(sagemaker, "tagged")
    return answer["TrainingJobArn"]


def tags(sagemaker, arn):
    return {tag["Key"]: tag["Value"] for tag in sagemaker.list_tags(ResourceArn=arn)["Tags"]}


def test_tags_are_those_of_the_request_until_somebody_changes_them(sagemaker, arn):
    assert tags(sagemaker, arn) == {"team": "a"}
    sagemaker.add_tags(ResourceArn=arn, Tags=[{"Key": "team", "Value": "b"}, {"Key": "x", "Value": ""}])
    assert tags(sagemaker, arn) == {"team": "b", "x": ""}
    sagemaker.delete_tags(ResourceArn=arn, TagKeys=["team", "nobodys"])
    assert tags(sagemaker, arn) == {"x": ""}


def test_a_resource_has_at_most_fifty_tags(sagemaker, arn):
    many = [{"Key": f"key-{number}", "Value": ""} for number in range(50)]
    sagemaker.delete_tags(ResourceArn=arn, TagKeys=["x"])
    sagemaker.add_tags(ResourceArn=arn, Tags=many)
    assert len(tags(sagemaker, arn)) == 50
    code, _ = refusal(sagemaker.add_tags, ResourceArn=arn, Tags=[{"Key": "more", "Value": ""}])
    assert code == "ResourceLimitExceeded"
    assert len(tags(sagemaker, arn)) == 50
    sagemaker.delete_tags(ResourceArn=arn, TagKeys=[tag["Key"] for tag in many])


def test_keys_of_aws_and_keys_given_twice_are_refused(sagemaker, arn):
    wrong = [{"Key": "aws:x", "Value": ""}, {"Key": "a", "Value": ""}, {"Key": "a", "Value": "b"}]
    code, message = refusal(sagemaker.add_tags, ResourceArn=arn, Tags=wrong)
    assert code == "ValidationException"
    assert "'aws:x'" in message
    assert "'a' is given more than once" in message


@pytest.mark.parametrize(
    ("resource", "code"),
    [
        ("training-job/nobodys", "ResourceNotFound"),
        ("hyper-parameter-tuning-job/tagged", "ResourceNotFound"),
        ("model/m", "ValidationException"),
    ],
)
def test_tags_of_what_is_not_there_are_refused(sagemaker, resource, code):
    arn = f"arn:aws:sagemaker:eu-west-1:123456789012:{resource}"
    assert refusal(sagemaker.list_tags, ResourceArn=arn)[0] == code


def test_training_jobs_get_the_tags_that_their_tuning_job_has_when_they_are_launched(sagemaker, place):
    hold = place / "hold-tags"
    hold.touch()
    request = tuning_request(
        place,
        "tags",
        jobs=2,
        parallel=1,
        StaticHyperParameters={"hold": str(hold)},
        Tags=[{"Key": "first", "Value": "1"}],
    )
    arn = sagemaker.create_hyper_parameter_tuning_job(**request)["HyperParameterTuningJobArn"]

    def jobs():
        answer = sagemaker.list_training_jobs_for_hyper_parameter_tuning_job(
            HyperParameterTuningJobName="tags"
        )
        return answer["TrainingJobSummaries"]

    until(jobs)
    sagemaker.add_tags(ResourceArn=arn, Tags=[{"Key": "second", "Value": "2"}])
    hold.unlink()
    tuned(sagemaker, "tags")
    found = [tags(sagemaker, job["TrainingJobArn"]) for job in jobs()]
    assert found == [{"first": "1"}, {"first": "1", "second": "2"}]
