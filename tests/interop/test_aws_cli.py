"""The AWS CLI, version 1, works with the local service through AWS_ENDPOINT_URL alone."""

from __future__ import annotations

import json
import os
import subprocess
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.service.served import OVER, SCRIPT, Server, training_request, until

AWS = Path(os.environ.get("BANDSTAND_SDKS", Path.home() / ".cache" / "bandstand")) / "awscli" / "bin" / "aws"
GROUP = "/aws/sagemaker/TrainingJobs"

Aws = Callable[..., Any]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("cli")
    running = Server(folder / "home", "--port", "0", cwd=folder)
    yield running
    running.end()


@pytest.fixture
def aws(server: Server, tmp_path: Path) -> Aws:
    """Runs the CLI in an empty folder and with an empty home of its own."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    environment |= {
        "HOME": str(tmp_path),
        "AWS_ENDPOINT_URL": server.url,
        "AWS_ACCESS_KEY_ID": "any",
        "AWS_SECRET_ACCESS_KEY": "any",
        "AWS_DEFAULT_REGION": "eu-west-1",
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_PAGER": "",
    }

    def run(*words: str, fails: bool = False) -> Any:
        done = subprocess.run(
            [AWS, *words], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120
        )
        assert (done.returncode != 0) == fails, done.stdout + done.stderr
        if fails:
            return done.stderr
        return json.loads(done.stdout) if done.stdout.startswith("{") else done.stdout

    return run


def test_files_go_up_come_down_and_are_kept_the_same(aws: Aws, server: Server, tmp_path: Path) -> None:
    data = tmp_path / "data"
    (data / "a b").mkdir(parents=True)
    (data / "large.bin").write_bytes(os.urandom(20_000_003))
    (data / "a b" / "ä.txt").write_text("hello")
    aws("s3", "mb", "s3://cli-data")
    aws("s3", "cp", "--recursive", "--no-progress", "data", "s3://cli-data/up")
    assert (server.home / "s3/cli-data/up/large.bin").read_bytes() == (data / "large.bin").read_bytes()
    assert aws("s3", "sync", "--no-progress", "data", "s3://cli-data/up") == ""
    (data / "a b" / "ä.txt").write_text("other")
    assert "ä.txt" in aws("s3", "sync", "--no-progress", "data", "s3://cli-data/up")
    aws("s3", "mv", "--no-progress", "s3://cli-data/up/large.bin", "s3://cli-data/moved/large.bin")
    aws("s3", "sync", "--no-progress", "s3://cli-data", "back")
    assert (tmp_path / "back/moved/large.bin").read_bytes() == (data / "large.bin").read_bytes()
    assert (tmp_path / "back/up/a b/ä.txt").read_text() == "other"
    listed = aws("s3", "ls", "--recursive", "s3://cli-data").splitlines()
    assert [line.split(maxsplit=3)[2:] for line in listed] == [
        ["20000003", "moved/large.bin"],
        ["5", "up/a b/ä.txt"],
    ]
    address = aws("s3", "presign", "s3://cli-data/up/a b/ä.txt").strip()
    with urllib.request.urlopen(address) as answer:  # noqa: S310 - the service's own address
        assert answer.read() == b"other"
    assert "BucketNotEmpty" in aws("s3", "rb", "s3://cli-data", fails=True)
    aws("s3", "rb", "--force", "s3://cli-data")
    assert "NoSuchBucket" in aws("s3", "ls", "s3://cli-data", fails=True)


def test_a_job_is_created_read_and_measured(aws: Aws, server: Server, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SCRIPT)
    (tmp_path / "rows.csv").write_text("1,2\n")
    aws("s3", "mb", "s3://cli-jobs")
    aws("s3", "cp", "train.py", "s3://cli-jobs/code/train.py")
    aws("s3", "cp", "rows.csv", "s3://cli-jobs/data/rows.csv")
    request = training_request(tmp_path, "cli-1", OutputDataConfig={"S3OutputPath": "s3://cli-jobs/out"})
    request["HyperParameters"]["sagemaker_submit_directory"] = "s3://cli-jobs/code"
    request["InputDataConfig"][0]["DataSource"]["S3DataSource"]["S3Uri"] = "s3://cli-jobs/data"
    (tmp_path / "job.json").write_text(json.dumps(request))
    aws("sagemaker", "create-training-job", "--cli-input-json", "file://job.json")

    def over() -> str | None:
        job = aws("sagemaker", "describe-training-job", "--training-job-name", "cli-1")
        return str(job["TrainingJobStatus"]) if job["TrainingJobStatus"] in OVER else None

    assert until(over, "the end of cli-1") == "Completed"
    where = ("--log-group-name", GROUP)
    (stream,) = aws("logs", "describe-log-streams", *where, "--log-stream-name-prefix", "cli-1/")[
        "logStreams"
    ]
    events = aws("logs", "get-log-events", *where, "--log-stream-name", stream["logStreamName"])["events"]
    assert "iteration=3 score=3.0" in [event["message"] for event in events]
    found = aws("logs", "filter-log-events", *where, "--filter-pattern", "iteration=2")["events"]
    assert [event["message"] for event in found] == ["iteration=2 score=2.0"]
    metrics = aws("cloudwatch", "list-metrics", "--namespace", GROUP)["Metrics"]
    assert [metric["MetricName"] for metric in metrics] == ["score"]
    words = (
        "--namespace",
        GROUP,
        "--metric-name",
        "score",
        "--period",
        "3600",
        "--statistics",
        "SampleCount",
    )
    times = ("--start-time", "2020-01-01T00:00:00Z", "--end-time", "2020-01-02T00:00:00Z")
    named = ("--dimensions", "Name=TrainingJobName,Value=cli-1")
    assert aws("cloudwatch", "get-metric-statistics", *words, *times, *named)["Datapoints"] == []
    assert aws("sts", "get-caller-identity")["Account"] == "123456789012"
    assert aws("iam", "get-role", "--role-name", "Training")["Role"]["RoleName"] == "Training"
