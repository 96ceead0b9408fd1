"""A region that the tests have to themselves: `bandstand local` stands in for AWS, over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.service.served import Server

from bandstand.backends.sagemaker.region import Region, region_of
from bandstand.request.plan import TrainingPlan

NAME = "eu-central-1"
ACCOUNT = "123456789012"
ROLE = f"arn:aws:iam::{ACCOUNT}:role/Training"


def variables(url: str) -> dict[str, str]:
    """The variables with which a client finds the region."""
    return {
        "AWS_ENDPOINT_URL": url,
        "AWS_REGION": NAME,
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
    }


@contextmanager
def served(folder: Path, *words: str) -> Iterator[Server]:
    """Run a service, in whose account every role is there."""
    server = Server(folder / "region", *words, "--allow", "/", cwd=folder)
    try:
        yield server
    finally:
        server.end()


def enter(patch: pytest.MonkeyPatch, url: str) -> Region:
    """Make a region the one that this process finds."""
    for name, value in variables(url).items():
        patch.setenv(name, value)
    return region_of(NAME, url)


def document_of(plan: TrainingPlan) -> dict[str, Any]:
    """The request that a plan made by hand stands for; addresses as they are."""
    document: dict[str, Any] = {
        "TrainingJobName": plan.name,
        "HyperParameters": dict(plan.hyperparameters),
        "AlgorithmSpecification": {
            "TrainingImage": plan.image,
            "TrainingInputMode": "File",
            "MetricDefinitions": [{"Name": name, "Regex": regex} for name, regex in plan.metrics],
        },
        "RoleArn": ROLE,
        "InputDataConfig": [
            {
                "ChannelName": channel.name,
                "DataSource": {
                    "S3DataSource": {
                        "S3DataType": "S3Prefix",
                        "S3Uri": channel.uri,
                        "S3DataDistributionType": channel.distribution,
                    }
                },
                "InputMode": channel.input_mode,
                **({"ContentType": channel.content_type} if channel.content_type else {}),
            }
            for channel in plan.channels
        ],
        "OutputDataConfig": {"S3OutputPath": plan.output},
        "ResourceConfig": {
            "InstanceType": plan.instance_type,
            "InstanceCount": plan.hosts,
            "VolumeSizeInGB": plan.volume_gb,
        },
        "StoppingCondition": {"MaxRuntimeInSeconds": plan.max_runtime or 3600},
        "Environment": dict(plan.environment),
    }
    if not plan.channels:
        del document["InputDataConfig"]
    if plan.checkpoints is not None:
        document["CheckpointConfig"] = {"S3Uri": plan.checkpoints}
    return document
