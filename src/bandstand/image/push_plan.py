"""What a push will do, known before anything is done."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from bandstand.errors import InputError, PlatformError
from bandstand.image.recipe import PLATFORM

_REPOSITORY = re.compile(r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*")
"""ECR's own pattern (RepositoryName in its API)."""
_TAG = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}")
_VERSION = "org.opencontainers.image.version"
_REVISION = "org.opencontainers.image.revision"
_SHORT = 12


@dataclass(frozen=True)
class PushPlan:
    """One push.

    Args:
        image: The local image's name.
        repository: The repository's name in ECR.
        tag: The tag there.
        region: The region.
        keep: How many images a new repository keeps before it lets the oldest expire.
        immutable: Whether a new repository refuses to move a tag.
        size: Of the local image, in bytes.
    """

    image: str
    repository: str
    tag: str
    region: str
    keep: int
    immutable: bool
    size: int

    @property
    def lifecycle(self) -> str:
        """The lifecycle policy of a new repository, as ECR takes it."""
        untagged = {
            "rulePriority": 1,
            "description": "untagged images expire after 14 days",
            "selection": {
                "tagStatus": "untagged",
                "countType": "sinceImagePushed",
                "countUnit": "days",
                "countNumber": 14,
            },
            "action": {"type": "expire"},
        }
        newest = {
            "rulePriority": 2,
            "description": f"the newest {self.keep} images are kept",
            "selection": {"tagStatus": "any", "countType": "imageCountMoreThan", "countNumber": self.keep},
            "action": {"type": "expire"},
        }
        return json.dumps({"rules": [untagged, newest]})

    @property
    def steps(self) -> tuple[str, ...]:
        """What will be done, in order, for people."""
        tags = "immutable tags" if self.immutable else "tags that may move"
        return (
            f"look for the repository {self.repository} in {self.region}",
            (
                f"if there is none: create it, with a scan of each push, {tags} and a lifecycle policy that "
                f"keeps the newest {self.keep} images"
            ),
            "ask for a login that is good for 12 hours; it is kept for this push only, and never printed",
            f"push {self.image} as {self.repository}:{self.tag}",
            "print the URI with the digest, which an estimator or a job file takes",
        )


def make_push_plan(
    facts: dict[str, Any],
    image: str,
    *,
    repository: str | None,
    tag: str | None,
    region: str,
    keep: int,
    immutable: bool,
) -> PushPlan:
    """Decide what is pushed where.

    Args:
        facts: The local image as the engine describes it.
        image: Its name as it was given.
        repository: The repository's name; None for the image's own.
        tag: The tag; None for the image's own, or for its version and revision where that is `latest`.
        region: The region.
        keep: How many images a new repository keeps.
        immutable: Whether a new repository refuses to move a tag.

    Raises:
        InputError: If a name is none that ECR takes; with all of them.
        PlatformError: If SageMaker could not run the image.
    """
    own_name, own_tag = split_reference(image)
    repository = repository or own_name
    tag = tag or (_told(facts) if own_tag == "latest" else own_tag) or own_tag
    problems = []
    if not (2 <= len(repository) <= 256 and _REPOSITORY.fullmatch(repository)):
        problems.append(
            f"{repository!r} is no name of a repository; ECR takes 2 to 256 lower-case letters, digits and "
            ". _ - / between them. Name another one with --repository."
        )
    if not _TAG.fullmatch(tag):
        problems.append(f"{tag!r} is no tag; expected up to 128 letters, digits and . _ - (--tag).")
    if problems:
        raise InputError("\n".join(problems))
    found = f"{facts['Os']}/{facts['Architecture']}"
    if found != PLATFORM:
        raise PlatformError(
            f"The image {image} is for {found}; SageMaker's training instances run {PLATFORM}. Build it "
            f"again with --platform {PLATFORM}."
        )
    return PushPlan(image, repository, tag, region, keep, immutable, facts["Size"])


def split_reference(image: str) -> tuple[str, str]:
    """The repository and the tag of a local image's name, without a registry in front."""
    name, _, _ = image.partition("@")
    head, slash, tail = name.rpartition("/")
    tail, _, tag = tail.partition(":")
    first, more, rest = head.partition("/")
    if slash and (":" in first or "." in first or first == "localhost"):
        head = rest if more else ""
    return (f"{head}/{tail}" if head else tail), tag or "latest"


def _told(facts: dict[str, Any]) -> str | None:
    """The tag that the image's labels tell: version and revision."""
    labels = facts["Config"].get("Labels") or {}
    revision = labels.get(_REVISION, "")
    digits, dash, rest = revision.partition("-")
    parts = [labels.get(_VERSION, ""), digits[:_SHORT] + dash + rest]
    return "-".join(part for part in parts if part and part != "unknown") or None
