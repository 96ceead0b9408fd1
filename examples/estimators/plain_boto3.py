"""The request that `bandstand plan` prints, sent with boto3: `python plain_boto3.py JOB`; see README.md.

JOB is a job file of Bandstand, or a request that it printed. Only what is of this machine is changed: the
job's folder becomes a place in the bucket, and image and role are those of your account.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import boto3

HERE = Path(__file__).resolve().parent


def planned(job: Path) -> str:
    """The request as text; `bandstand plan` says on standard error what is wrong with it, or noteworthy."""
    done = subprocess.run(["bandstand", "plan", job], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.returncode)
    return done.stdout


def moved(request: str, folder: Path, place: str, image: str, role: str) -> dict[str, Any]:
    """The request as SageMaker takes it."""
    document: dict[str, Any] = json.loads(request.replace(folder.as_uri(), place))
    definition = document.get("TrainingJobDefinition", document)
    definition["AlgorithmSpecification"]["TrainingImage"] = image
    definition["RoleArn"] = role
    return document


def main() -> None:
    parser = argparse.ArgumentParser(description="Send the request of a job file with boto3.")
    parser.add_argument("job", type=Path, nargs="?", default=HERE.parent / "direct_marketing" / "job.toml")
    for name in ("image", "role", "bucket"):
        given = os.environ.get(name.upper())
        parser.add_argument(f"--{name}", default=given, required=given is None)
    chosen = parser.parse_args()
    folder = chosen.job.resolve().parent
    place = f"s3://{chosen.bucket}/direct-marketing"
    document = moved(planned(chosen.job), folder, place, chosen.image, chosen.role)
    client = boto3.client("sagemaker")
    if "HyperParameterTuningJobConfig" in document:
        client.create_hyper_parameter_tuning_job(**document)
        print(document["HyperParameterTuningJobName"])
    else:
        client.create_training_job(**document)
        print(document["TrainingJobName"])


if __name__ == "__main__":
    main()
