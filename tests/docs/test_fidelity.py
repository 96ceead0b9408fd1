"""The page on fidelity names what is refused and what has no effect as the code has it, and its limits."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

from bandstand.backends.supervised import SupervisedBackend
from bandstand.backends.task import MOST_HOSTS
from bandstand.request.abilities import CONTAINERS
from bandstand.request.local_effects import REFUSED, WITHOUT_EFFECT
from bandstand.service.accepting import MOST_RUNNING
from bandstand.service.context import ACCOUNT
from bandstand.service.credentials import MARGIN_SECONDS
from bandstand.service.sagemaker import OPERATIONS

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "explanation" / "fidelity.md").read_text("utf-8")
LOCATIONS = 613
"""The rule of which the service takes `s3://` out by an S3 of its own."""


def section(title: str) -> str:
    return re.split(r"\n##+ ", PAGE.split(f"\n### {title}\n")[1])[0]


def members(text: str) -> set[str]:
    return set(re.findall(r"`([A-Z][A-Za-z0-9]+)`", text))


def test_what_the_page_calls_refused_is_what_the_rules_refuse() -> None:
    refused = {path[-1] for path, refusal in REFUSED.items() if refusal.number != LOCATIONS}
    assert members(section("What is refused")) == refused


def test_what_the_page_calls_real_with_containers_is_what_they_lift() -> None:
    (line,) = (line for line in section("What is refused").splitlines() if "--hosts containers" in line)
    lifted = {path[-1] for path, refusal in REFUSED.items() if refusal.number in CONTAINERS.lifted}
    assert members(line) == lifted


def test_what_the_page_tells_the_effect_of_is_not_accepted_without_one() -> None:
    idle = {path[-1] for path in WITHOUT_EFFECT}
    assert not {"EnableManagedSpotTraining", "RetryStrategy", "MaxWaitTimeInSeconds"} & idle
    assert {"EnableManagedSpotTraining", "RetryStrategy", "MaxWaitTimeInSeconds"} <= members(PAGE)


def test_the_operations_that_the_page_names_are_answered() -> None:
    named = set(re.findall(r"`((?:Create|Describe|List|Stop|Delete|Update)[A-Z]\w+)`", PAGE))
    assert named <= set(OPERATIONS)


def test_the_limits_of_the_page_are_those_of_the_code() -> None:
    assert f"{MOST_HOSTS} hosts for a job, {MOST_RUNNING} jobs at a time" in PAGE
    assert f"one account, {ACCOUNT}" in PAGE
    lease = inspect.signature(SupervisedBackend).parameters["lease_seconds"].default
    assert (MARGIN_SECONDS, lease) == (3600, 10)
    assert "expire one hour after" in PAGE
    assert "go on for ten seconds" in PAGE
