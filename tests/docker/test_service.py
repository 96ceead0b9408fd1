"""Jobs of the service whose hosts are containers: they reach its S3 and its API, and nobody else does so."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.backends.jobs import eventually
from tests.docker.images import IMAGE, docker
from tests.service.served import Server, ended, training_request, until

from bandstand.backends.job_folder import JobFolder

BOTO3 = "bandstand:toolkit"
"""An image that has boto3, with which scripts ask AWS."""

ASKS = """
import os, pathlib, socket, time, urllib.error, urllib.request

url, token = os.environ["AWS_ENDPOINT_URL"], os.environ["AWS_SESSION_TOKEN"]

def ask(method, path, body=b"", token=token, target="", url=url):
    headers = {"X-Amz-Security-Token": token} if token else {}
    if target:
        headers["X-Amz-Target"] = "SageMaker." + target
    elif token:
        scope = "Credential=ASIA/20260101/eu-west-1/s3/aws4_request"
        headers["Authorization"] = f"AWS4-HMAC-SHA256 {scope}, SignedHeaders=host, Signature=0"
    asked = urllib.request.Request(url + path, method=method, data=body or None, headers=headers)
    try:
        with urllib.request.urlopen(asked, timeout=60) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()

host = os.environ["HOSTNAME"]
print("put", ask("PUT", f"/from-hosts/{host}", host.encode())[0])
print("got", ask("GET", f"/from-hosts/{host}"))
print("jobs", b"TrainingJobSummaries" in ask("POST", "/", b"{}", target="ListTrainingJobs")[1])
print("anonymous", ask("GET", f"/from-hosts/{host}", token="")[0])
print("create", b"do not allow" in ask("POST", "/", b"{}", target="CreateTrainingJob")[1])
print("endpoint", url, flush=True)
hold = pathlib.Path("/opt/ml/checkpoints/hold")
while hold.exists():
    time.sleep(0.01)
"""

WITH_BOTO3 = """
import boto3
boto3.client("s3").put_object(Bucket="from-hosts", Key="by boto3", Body=b"x" * (9 << 20))
found = boto3.client("s3").get_object(Bucket="from-hosts", Key="by boto3")["Body"].read()
print("bytes", len(found))
import os
name = os.environ["TRAINING_JOB_NAME"]
told = boto3.client("sagemaker").describe_training_job(TrainingJobName=name)
print("told", told["TrainingJobName"], told["TrainingJobStatus"])
"""

STRANGER = """
import http.client, socket, urllib.parse
there = urllib.parse.urlsplit("{url}")
try:
    with socket.create_connection((there.hostname, there.port), timeout=5) as connection:
        connection.sendall(b"GET / HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n")
        print("answered" if connection.recv(1) else "turned away")
except OSError:
    print("turned away")
"""
"""What a container of another network does."""

ALONE = """
import os
print("found", sorted(name for name in os.environ if name.startswith("AWS_") and "REGION" not in name))
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("place")
    (folder / "code").mkdir()
    for name, text in (("asks.py", ASKS), ("with_boto3.py", WITH_BOTO3), ("alone.py", ALONE)):
        (folder / "code" / name).write_text(text)
    (folder / "data").mkdir()
    (folder / "data" / "a.csv").write_text("1,2\n")
    return folder


@pytest.fixture(scope="module")
def server(place: Path) -> Iterator[Server]:
    running = Server(place / "home", "--hosts", "containers", cwd=place)
    running.plain("s3").create_bucket(
        Bucket="from-hosts", CreateBucketConfiguration={"LocationConstraint": "eu-central-1"}
    )
    yield running
    running.end()


@pytest.fixture(scope="module")
def sagemaker(server: Server) -> Any:
    return server.client()


def asked(
    place: Path, name: str, program: str, image: str = IMAGE, hosts: int = 1, **more: Any
) -> dict[str, Any]:
    request = training_request(place, name, HyperParameters={"sagemaker_program": program}, **more)
    request["AlgorithmSpecification"]["TrainingImage"] = image
    request["ResourceConfig"]["InstanceCount"] = hosts
    return request


def lines(server: Server, name: str, host: str = "algo-1") -> list[str]:
    log = JobFolder(server.home / "jobs" / name).log(host)
    texts = log.read_text().splitlines() if log.exists() else []
    return [line.partition(" ")[2] for line in texts]


def at_the_engine(server: Server, name: str) -> list[str]:
    chosen = ("--quiet", "--filter", f"label=bandstand.folder={server.home / 'jobs' / name}")
    return [*docker("ps", "--all", *chosen).split(), *docker("network", "ls", *chosen).split()]


def listening(url: str) -> bool:
    """Whether anything of this machine listens at an address, by the kernel's own table."""
    address, _, port = url.removeprefix("http://").partition(":")
    near = "".join(f"{int(part):02X}" for part in reversed(address.split(".")))
    wanted = f"{near}:{int(port):04X}"
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()]
    return any(row[1] == wanted and row[3] == "0A" for row in rows)


def test_containers_reach_s3_and_the_api_as_their_job_may(server, sagemaker, place):
    kept = place / "kept"
    kept.mkdir()
    (kept / "hold").touch()
    request = asked(place, "asks", "asks.py", hosts=2, CheckpointConfig={"S3Uri": kept.as_uri()})
    sagemaker.create_training_job(**request)
    until(
        lambda: (
            all(
                any(line.startswith("endpoint ") for line in lines(server, "asks", host))
                for host in ("algo-1", "algo-2")
            )
            or sagemaker.describe_training_job(TrainingJobName="asks")["TrainingJobStatus"] != "InProgress"
        )
    )
    said = lines(server, "asks", "algo-2")
    (url,) = (line.removeprefix("endpoint ") for line in said if line.startswith("endpoint "))
    own, network = docker(
        "network", "inspect", "--format", "{{(index .IPAM.Config 0).Gateway}} {{.Name}}",
        docker("network", "ls", "--quiet", "--filter", "label=bandstand.job=asks"),
    ).split()  # fmt: skip
    assert url.startswith(f"http://{own}:"), network
    assert listening(url)
    elsewhere = docker("run", "--rm", "--entrypoint", "python", IMAGE, "-c", STRANGER.format(url=url))
    assert elsewhere == "turned away"
    (kept / "hold").unlink()
    assert ended(sagemaker, "asks")["TrainingJobStatus"] == "Completed", said
    for host in ("algo-1", "algo-2"):
        said = lines(server, "asks", host)
        for line in ("put 200", f"got (200, b'{host}')", "jobs True", "anonymous 403", "create True"):
            assert line in said
        assert server.plain("s3").get_object(Bucket="from-hosts", Key=host)["Body"].read() == host.encode()
    eventually(lambda: not listening(url), "the end of the relay")
    eventually(lambda: at_the_engine(server, "asks") == [], "the end of the network")


def test_scripts_with_boto3_need_no_setting(server, sagemaker, place):
    sagemaker.create_training_job(**asked(place, "by-boto3", "with_boto3.py", BOTO3))
    answer = ended(sagemaker, "by-boto3")
    assert answer["TrainingJobStatus"] == "Completed", lines(server, "by-boto3")
    said = lines(server, "by-boto3")
    assert f"bytes {9 << 20}" in said
    assert "told by-boto3 InProgress" in said


def test_hosts_that_are_isolated_get_no_address_and_no_credentials(server, sagemaker, place):
    sagemaker.create_training_job(**asked(place, "alone", "alone.py", EnableNetworkIsolation=True))
    assert ended(sagemaker, "alone")["TrainingJobStatus"] == "Completed"
    assert "found []" in lines(server, "alone")


def test_a_relay_ends_with_a_supervisor_that_is_killed(server, sagemaker, place):
    kept = place / "kept-killed"
    kept.mkdir()
    (kept / "hold").touch()
    request = asked(place, "killed", "asks.py", CheckpointConfig={"S3Uri": kept.as_uri()})
    sagemaker.create_training_job(**request)

    def urls() -> list[str]:
        return [
            line.removeprefix("endpoint ") for line in lines(server, "killed") if line.startswith("endpoint ")
        ]

    (url,) = until(urls)
    for process in supervisors(server.home / "jobs" / "killed"):
        os.kill(process, signal.SIGKILL)
    assert ended(sagemaker, "killed")["TrainingJobStatus"] == "Failed"
    eventually(lambda: not listening(url), "the end of the relay")
    eventually(lambda: at_the_engine(server, "killed") == [], "the end of the containers and the network")


def test_a_retried_job_gets_a_way_of_its_own_again(server, sagemaker, place):
    kept = place / "kept-retried"
    kept.mkdir()
    (kept / "hold").touch()
    more = {"CheckpointConfig": {"S3Uri": kept.as_uri()}, "RetryStrategy": {"MaximumRetryAttempts": 1}}
    sagemaker.create_training_job(**asked(place, "retried", "asks.py", **more))
    until(lambda: any(line.startswith("endpoint ") for line in lines(server, "retried")))
    for process in supervisors(server.home / "jobs" / "retried"):
        os.kill(process, signal.SIGKILL)
    until(lambda: sum(line.startswith("endpoint ") for line in lines(server, "retried")) == 2)
    (kept / "hold").unlink()
    answer = ended(sagemaker, "retried")
    assert answer["TrainingJobStatus"] == "Completed", json.dumps(answer, default=str)
    assert lines(server, "retried").count("put 200") == 2


def supervisors(folder: Path) -> list[int]:
    """The processes that lead a session and have a job's folder among their words."""
    found = []
    for path in Path("/proc").iterdir():
        if path.name.isdecimal():
            try:
                words = (path / "cmdline").read_bytes().split(b"\0")
                if os.fsencode(folder) in words and os.getsid(int(path.name)) == int(path.name):
                    found.append(int(path.name))
            except (FileNotFoundError, ProcessLookupError):
                continue
    return found
