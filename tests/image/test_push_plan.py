"""What is pushed where, decided before anything is done."""

from __future__ import annotations

from typing import Any

import boto3
import pytest
from botocore.validate import ParamValidator

from bandstand.errors import InputError, PlatformError
from bandstand.image.docker_command import CommandError
from bandstand.image.push_plan import PushPlan, make_push_plan, split_reference
from bandstand.image.refusals import from_docker

LABELS = {
    "org.opencontainers.image.version": "1.2",
    "org.opencontainers.image.revision": "0123456789abcdef-dirty",
}


def facts(**changes: Any) -> dict[str, Any]:
    return {"Os": "linux", "Architecture": "amd64", "Size": 7, "Config": {"Labels": LABELS}} | changes


def plan_of(image: str, repository: str | None = None, tag: str | None = None, **changes: Any) -> PushPlan:
    return make_push_plan(
        facts(**changes), image, repository=repository, tag=tag, region="r", keep=3, immutable=False
    )


@pytest.mark.parametrize(
    ("image", "name", "tag"),
    [
        ("mine", "mine", "latest"),
        ("mine:1", "mine", "1"),
        ("team/mine:1", "team/mine", "1"),
        ("localhost:5000/team/mine:1", "team/mine", "1"),
        ("1.dkr.ecr.r.amazonaws.com/mine@sha256:00", "mine", "latest"),
    ],
)
def test_a_reference_is_read_without_its_registry(image: str, name: str, tag: str):
    assert split_reference(image) == (name, tag)


def test_latest_becomes_the_version_and_revision_that_the_labels_tell():
    assert plan_of("mine:latest").tag == "1.2-0123456789ab-dirty"
    assert plan_of("mine:latest", Config={"Labels": None}).tag == "latest"
    assert plan_of("mine:7").tag == "7"
    assert plan_of("mine:latest", tag="8").tag == "8"


def test_names_that_ecr_does_not_take_are_told_together():
    with pytest.raises(InputError) as told:
        plan_of("mine", repository="Team//Mine", tag="a b")
    assert "'Team//Mine' is no name of a repository" in str(told.value)
    assert "'a b' is no tag" in str(told.value)


def test_an_image_for_other_processors_is_refused_before_it_is_pushed():
    with pytest.raises(PlatformError, match=r"is for linux/arm64; .* --platform linux/amd64"):
        plan_of("mine", Architecture="arm64")


def test_the_lifecycle_policy_is_one_that_the_api_takes():
    model = boto3.client("ecr", region_name="us-east-1").meta.service_model
    shape = model.operation_model("PutLifecyclePolicy").input_shape
    given = {"repositoryName": "mine", "lifecyclePolicyText": plan_of("mine").lifecycle}
    assert not ParamValidator().validate(given, shape).has_errors()


@pytest.mark.parametrize(
    ("said", "advice"),
    [
        (
            "tag invalid: The image tag '1' cannot be overwritten because the tag is immutable.",
            "give another one with --tag",
        ),
        ("denied: Your authorization token has expired. Reauthenticate and try again.", "Run the push again"),
        ("no basic auth credentials", "Run the push again"),
        ("denied: User: x is not authorized to perform: ecr:PutImage", "ecr:PutImage on mine"),
        ("toomanyrequests: Rate exceeded quota", "quota"),
        ("dial tcp: lookup 1.dkr.ecr.r.amazonaws.com: no such host", "cannot be reached"),
        ("Cannot connect to the Docker daemon", "Start it"),
        ("write /var/lib/docker/tmp/x: no space left on device", "disk is full"),
    ],
)
def test_each_refusal_of_the_registry_has_advice_of_its_own(said: str, advice: str):
    text = str(
        from_docker(CommandError(("push",), f"The push refers to a repository\n{said}\n"), plan_of("mine"))
    )
    assert said in text
    assert advice in text
