"""The part of ECR that a push needs."""

from __future__ import annotations

import base64
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from bandstand.backends.sagemaker.refusals import NO_REGION
from bandstand.errors import InputError
from bandstand.image.push_plan import PushPlan
from bandstand.image.refusals import from_aws

_Answer = TypeVar("_Answer")


@dataclass(frozen=True)
class Repository:
    """A repository in ECR.

    Args:
        uri: Registry and name, without a tag.
        created: Whether this push has made it.
        scans: Whether each push is scanned.
        immutable: Whether a tag stays with its image.
    """

    uri: str
    created: bool
    scans: bool
    immutable: bool


@dataclass(frozen=True, repr=False)
class Login:
    """A registry's login; it never prints itself.

    Args:
        user: The user's name.
        password: The password.
    """

    user: str
    password: str


def session(profile: str | None, region: str | None) -> Any:
    """A session of boto3 that has a region.

    Raises:
        InputError: If there is no such profile, or no region is set.
    """
    try:
        # boto3 does not read AWS_REGION, which the AWS command and other SDKs do.
        named = region or os.environ.get("AWS_REGION") or None
        made = boto3.session.Session(profile_name=profile, region_name=named)
    except BotoCoreError as error:
        raise InputError(f"{error}. 'aws configure list-profiles' lists those that there are.") from None
    if not made.region_name:
        raise InputError(NO_REGION)
    return made


class Ecr:
    """ECR as a push needs it.

    Args:
        session: A session of boto3.
        plan: The push.
    """

    def __init__(self, session: Any, plan: PushPlan) -> None:
        self._plan = plan
        self._client = self._call("ecr:DescribeRepositories", lambda: session.client("ecr"))

    def repository(self) -> Repository:
        """Find the repository, or make it as the plan says.

        Raises:
            InputError: The credentials are missing or over.
            PlatformError: AWS refused, or cannot be reached.
        """
        found = self._find()
        if found is None:
            found = self._create()
        return found

    def login(self) -> Login:
        """Ask for a login to the registry.

        Raises:
            InputError: The credentials are missing or over.
            PlatformError: AWS refused, or cannot be reached.
        """
        answer = self._call("ecr:GetAuthorizationToken", self._client.get_authorization_token)
        user, _, password = (
            base64.b64decode(answer["authorizationData"][0]["authorizationToken"]).decode().partition(":")
        )
        return Login(user, password)

    def _find(self) -> Repository | None:
        def ask() -> Any:
            try:
                return self._client.describe_repositories(repositoryNames=[self._plan.repository])
            except self._client.exceptions.RepositoryNotFoundException:
                return None

        answer = self._call("ecr:DescribeRepositories", ask)
        return _read(answer["repositories"][0], created=False) if answer else None

    def _create(self) -> Repository:
        plan = self._plan

        def ask() -> Any:
            try:
                return self._client.create_repository(
                    repositoryName=plan.repository,
                    imageScanningConfiguration={"scanOnPush": True},
                    imageTagMutability="IMMUTABLE" if plan.immutable else "MUTABLE",
                )
            except self._client.exceptions.RepositoryAlreadyExistsException:
                return None  # somebody else was quicker, and has set it up

        answer = self._call("ecr:CreateRepository", ask)
        if answer is None:
            found = self._find()
            if found is None:
                raise InputError(
                    f"The repository {plan.repository} exists, but is not shown to this user: it needs "
                    "ecr:DescribeRepositories on it."
                )
            return found
        self._call(
            "ecr:PutLifecyclePolicy",
            lambda: self._client.put_lifecycle_policy(
                repositoryName=plan.repository, lifecyclePolicyText=plan.lifecycle
            ),
        )
        return _read(answer["repository"], created=True)

    def _call(self, action: str, ask: Callable[[], _Answer]) -> _Answer:
        try:
            return ask()
        except (BotoCoreError, ClientError) as error:
            raise from_aws(error, self._plan, action) from None


def _read(told: Any, *, created: bool) -> Repository:
    return Repository(
        uri=told["repositoryUri"],
        created=created,
        scans=bool(told.get("imageScanningConfiguration", {}).get("scanOnPush")),
        immutable=told.get("imageTagMutability") == "IMMUTABLE",
    )
